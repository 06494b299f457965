import json
from dataclasses import replace

import pytest
from torch_geometric.nn import GCN

from graphsct import diagnose
from graphsct.diagnosis.page.maps import heat_maps

pytestmark = pytest.mark.usefixtures("seed")


def test_a_cell_is_the_value_of_its_layer_and_dimension(dead):
    smoothness, sizes = (drawn.figure["data"][0] for drawn in heat_maps(dead))
    for column, layer in enumerate(dead.layers[:2]):
        for dimension in range(16):
            if dimension not in layer.dead:
                assert smoothness["z"][dimension][column] == layer.smoothness[dimension]
                assert 10 ** sizes["z"][dimension][column] == pytest.approx(layer.sizes[dimension])
                assert sizes["text"][dimension][column] == f"{layer.sizes[dimension]:.3g}"
    assert smoothness["customdata"][0][1] == "convs.1"


def test_dead_dimensions_are_bars_and_no_cells(dead):
    for drawn in heat_maps(dead):
        shades, bars = drawn.figure["data"]
        assert all(row[3] is None for row in shades["z"])
        assert bars["x"] == [3, 4, 5, 6]
        assert bars["base"] == [-0.5] * 4
        assert bars["y"] == [16] * 4
        assert bars["customdata"][0] == ["convs.2", "dimensions 0 to 15"]
        assert bars["marker"]["pattern"]["shape"]
        assert "64 of 96 are dead" in drawn.label
        json.dumps(drawn.figure, allow_nan=False)


def test_dead_dimensions_with_live_ones_between(dead):
    layer = replace(dead.layers[0], dead=(0, 3, 4))
    bars = heat_maps(replace(dead, layers=(layer,)))[0].figure["data"][1]
    assert list(zip(bars["base"], bars["y"], strict=True)) == [(-0.5, 1), (2.5, 2)]
    assert [says for _, says in bars["customdata"]] == ["dimension 0", "dimensions 3 to 4"]


def test_layers_of_other_width_and_nothing_dead(data):
    for drawn in heat_maps(diagnose(GCN(16, 8, 2, 3), data)):
        (shades,) = drawn.figure["data"]
        assert [row[1] is None for row in shades["z"]] == [False] * 3 + [True] * 5
        assert not drawn.figure["layout"]["showlegend"]


def test_sizes_that_are_all_alike_still_have_a_scale(dead):
    layer = replace(dead.layers[0], sizes=(1.0,) * 16)
    (shades,) = heat_maps(replace(dead, layers=(layer,)))[1].figure["data"]
    assert (shades["zmin"], shades["zmax"]) == (0, 1)
    nothing = replace(layer, dead=tuple(range(16)))
    shades, _ = heat_maps(replace(dead, layers=(nothing,)))[1].figure["data"]
    assert (shades["zmin"], shades["zmax"]) == (0, 1)
