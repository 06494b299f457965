import json
from dataclasses import replace

import faulty
import pytest

from graphsct import diagnose
from graphsct.diagnosis.page.curves import curves
from graphsct.diagnosis.tables import middle_reach

pytestmark = pytest.mark.usefixtures("seed")


def named(drawn, title):
    return next(one for one in drawn if one.title.startswith(title)).figure


def line(figure, name):
    return next(trace for trace in figure["data"] if trace["name"] == name)


def shaded(figure):
    return [shape["x0"] + 0.5 for shape in figure["layout"]["shapes"] if shape["type"] == "rect"]


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
    sick = [n for n, state in enumerate(smooth.states, 1) if state != "ok"]
    starved = [f.layers for f in smooth.findings if f.kind == "vanishing gradient"]
    assert sick
    assert shaded(named(curves(smooth), "Effective")) == sick
    assert shaded(named(curves(smooth), "Gradient")) == list(*starved)


def test_bars_are_what_control_could_reach(smooth):
    figure = named(curves(smooth), "Normalized")
    bars = line(figure, "range of control")
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
