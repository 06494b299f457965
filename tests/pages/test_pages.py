import sys

import pytest
from jinja2 import UndefinedError

from graphsct.errors import MissingExtraError
from graphsct.pages import _environment as environment
from graphsct.pages import render

FIGURE = {
    "data": [{"type": "scatter", "x": [1, 2], "y": [3, 1], "name": "</script><b>bold</b>"}],
    "layout": {"height": 300, "title": {"text": "one"}},
}


@pytest.fixture
def page(tmp_path):
    source = """
    {% extends "base.html" %}{% from "plot.html" import plot %}
    {% block main %}{{ plot("first", figure, label) }}{% endblock %}
    """
    template = environment().from_string(source)
    path = tmp_path / "page.html"
    text = template.render(title="A <page>", plots=True, figure=FIGURE, label='a "figure"')
    path.write_text(text, encoding="utf-8")
    return path


def test_values_are_escaped(page):
    text = page.read_text(encoding="utf-8")
    assert "<title>A &lt;page&gt;</title>" in text
    assert "<b>bold" not in text
    assert 'aria-label="a &#34;figure&#34;"' in text


def test_a_value_that_is_not_given_is_an_error():
    with pytest.raises(UndefinedError, match="title"):
        render("base.html")


def test_a_page_without_plots_needs_no_plotly(monkeypatch):
    monkeypatch.setitem(sys.modules, "plotly", None)
    assert len(render("base.html", title="small")) < 20_000
    with pytest.raises(MissingExtraError, match=r"graphsct\[report\]"):
        render("base.html", title="large", plots=True)


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("dark", [False, True])
def test_a_browser_draws_it_and_fetches_nothing(page, browser, width, dark):
    browser.open(page, width=width, dark=dark)
    assert browser.messages() == []
    assert browser.fetched() == []
    assert browser.overflow() <= 0
    assert browser.too_pale() == []
    assert browser.run("document.querySelectorAll('#first .scatterlayer path').length") > 0


def test_plots_follow_the_theme(page, browser):
    title = "getComputedStyle(document.querySelector('#first .gtitle')).fill"
    browser.open(page, dark=False)
    assert browser.run(title) == "rgb(28, 33, 38)"
    browser.set_dark(True)
    browser.until(f"{title} == 'rgb(232, 230, 225)'")
