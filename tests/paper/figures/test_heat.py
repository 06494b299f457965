import numpy as np
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from graphsct.paper.figures.heat import apart_patch, draw_heat, runs


def test_runs():
    assert runs(np.array([True, True, False, True])) == [(0, 2), (3, 4)]
    assert runs(np.zeros(3, dtype=bool)) == []
    assert runs(np.ones(3, dtype=bool)) == [(0, 3)]


def test_cells_apart_are_hatched_and_not_coloured():
    axes = Figure().subplots()
    values = np.array([[0.1, 0.2, 0.3], [1.0, 1.0, 0.6]])
    apart = np.array([[False, False, False], [True, True, False]])
    draw_heat(axes, values, apart, Normalize(0, 1))
    assert np.ma.getmaskarray(axes.images[0].get_array()).tolist() == apart.tolist()
    boxes = [path.get_extents() for part in axes.collections for path in part.get_paths()]
    assert [box.extents.tolist() for box in boxes] == [[-0.5, 0.5, 1.5, 1.5]]
    hatches = {part.get_hatch() for part in axes.collections}
    assert hatches == {apart_patch("dead").get_hatch()}
