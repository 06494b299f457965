import csv

import pytest

from graphsct.extras import stored_results
from graphsct.paper.figures.figure5 import RUNS, ScoredRuns, title, wanted_smoothness


def test_scores_in_percent_with_their_interval():
    runs = ScoredRuns((0.5, 0.6, 0.7), 0.6, 0.9)
    assert str(runs) == "60.0 ± 10.0"
    assert runs.mean == pytest.approx(60)
    assert runs.margin == pytest.approx(4.302653 * 10 / 3**0.5)


def test_gains_are_those_of_equal_seeds():
    first, second = ScoredRuns((0.5, 0.7), 0.6, 0.9), ScoredRuns((0.4, 0.6), 0.6, 0.9)
    assert first.gain(second) == "+10.0 [+10.0, +10.0]"


def test_the_stored_runs_are_all_there():
    with (stored_results("smoothness") / RUNS).open(newline="") as file:
        rows = list(csv.DictReader(file))
    panels = wanted_smoothness().panels
    networks = {(row["layers"], float(row["target"] or 0)) for row in rows}
    for panel in panels.values():
        assert {(layers, target or 0) for layers, target in panel} == networks
        (count,) = {len(runs.test) for runs in panel.values()}
        assert count >= 2
    assert all(0 <= float(row[name]) <= 1 for row in rows for name in ("test", "smoothness"))


def test_a_seed_that_a_network_lacks_is_left_out(tmp_path, monkeypatch):
    rows = [
        ("cora", 2, "none", "", seed, test, 0.5, 0.5) for seed, test in ((0, 0.1), (1, 0.2), (2, 1))
    ]
    rows += [("cora", 2, "all", 0.5, seed, 0.3, 0.5, 0.5) for seed in (1, 0)]
    names = ("data", "depth", "layers", "target", "seed", "test", "val", "smoothness")
    with (tmp_path / RUNS).open("w", newline="") as file:
        csv.writer(file).writerows([names, *rows])
    monkeypatch.setattr("graphsct.paper.figures.figure5.stored_results", lambda part: tmp_path)
    (panel,) = wanted_smoothness().panels.values()
    assert panel["none", None].test == (0.1, 0.2)
    assert panel["all", 0.5].test == (0.3, 0.3)


def test_a_data_set_with_a_single_seed_is_left_out(tmp_path, monkeypatch):
    names = ("data", "depth", "layers", "target", "seed", "test", "val", "smoothness")
    rows = [("cora", 2, "none", "", seed, 0.5, 0.5, 0.5) for seed in (0, 1)]
    rows += [("cora", 2, "all", 0.5, 0, 0.3, 0.5, 0.5)]
    with (tmp_path / RUNS).open("w", newline="") as file:
        csv.writer(file).writerows([names, *rows])
    monkeypatch.setattr("graphsct.paper.figures.figure5.stored_results", lambda part: tmp_path)
    assert wanted_smoothness().panels == {}


def test_titles():
    assert title("csbm-0.3") == "generated, homophily 0.3"
    assert title("cora") == "Cora"
