import re

import pytest
from board import board_cell

from graphsct.remedies.board_page import depth_plots, page, write_leaderboard

CELLS = [
    board_cell(name, [0.7 + 0.02 * depth, 0.72, 0.7 + 0.01 * place], depth)
    for place, name in enumerate(("none", "residual", "gcnii", "pair_norm", "drop_edge"))
    for depth in (2, 4, 8)
]
CELLS.append(board_cell("dense", [], 2, chosen=None, failure="the <weights> diverged"))


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    folder = tmp_path_factory.mktemp("board")
    for cell in CELLS:
        cell.write(folder / "cells")
    return write_leaderboard(folder / "cells", folder / "page.html")


def test_there_is_a_figure_for_each_family_that_was_run():
    drawn = depth_plots(CELLS)
    assert [len(each.figure["data"]) for each in drawn] == [4, 6, 4]
    names = [trace["name"] for trace in drawn[1].figure["data"] if "name" in trace]
    assert names == ["none", "residual connections", "GCNII"]
    assert len({str(each.figure["layout"]["yaxis"]) for each in drawn}) == 1  # to be compared
    band, line = drawn[0].figure["data"][2:]
    assert line["x"] == ["2", "4", "8"]
    assert band["x"] == ["2", "4", "8", "8", "4", "2"]
    middle = [(high + low) / 2 for high, low in zip(band["y"], band["y"][::-1], strict=True)][:3]
    assert middle == pytest.approx(line["y"])


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


@pytest.mark.parametrize(("width", "dark"), [(1440, False), (390, True)])
def test_a_browser_shows_all_of_it(path, browser, width, dark):
    browser.open(path, width=width, dark=dark)
    assert browser.messages() == []
