import signal
from dataclasses import replace
from functools import partial

import pytest
import torch
from filelock import FileLock

from graphsct import datasets, diagnose, fit
from graphsct.errors import DivergedError, ExperimentError, ModelError
from graphsct.remedies import REMEDIES, leaderboard
from graphsct.remedies.board_cell import BoardCell, BoardKey
from graphsct.remedies.budget import base_model, budget_of
from graphsct.remedies.leaderboard import compare_remedies, cost_of, fits
from graphsct.training import TrainConfig, run_seeds
from graphsct.training.seeds import build_seeds


def compare(data, names, depths=(2,), **options):
    options = dict(name="demo", seeds=2, epochs=6, say=lambda line: None) | options
    return compare_remedies(data, [REMEDIES[name] for name in names], depths, **options)


def test_cells_are_run_written_and_not_run_again(data, tmp_path, monkeypatch):
    said = []
    cells = compare(data, ["none", "pair_norm"], (2, 4), folder=tmp_path, say=said.append)
    assert [cell.key[2:] for cell in cells] == [
        (2, "none"),
        (2, "pair_norm"),
        (4, "none"),
        (4, "pair_norm"),
    ]
    assert len(said) == 4
    assert all(len(cell.tried) == 8 and len(cell.runs) == 4 for cell in cells)
    assert all(cell.backend == "engine" and cell.seconds > 0 for cell in cells)
    assert [cell.cost is None for cell in cells] == [True, False, True, False]
    assert all(cell.cost > 0 for cell in cells[1::2])
    assert BoardCell.read_all(tmp_path) == sorted(cells, key=lambda cell: cell.key.name)
    monkeypatch.setattr(leaderboard, "fit_many", None)
    assert compare(data, ["none", "pair_norm"], (2, 4), folder=tmp_path) == cells


def test_costs_are_measured_in_turns_with_the_plain_model(data, monkeypatch):
    def take(epochs, seconds, repeats, clock):
        assert len(epochs) == 2
        assert all(len(epoch()) == 2 for epoch in epochs)  # a step, and scores
        return [3.0, 2.0]

    monkeypatch.setattr(leaderboard, "alternate", take)
    for model, name in (("gcn", "gcnii"), ("pyg:GCN", "pair_norm")):
        remedy = REMEDIES[name]
        key, setting = BoardKey("demo", model, 2, name), budget_of(remedy)[0]
        assert cost_of(data, remedy, key, setting) == 1.5
    assert cost_of(data, REMEDIES["none"], key._replace(remedy="none"), setting) is None


def test_a_cell_that_another_process_runs_comes_last(data, tmp_path):
    other = FileLock(tmp_path / ".demo-gcn-2-none.lock")
    said = []

    def say(line):
        said.append(line.partition(",")[0])
        other.release()

    with other:
        cells = compare(data, ["none", "pair_norm"], folder=tmp_path, say=say)
    assert said == ["pair_norm", "none"]
    assert [cell.key.remedy for cell in cells] == ["none", "pair_norm"]


def test_leftovers_of_a_killed_process_are_swept(data, tmp_path):
    (tmp_path / ".demo-gcn-2-none-abcdefgh.json").touch()
    compare(data, ["none"], folder=tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"demo-gcn-2-none.json", ".demo-gcn-2-none.lock"}


def test_validation_chooses_the_setting_and_its_runs_are_those_of_that_setting(data, tmp_path):
    (cell,) = compare(data, ["drop_edge"], folder=tmp_path)
    ranked = sorted(cell.tried, key=lambda tried: (-tried.val_score, tried.val_loss))
    assert cell.chosen == ranked[0].setting
    model, train = REMEDIES["drop_edge"].configure(
        base_model("gcn", 2, cell.chosen.dropout), cell.chosen.train(6), cell.chosen.value
    )
    expected = run_seeds(model, data, train, range(2), progress=False)
    assert cell.scores() == pytest.approx([100 * run.test_score for run in expected.runs])


def test_each_seed_has_its_split(tmp_path):
    parts = [torch.arange(60) % 3 == k for k in range(3)]
    data = datasets.csbm(60, 180, num_features=4, seed=0)
    data.splits = [datasets.Split(*parts), datasets.Split(*reversed(parts))]
    (cell,) = compare(data, ["none"], seeds=3, folder=tmp_path)
    assert [(run.seed, run.split) for run in cell.runs if run.select == "val_loss"] == [
        (0, 0),
        (1, 1),
        (2, 0),
    ]


def test_other_models_get_the_remedy_itself(data, tmp_path):
    cells = compare(data, ["none", "residual"], (3,), model="pyg:GAT", epochs=2, folder=tmp_path)
    assert [cell.key.name for cell in cells] == ["demo-pyg_GAT-3-none", "demo-pyg_GAT-3-residual"]
    assert cells[0].scores() != cells[1].scores() or cells[0].tried != cells[1].tried


