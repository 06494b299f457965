import re
from dataclasses import replace
from itertools import pairwise

import pytest

from graphsct.paper.cell import Cell
from graphsct.paper.report.page import page


@pytest.fixture(scope="module")
def path(tables, cells, drawings, tmp_path_factory):
    missing = replace(drawings[3], svg=None, why="Citeseer is <not> here")
    text = page(tables, list(Cell.read_all(cells).values()), [*drawings[:3], missing])
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def text(path):
    return path.read_text(encoding="utf-8")


def test_names_are_escaped(text):
    assert "graphsct reproduce table1 --data cora &lt;&amp;&gt;" in text
    assert "Citeseer is &lt;not&gt; here" in text
    assert "<not>" not in text


def test_nothing_is_fetched_from_elsewhere(text):
    without_plotly = re.sub(r"<script>.*?</script>", "", text, flags=re.S)
    assert len(without_plotly) < len(text) / 2
    addresses = re.findall(r'\b(?:src|href|srcset|action)="([^"]*)"', without_plotly)
    assert len(addresses) > 10
    assert all(address.startswith(("#", "data:")) for address in addresses)
    assert "default-src 'none'" in text


def test_every_link_leads_somewhere(text):
    names = set(re.findall(r'\bid="([^"]+)"', text))
    links = set(re.findall(r'href="#([^"]+)"', text))
    assert "cell-cora-gcn-pooled-16" in links
    assert links <= names


def test_verdicts_are_words_with_signs(text):
    for kind, sign, word in (
        ("better", "▲", "helps"),
        ("worse", "▼", "hurts"),
        ("level", "~", "unclear"),
    ):
        span = f'<span class="{kind}"><span aria-hidden="true">{sign}</span> {word}</span>'
        assert span in text
    assert '<span class="missing">not run yet</span>' in text


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("dark", [False, True])
def test_a_browser_shows_all_of_it(path, browser, width, dark):
    browser.open(path, width=width, dark=dark)
    assert browser.messages() == []
    assert browser.fetched() == []
    assert browser.overflow() <= 0
    assert browser.run("document.querySelectorAll('#depth .scatterlayer .trace').length") >= 30
    assert browser.run("document.querySelectorAll('#gains .scatterlayer .point').length") == 8
    assert browser.run("document.querySelectorAll('#table-depth tbody tr').length") >= 120
    assert browser.run("document.querySelectorAll('#table-term tbody tr').length") == 2 + 6 + 2
    drawn = "[...document.images].every((image) => image.complete && image.naturalWidth > 0)"
    assert browser.run("document.images.length") == 3
    assert browser.run(drawn)
    browser.run("document.querySelectorAll('details').forEach((part) => part.open = true)")
    assert browser.overflow() <= 0
    assert browser.too_pale() == []


def test_a_number_leads_to_its_settings(path, browser):
    browser.open(path)
    link = "document.querySelector('#table-depth a[href=\"#cell-cora-gcn-pooled-16\"]')"
    target = "document.getElementById('cell-cora-gcn-pooled-16')"
    assert not browser.run(f"{target}.checkVisibility()")
    browser.run(f"{link}.click()")
    browser.until(f"{target}.checkVisibility()")
    assert browser.run(f"{target}.querySelectorAll('tbody tr').length") == 20


def test_everything_can_be_reached_and_named(path, browser):
    browser.open(path)
    unnamed = (
        "[...document.querySelectorAll('img, [role=img], [role=region]')].filter((part) => "
        "!(part.alt || part.getAttribute('aria-label'))).length"
    )
    assert browser.run(unnamed) == 0
    unreachable = (
        "[...document.querySelectorAll('.scroll')].filter((part) => part.tabIndex < 0).length"
    )
    assert browser.run(unreachable) == 0
    levels = browser.run(
        "[...document.querySelectorAll('h1, h2, h3, h4')].map((part) => +part.tagName[1])"
    )
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
