import csv
import math

import pytest

from graphsct.errors import MissingExtraError
from graphsct.remedies import wanted
from graphsct.remedies.wanted import RUNS, Panel, ScoredRuns, read_panels, suggestion, verdicts

NAMES = ("data", "depth", "layers", "target", "seed", "test", "val", "smoothness", "homophily")
NETWORKS = (("none", ""), ("all", 0.3), ("all", 0.7), ("last", 0.3), ("last", 0.7), ("learned", ""))
NOISE = (0.0, 0.01, -0.01, 0.005)


def rows(gain, data="cora", depth=2, homophily=0.81, seeds=range(4)):
    """Runs of all networks; those with t = 0.7 in all layers are better by a gain."""
    for layers, target in NETWORKS:
        wins = (layers, target) == ("all", 0.7)
        for seed in seeds:
            test = 0.5 + NOISE[seed] + wins * (gain + 0.001 * seed)
            val = 0.5 + 0.1 * wins
            yield data, depth, layers, target, seed, test, val, 0.5, homophily


def written(tmp_path, *groups):
    path = tmp_path / RUNS
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([NAMES, *(row for group in groups for row in group)])
    return path


def test_scores_in_percent_and_gains_of_equal_seeds():
    first, second = ScoredRuns((50.0, 60.0, 70.0), 0.6, 0.9), ScoredRuns((40.0, 51.0, 60.0), 0.6, 0)
    assert str(first) == "60.0 ± 10.0"
    assert first.mean == 60
    assert first.gain(second).mean == pytest.approx(29 / 3)


def test_the_stored_runs_are_all_there():
    panels = read_panels()
    networks = set(panels[0].networks)
    for panel in panels:
        assert set(panel.networks) == networks
        (count,) = {len(runs.test) for runs in panel.networks.values()}
        assert count >= 2
        assert 0 <= panel.homophily <= 1
        for runs in panel.networks.values():
            assert all(0 <= score <= 100 for score in runs.test)
            assert 0 <= runs.smoothness <= 1


def test_a_seed_that_a_network_lacks_is_left_out_and_so_is_a_single_one(tmp_path):
    own = [row for row in rows(0.1) if (row[2], row[4]) != ("last", 2)]
    single = rows(0.1, depth=8, seeds=(0,))
    (panel,) = read_panels(written(tmp_path, own, single))
    assert panel.depth == 2
    assert panel.plain.test == pytest.approx((50, 51, 50.5))


def test_validation_chooses_the_best():
    better, plain = ScoredRuns((40.0, 41.0), 0.9, 0.3), ScoredRuns((60.0, 61.0), 0.5, 0.7)
    panel = Panel("csbm-0.3", 0.3, 2, {("all", 0.3): better, ("all", 0.7): plain})
    assert panel.best() == (0.3, better)
    assert panel.title == "generated, homophily 0.3"


def test_a_verdict_counts_all_panels(tmp_path):
    found = read_panels(written(tmp_path, rows(0.1), rows(-0.1, depth=8), rows(0, "citeseer")))
    assert verdicts(found)[:2] == ["helps", "costs"]
    assert verdicts([found[2]])[0] in ("helps", "no difference shown")
    tied = Panel("cora", 0.8, 2, {("none", None): found[0].plain, ("all", 0.3): found[0].plain})
    assert verdicts([tied]) == ["no difference shown"]


@pytest.mark.parametrize(
    ("gain", "start"), [(0.1, "control 'target' with t = 0.7."), (-0.1, "none.")]
)
def test_a_suggestion_comes_with_its_evidence(tmp_path, monkeypatch, gain, start):
    path = written(tmp_path, rows(gain), rows(0.2, "csbm-0.1", 8, 0.1))
    monkeypatch.setattr(wanted, "stored_results", lambda part: path.parent)
    found = suggestion(0.75, 8)
    assert found.startswith(start)
    assert "Cora, homophily 0.81, 2 layers, 4 seeds" in found
    assert f"{50.125 + 100 * gain + 0.15:.1f} ± " in found
    assert f"the difference of {'+' if gain > 0 else '-'}" in found
    assert "] is significant after Holm's correction" in found
    assert "(generated, homophily 0.1, 8 layers" in suggestion(0.12, 32)


def test_a_suggestion_says_that_a_difference_is_not_significant(tmp_path, monkeypatch):
    path = written(tmp_path, rows(0))
    monkeypatch.setattr(wanted, "stored_results", lambda part: path.parent)
    monkeypatch.setattr(wanted, "LEVEL", 0.0)
    assert "] is not significant after Holm's correction" in suggestion(0.8, 2)


def test_no_graph_of_this_homophily_no_suggestion(tmp_path, monkeypatch):
    path = written(tmp_path, rows(0.1))
    monkeypatch.setattr(wanted, "stored_results", lambda part: path.parent)
    assert suggestion(0.4, 2) is suggestion(None, 2) is suggestion(math.nan, 2) is None


def test_without_the_stored_results_there_is_no_suggestion(monkeypatch):
    def missing(part):
        raise MissingExtraError("graphsct_results is not installed")

    monkeypatch.setattr(wanted, "stored_results", missing)
    assert suggestion(0.8, 2) is None
