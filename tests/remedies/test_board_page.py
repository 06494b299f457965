import json
import re
from html import unescape

import pytest
from board import board_cell
from markupsafe import escape

from graphsct.remedies.board_page import page, rules, write_leaderboard

CELLS = [
    board_cell(name, [0.7 + 0.02 * depth, 0.72, 0.7 + 0.01 * place], depth)
    for place, name in enumerate(("none", "residual", "gcnii", "pair_norm", "drop_edge"))
    for depth in (2, 4, 8)
]
CELLS.append(board_cell("dense", [], 2, chosen=None, failure="the <weights> diverged"))


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    folder = tmp_path_factory.mktemp("board")
    return write_leaderboard(CELLS, folder / "page.html")


def test_values_are_escaped_and_nothing_is_fetched(path):
    text = path.read_text(encoding="utf-8")
    assert "the &lt;weights&gt; diverged" in text
    assert "graphsct none &lt;&amp;&gt;" in text
    without = re.sub(r"<script>.*?</script>", "", text, flags=re.S)
    addresses = re.findall(r'\b(?:src|href)="([^"]*)"', without)
    names = set(re.findall(r'\bid="([^"]+)"', text))
    assert addresses
    assert all(address[1:] in names for address in addresses)


def test_cells_that_were_not_run_say_so():
    text = page(CELLS)
    assert '<span class="missing">not run</span>' in text
    assert "diverged</span>" in text


def test_findings_come_first_and_rules_are_printed():
    text = page(CELLS)
    sections = re.findall(r'<section id="(\w+)"', text)
    assert sections[:2] == ["findings", "best"]
    assert set(sections) >= {"published", "rules", "depth", "scores", "cost", "cells"}
    assert "What survives depth, and at what cost?" in text
    assert all(escape(rule) in text for rule in rules(CELLS))


def test_a_cell_is_shown_as_it_is_stored():
    shown = re.findall(r'<pre tabindex="0">(.*?)</pre>', page(CELLS[:1]), flags=re.S)
    assert [json.loads(unescape(text)) for text in shown] == [CELLS[0].to_dict()]


@pytest.mark.parametrize(("width", "dark"), [(1440, False), (390, True)])
def test_a_browser_shows_all_of_it(path, browser, width, dark):
    browser.open(path, width=width, dark=dark)
    assert browser.messages() == []
    assert browser.fetched() == []
    assert browser.overflow() <= 0
    assert browser.too_pale() == []
