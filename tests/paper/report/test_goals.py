from dataclasses import replace

import pytest
from cells import origin, result

from graphsct.paper.cell import Cell, CellSettings, Key
from graphsct.paper.replay import TRIALS, Replay, ReplayTrial
from graphsct.paper.report.goals import goals
from graphsct.paper.tables import build
from graphsct.training import ModelConfig, TrainConfig

SCT = Key("cora", "gcnii", "gated", 2)  # 83.8 in the paper
ANCHOR = Key("cora", "gcnii", None, 64)  # published 85.5, repeated 85.2


def make(key, accuracies=(), by_loss=()):
    model = ModelConfig(key.model, key.control, key.depth)
    results = [
        result(value, seed, select)
        for select, values in (("val_score", accuracies), ("val_loss", by_loss))
        for seed, value in enumerate(values)
    ]
    return Cell(key, CellSettings(model, TrainConfig()), results=tuple(results))


@pytest.fixture
def found(tmp_path):
    """The goals by name, with cells of these test accuracies."""

    def go(cells=(), authors=(), max_hidden=None, replays=()):
        for key, mean in cells:
            cell = make(key, [mean - 0.1, mean, mean + 0.1])
            replace(cell, found=origin(4, max_hidden=max_hidden)).write(tmp_path)
        for key, mean in authors:
            make(key, by_loss=[mean - 0.1, mean + 0.1]).write(tmp_path / "authors")
        for one in replays:
            one.write(tmp_path)
        table = goals({name: build(name, cells=tmp_path) for name in ("depth", "authors")})
        return {goal.name: goal for goal in table.rows}, table

    return go


def test_without_cells_nothing_is_reached_and_nothing_is_missed(found):
    by_name, table = found()
    assert {goal.verdict for goal in by_name.values()} == {"not yet"}
    assert {goal.reached for goal in by_name.values()} == {0}
    assert table.parts == ()
    assert by_name["Searches"].missing == 96
    assert by_name["With SCT"].missing == 48


@pytest.mark.parametrize(("mean", "reached"), [(84.8, 1), (85.9, 1), (84.7, 0), (86.0, 0)])
def test_an_anchor_is_near_a_published_or_a_repeated_mean(found, mean, reached):
    goal = found(authors=[(ANCHOR, mean)])[0]["Anchors"]
    assert (goal.cells, goal.reached, len(goal.short)) == (1, reached, 1 - reached)


def test_a_directed_graph_is_named(found):
    goal = found(authors=[(Key("texas", "gcnii", None, 32), 75.0)])[0]["Anchors"]
    assert goal.short[0].why.endswith("against 69.5; their graph is directed and ours is symmetric")
    assert goal.verdict == "missed"


@pytest.mark.parametrize(("mean", "reached"), [(83.3, 1), (90.0, 1), (83.2, 0)])
def test_a_cell_with_sct_is_near_the_paper_or_above(found, mean, reached):
    goal = found([(SCT, mean)])[0]["With SCT"]
    assert (goal.cells, goal.wanted, goal.reached) == (1, 34, reached)


def test_or_the_papers_number_is_one_that_its_protocol_prints(found):
    trials = [
        ReplayTrial(name, 0.5 + 0.1 * (score > 0.83), 0.8, score)
        for name in ("relu", "leaky_relu")
        for score in (0.82, 0.85)
    ]
    many = [
        replace(trial, val_loss=0.5 + number / 1000)
        for number, trial in enumerate(trials * (TRIALS // 4))
    ]
    goal = found([(SCT, 80.0)], replays=[Replay(SCT, tuple(many))])[0]["With SCT"]
    assert goal.reached == 1
    low = tuple(replace(trial, test_score=0.8) for trial in many)
    goal = found([(SCT, 80.0)], replays=[Replay(SCT, low)])[0]["With SCT"]
    assert "the protocol prints 80.0 to 80.0" in goal.short[0].why


def test_cells_of_a_narrow_search_are_counted_together(found):
    pair = [SCT, SCT._replace(control=None)]
    goal = found([(key, 83.0) for key in pair], max_hidden=32)[0]["Searches"]
    assert (goal.cells, goal.reached) == (2, 0)
    (short,) = goal.short
    assert short.cell == "Cora, GCNII, 2 layers (2 cells)"
    assert short.why == "not among the choices of the search: hidden"


def test_validation_selects_the_best_model(found, tmp_path):
    other = SCT._replace(depth=4)
    found([(SCT, 86.0), (other, 84.0)])
    cell = Cell.read_all(tmp_path)[other]
    better = tuple(replace(run, val_score=0.99) for run in cell.results)
    replace(cell, results=better).write(tmp_path)
    by_name, table = found()
    goal = by_name["Best"]
    assert (goal.cells, goal.reached, goal.missing) == (1, 0, 2)
    assert goal.short[0].cell == "Cora, GCNII-SCT, 4 layers"
    assert goal.short[0].why == "84.0 ± 0.1 against 85.5"
    assert {row.goal for row in table.parts[0].rows} >= {"Best"}
