import csv

import faulty
import numpy as np
import pytest
from torch_geometric.nn import GCN

from graphsct import diagnose
from graphsct.diagnosis.figures import draw_curves, draw_heat_map, write_figures
from graphsct.plotting.style import styled

pytestmark = pytest.mark.usefixtures("seed")


@pytest.fixture(scope="module")
def found(data):
    return diagnose(faulty.dead(), data)


def test_the_heat_map_hatches_dead_dimensions_instead_of_colouring_them(found):
    with styled():
        canvas = draw_heat_map(found)
    axes = canvas.axes[0]
    values = axes.images[0].get_array()
    assert np.ma.getmaskarray(values).sum() == 4 * 16
    assert values[0].tolist() == pytest.approx(found.layers[0].smoothness)
    assert {part.get_hatch() for part in axes.collections} == {"////"}
    assert [text.get_text() for text in canvas.legends[0].texts] == ["dead: zero at every node"]


def test_layers_of_other_width_and_nothing_dead(data):
    with styled():
        canvas = draw_heat_map(diagnose(GCN(16, 8, 2, 3), data))
    values = canvas.axes[0].images[0].get_array()
    assert np.ma.getmaskarray(values)[1].tolist() == [False] * 3 + [True] * 5
    assert not canvas.legends


def test_curves_shade_what_is_not_healthy(found):
    with styled():
        panels = draw_curves(found).axes
    assert len(panels) == 4
    for axes in panels:
        assert len(axes.patches) == 6
    smooth = panels[0].lines[0].get_ydata()
    assert smooth[0] == pytest.approx(found.layers[0].quartiles[1])
    assert np.isnan(smooth[3])


def test_files(found, tmp_path):
    paths = write_figures(found, tmp_path)
    names = [f"{name}.{end}" for name in ("smoothness", "layers") for end in ("png", "svg", "csv")]
    assert [path.name for path in paths] == names
    assert all(path.stat().st_size > 1000 for path in paths[:2])
    with paths[2].open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 6 * 16
    assert sum(row["dead"] == "True" for row in rows) == 4 * 16
    with paths[5].open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["state"] for row in rows] == list(found.states)
    assert float(rows[0]["reach_position"]) == found.layers[0].reach.position
