import json
from dataclasses import replace

import faulty
import pytest
from torch_geometric.nn import GCN

from graphsct import diagnose, fit
from graphsct.diagnosis.card import GraphCard
from graphsct.diagnosis.page.counts import card_view
from graphsct.diagnosis.page.curves import curves
from graphsct.diagnosis.page.history import history
from graphsct.diagnosis.page.maps import heat_maps
from graphsct.diagnosis.tables import middle_reach
from graphsct.training import ModelConfig, TrainConfig

pytestmark = pytest.mark.usefixtures("seed")


@pytest.fixture(scope="module")
def dead(data):
    return diagnose(faulty.dead(), data)


@pytest.fixture(scope="module")
def smooth(data):
    return diagnose(faulty.over_smoothed(30), data)


def named(drawn, title):
    return next(one for one in drawn if one.title.startswith(title)).figure


def line(figure, name):
    return next(trace for trace in figure["data"] if trace["name"] == name)


def shaded(figure):
    return [shape["x0"] + 0.5 for shape in figure["layout"]["shapes"] if shape["type"] == "rect"]


# --- heat maps ---


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


# --- curves ---


def test_curves_are_the_measures(smooth):
    drawn = curves(smooth)
    for title, name, values in (
        ("Normalized", "median s, quartiles", [layer.quartiles[1] for layer in smooth.layers]),
        ("Effective", "effective rank", [layer.effective_rank for layer in smooth.layers]),
        ("Effective", "of what tells nodes apart", [x.contrast_rank for x in smooth.layers]),
        ("Distance", "distance", [layer.distance for layer in smooth.layers]),
        ("Distance", "over the norm", [layer.relative_distance for layer in smooth.layers]),
        ("Distance", "contrast", [layer.contrast for layer in smooth.layers]),
        ("Dirichlet", "plain", [layer.dirichlet_energy for layer in smooth.layers]),
        ("Dirichlet", "normalized", [x.normalized_dirichlet_energy for x in smooth.layers]),
        ("Feature", "norm", [layer.norm for layer in smooth.layers]),
        ("Feature", "of an entry", [layer.size for layer in smooth.layers]),
        ("Gradient", "gradient", [layer.gradient_norm for layer in smooth.layers]),
    ):
        found = line(named(drawn, title), name)
        assert found["x"] == list(range(1, 31))
        assert found["y"] == values, name
    for one in drawn:
        json.dumps(one.figure, allow_nan=False)
        assert "in the first layer" in one.label


def test_what_is_not_healthy_is_shaded(smooth):
    sick = [n for n, state in enumerate(smooth.states, 1) if state != "healthy"]
    starved = [f.layers for f in smooth.findings if f.kind == "vanishing gradient"]
    assert sick
    assert shaded(named(curves(smooth), "Effective")) == sick
    assert shaded(named(curves(smooth), "Gradient")) == list(*starved)


def test_bars_are_what_control_could_reach(smooth):
    figure = named(curves(smooth), "Normalized")
    bars = line(figure, "in reach of control")
    for number, low, height in zip(bars["x"], bars["base"], bars["y"], strict=True):
        reach = middle_reach(smooth.layers[number - 1])
        assert (low, low + height) == (reach.low, pytest.approx(reach.high))
        assert 0 <= reach.low <= reach.high <= 1
    assert bars["customdata"][0][2] == f", at {smooth.layers[0].reach.position:.0%}"


def test_without_a_known_activation_nothing_is_in_reach(data):
    found = diagnose(faulty.constant(), data)
    assert middle_reach(found.layers[0]) is None
    names = [trace["name"] for trace in named(curves(found), "Normalized")["data"]]
    assert names == ["median s, quartiles"]


def test_zeros_are_marked_at_the_foot_of_a_logarithmic_axis(dead):
    zeros = line(named(curves(dead), "Feature"), "exactly zero")
    assert zeros["x"] == [3, 4, 5, 6]
    entries = [layer.size for layer in dead.layers[:2]]
    assert set(zeros["y"]) == {min(entries) / 10}
    smooth = line(named(curves(dead), "Normalized"), "median s, quartiles")
    assert smooth["y"][2:] == [None] * 4
    gone = replace(dead, layers=dead.layers[2:])
    assert line(named(curves(gone), "Feature"), "exactly zero")["y"] == [1.0] * 4
    assert curves(gone)[0].label.endswith("no dimension is alive")


# --- training and the graph ---


def test_history_has_a_line_a_seed_and_a_star_at_the_chosen_epoch(data):
    runs = [
        fit(ModelConfig(hidden=8).build(data), data, TrainConfig(epochs=6, seed=seed))
        for seed in (0, 3)
    ]
    loss, accuracy = history(runs)
    assert [trace["name"] for trace in loss.figure["data"]] == [
        *["training"] * 2,
        *["validation"] * 2,
        "chosen epoch",
    ]
    second = loss.figure["data"][3]
    assert second["y"] == pytest.approx([epoch.val_loss for epoch in runs[1].history], rel=1e-5)
    assert second["hovertemplate"].startswith("seed 3, epoch")
    stars = accuracy.figure["data"][-1]
    assert stars["x"] == [run.best_epoch for run in runs]
    assert stars["y"] == pytest.approx([100 * run.val_accuracy for run in runs], rel=1e-5)
    assert "the chosen epochs are" in loss.label


def test_the_card_says_what_there_is():
    card = GraphCard(7, 4, 3, ((0, 1), (1, 5), (3, 1)), ((1, 1), (2, 1), (4, 1)), 0.625)
    view = card_view(card)
    facts = view["facts"]
    assert facts["connected components"] == "3"
    assert facts["nodes in the largest"] == "4 (57%)"
    assert facts["nodes without a neighbour"] == "1"
    assert facts["neighbours of a node"] == "0 to 3, mean 1.1, median 1"
    assert facts["edges inside a class (homophily)"] == "0.62"
    degrees, sizes = (drawn.figure["data"][0] for drawn in view["figures"])
    assert (degrees["x"], degrees["y"]) == ([1, 3], [5, 1])
    assert (sizes["x"], sizes["y"]) == ([1, 2, 4], [1, 1, 1])


def test_the_card_of_one_component_without_labels():
    view = card_view(GraphCard(2, 1, 1, ((1, 2),), ((2, 1),), None))
    assert len(view["figures"]) == 1
    assert view["facts"]["edges inside a class (homophily)"] == "unknown without labels"
    lonely = card_view(GraphCard(1, 0, 1, ((0, 1),), ((1, 1),), None))
    assert lonely["facts"]["edges inside a class (homophily)"] == "no edges"