def test_the_layers_of_the_first_seed_are_measured(data, tmp_path):
    (cell,) = compare(data, ["identity"], (3,), folder=tmp_path, inspect=diagnose)
    model, train = REMEDIES["identity"].configure(
        base_model("gcn", 3, cell.chosen.dropout), cell.chosen.train(6)
    )
    (first,) = build_seeds(partial(model.build, data), [0])
    fit(first, data, replace(train, seed=0), progress=False)
    expected = diagnose(first, data, rival=False).layers
    assert len(cell.layers) == 3
    assert compare(data, ["identity"], folder=tmp_path)[0].layers == ()
    for layer, report in zip(cell.layers, expected, strict=True):
        assert layer.smoothness == pytest.approx(report.quartiles[1], rel=1e-3)
        assert layer.effective_rank == pytest.approx(report.effective_rank, rel=1e-3)
        assert layer.gradient_norm == pytest.approx(report.gradient_norm, rel=1e-3)


def test_a_setting_that_diverges_is_out(data, tmp_path, monkeypatch):
    real = leaderboard.fit_many

    def fit_many(models, data, configs, **options):
        if any(config.learning_rate == 0.01 for config in configs):
            raise DivergedError("the weights diverged")
        return real(models, data, configs, **options)

    monkeypatch.setattr(leaderboard, "fit_many", fit_many)
    (cell,) = compare(data, ["none"], folder=tmp_path)
    assert [tried.val_score is None for tried in cell.tried] == [True] * 4 + [False] * 4
    assert cell.chosen.learning_rate == 0.003
    assert len(cell.runs) == 4


def test_a_cell_that_diverges_says_so(data, tmp_path, monkeypatch):
    def fit_many(*args, **options):
        raise DivergedError("the weights diverged")

    monkeypatch.setattr(leaderboard, "fit_many", fit_many)
    (cell,) = compare(data, ["none"], folder=tmp_path)
    assert (cell.runs, cell.failure) == ((), "the weights diverged with every setting")


def test_ctrl_c_keeps_finished_cells(data, tmp_path, monkeypatch):
    real, calls = leaderboard.fit_many, []

    def fit_many(*args, **options):
        calls.append(args)
        if len(calls) == 3:
            signal.raise_signal(signal.SIGINT)
        return real(*args, **options)

    monkeypatch.setattr(leaderboard, "fit_many", fit_many)
    with pytest.raises(KeyboardInterrupt):
        compare(data, ["none", "residual"], folder=tmp_path)
    assert [cell.key.remedy for cell in BoardCell.read_all(tmp_path)] == ["none"]


def test_cells_by_other_rules_are_not_mixed(data, tmp_path):
    compare(data, ["none"], folder=tmp_path)
    with pytest.raises(ExperimentError, match="has 2 seeds of at most 6 epochs, not 3 of 6"):
        compare(data, ["none"], seeds=3, folder=tmp_path)


def test_remedies_that_change_nothing_are_refused(data, tmp_path):
    with pytest.raises(
        ExperimentError, match="glorot cannot be applied to gcn, or would change nothing"
    ):
        compare(data, ["none", "glorot"], folder=tmp_path)
    assert [fits(REMEDIES["gcnii"], name) for name in ("gcn", "gcnii", "pyg:GAT")] == [
        True,
        False,
        False,
    ]
    assert fits(REMEDIES["none"], "pyg:GAT")


def test_a_remedy_that_needs_more_layers_is_left_out(data, tmp_path):
    said, names = [], ["none", "rank_loss"]
    settings = dict(model="pyg:GCN", epochs=2, folder=tmp_path, say=said.append)
    cells = compare(data, names, (2, 3), **settings)
    assert [cell.key[2:] for cell in cells] == [(2, "none"), (3, "none"), (3, "rank_loss")]
    assert said[1].startswith("rank_loss, 2 layers: left out, rank_loss compares the last hidden")


def test_a_model_that_cannot_be_built_ends_it(data, tmp_path, monkeypatch):
    def build(*args):
        raise ModelError("no such model")

    monkeypatch.setattr(leaderboard, "build_seeds", build)
    with pytest.raises(ModelError, match="no such model"):
        compare(data, ["none", "residual"], folder=tmp_path)


def test_the_command_has_what_differs_from_the_rules(data, tmp_path):
    (cell,) = compare(data, ["none"], folder=tmp_path)
    assert cell.command == (
        "graphsct remedies compare --data demo --model gcn --depth 2 --remedy none --seeds 2 "
        "--epochs 6"
    )
    assert TrainConfig().epochs != 6
