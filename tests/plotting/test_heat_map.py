import json

import numpy as np
import pytest
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from graphsct.plotting.heat_map import HeatMap, draw_grid, hatched_patch
from graphsct.plotting.style import styled

HEAT = HeatMap.from_rows([[0.1, 0.2, 0.3], [1.0, 1.0]], [[], [0, 1]])


def traces(heat):
    return heat.traces(["a", "<b>"], "dead", "%{z}", limits=(0, 1), bar={"title": "s"}, text=str)


@pytest.mark.parametrize(
    ("marks", "spans"),
    [([0, 1, 3], [(0, 2), (3, 4)]), ([], []), ([0, 1, 2, 3], [(0, 4)])],
)
def test_hatched_cells_that_touch_are_one_span(marks, spans):
    heat = HeatMap.from_rows([[0.5] * 4, [0.5] * 4], [[], marks])
    assert list(heat.spans()) == [(1, *span) for span in spans]


def test_hatched_cells_are_not_coloured():
    axes = Figure().subplots()
    HEAT.draw(axes, Normalize(0, 1))
    mask = np.ma.getmaskarray(axes.images[0].get_array())
    assert mask.tolist() == [[False] * 3, [True] * 3]  # the last cell is not there at all
    boxes = [path.get_extents() for part in axes.collections for path in part.get_paths()]
    assert [box.extents.tolist() for box in boxes] == [[-0.5, 0.5, 1.5, 1.5]]
    hatches = {part.get_hatch() for part in axes.collections}
    assert hatches == {hatched_patch("dead").get_hatch()}


def test_plotly_hatches_the_same_cells():
    heat, bars = traces(HEAT)
    assert heat["z"] == [[0.1, None], [0.2, None], [0.3, None]]
    assert heat["text"] == [["0.1", ""], ["0.2", ""], ["0.3", ""]]
    assert (bars["x"], bars["base"], bars["y"]) == ([2], [-0.5], [2])
    assert bars["customdata"] == [["&lt;b&gt;", "dimensions 0 to 1"]]
    json.dumps([heat, bars], allow_nan=False)


def test_without_hatched_cells_plotly_gets_no_bars():
    assert len(traces(HeatMap.from_rows([[0.5], [0.5]], [[], []]))) == 1


def test_a_grid_has_two_rows_and_one_colour_bar():
    with styled():
        canvas, grid = draw_grid([HEAT] * 4, list("abcd"), Normalize(0, 1), size=(6, 6), label="s")
    assert [[axes.get_title() for axes in row] for row in grid] == [["a", "b"], ["c", "d"]]
    assert len(canvas.axes) == 5
    assert canvas.axes[-1].get_xlabel() == "s"
