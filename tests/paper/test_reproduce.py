import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest
from cells import origin, result
from filelock import FileLock

from graphsct import datasets
from graphsct.errors import ExperimentError
from graphsct.paper.cell import EARLIER, Cell, CellSettings, Key
from graphsct.paper.keys import borrow
from graphsct.paper.origin import Allowed
from graphsct.paper.reproduce import Budget, is_done, run_cells
from graphsct.search.space import VERSION
from graphsct.training import ModelConfig, TrainConfig
from graphsct.training.seeds import run_seeds

SHALLOW, DEEP = Key("demo", "gcn", None, 2), Key("demo", "gcn", "pooled", 16)
TRAIN = TrainConfig(epochs=6, select="val_score")
KNOWN = {
    SHALLOW: Cell(SHALLOW, CellSettings(ModelConfig(hidden=8), TRAIN)),
    DEEP: Cell(DEEP, CellSettings(ModelConfig(control="pooled", depth=16, hidden=8), TRAIN)),
}


@pytest.fixture
def run(tmp_path):
    def go(keys=(SHALLOW, DEEP), known=KNOWN, **budget):
        return list(
            run_cells(
                keys,
                Budget(**{"seeds": 2, **budget}),
                load=lambda name, normalize: datasets.demo(),
                known=known,
                out=tmp_path / "out",
                work=tmp_path / "work",
                table="table1",
            )
        )

    return go


def test_runs_are_those_of_run_seeds_and_deep_cells_have_both_rules(run, tmp_path):
    shallow, deep = (outcome.stored for outcome in run())
    assert [(r.select, r.seed) for r in shallow.results] == [
        ("val_score", 0),
        ("val_score", 1),
    ]
    assert [r.select for r in deep.results] == ["val_score"] * 2 + ["val_loss"] * 2
    expected = run_seeds(
        deep.settings.model, datasets.demo(), replace(TRAIN, select="val_loss"), range(2)
    )
    for ours, made in zip(deep.runs("val_loss"), expected.runs, strict=True):
        assert ours.test_score == made.test_score
        assert ours.best_epoch == made.best_epoch
    assert Cell.read_all(tmp_path / "out") == {SHALLOW: shallow, DEEP: deep}
    assert deep.command == (
        "graphsct reproduce table1 --data demo --model gcn --depth 16 --control sct --seeds 2"
    )
    assert not list((tmp_path / "work").glob("**/*.safetensors"))


def test_a_cell_that_is_done_is_not_run_again_and_more_seeds_are_added(run, tmp_path):
    first = run([SHALLOW])[0]
    before = (tmp_path / "out" / "demo-gcn-none-2.json").stat().st_mtime_ns
    again = run([SHALLOW])[0]
    assert again.stored == first.stored
    assert (tmp_path / "out" / "demo-gcn-none-2.json").stat().st_mtime_ns == before
    more = run([SHALLOW], seeds=3)[0].stored
    assert more.results[:2] == first.stored.results
    assert [run.seed for run in more.results] == [0, 1, 2]


def test_leftovers_of_a_killed_process_are_swept(run, tmp_path):
    run([SHALLOW])
    (tmp_path / "out" / ".demo-gcn-none-2-abcdefgh.json").touch()
    run([SHALLOW])
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["demo-gcn-none-2.json"]


def test_of_known_cells_the_settings_are_taken_and_not_the_results(run, tmp_path):
    (first,) = run([SHALLOW])
    wrong = tuple(replace(run, test_score=0.0) for run in first.stored.results)
    (tmp_path / "out" / f"{SHALLOW.name}.json").unlink()
    (again,) = run([SHALLOW], known={SHALLOW: replace(first.stored, results=wrong)})
    found, expected = again.stored.results, first.stored.results
    assert [row.test_score for row in found] == [row.test_score for row in expected]


def test_one_cell_that_fails_does_not_stop_the_others(run):
    outcomes = run([DEEP._replace(depth=4), SHALLOW])
    assert outcomes[0].stored is None
    assert (
        outcomes[0].reason
        == "no settings are known for this cell; set a number of trials to search"
    )
    assert outcomes[1].stored is not None


def test_a_cell_of_another_process_is_left_to_it(run, tmp_path):
    place = tmp_path / "work" / SHALLOW.name
    place.mkdir(parents=True)
    with FileLock(place / ".lock"):
        (outcome,) = run([SHALLOW])
    assert outcome.reason == "another process is running this cell"


def test_a_damaged_cell_is_named(run, tmp_path):
    path = KNOWN[SHALLOW].write(tmp_path / "out")
    path.write_text("{")
    (outcome,) = run([SHALLOW])
    assert str(path) in outcome.reason


@pytest.mark.parametrize(
    ("allowed", "budget", "done"),
    [
        (None, {}, True),
        (None, {"trials": 1}, False),
        ({"max_hidden": None}, {"trials": 5}, True),
        ({"max_hidden": None}, {"trials": 5, "seconds": 9}, True),
        ({"max_hidden": None}, {"trials": 6}, False),
        ({"seconds": 9.0}, {"trials": 5, "seconds": 9}, True),
        ({"seconds": 9.0}, {"trials": 5, "seconds": 10}, False),
        ({"seconds": 9.0}, {"trials": 5}, False),
        ({}, {"trials": 5, "finalists": 2}, False),
        ({"finalists": 3}, {"trials": 5, "finalists": 2}, True),
        ({"space": None}, {"trials": 5}, False),
        ({"space": None}, {}, True),
    ],
)
def test_a_search_counts_if_it_was_allowed_as_much(run, allowed, budget, done):
    cell = run([SHALLOW])[0].stored
    cell = replace(
        cell, found=None if allowed is None else origin(5, **{"space": VERSION, **allowed})
    )
    assert is_done(cell, Budget(seeds=2, **budget)) is done
    assert not is_done(cell, Budget(seeds=3, **budget))


def test_workers_share_the_search_of_a_cell(run):
    pytest.importorskip("optuna")
    (shared,) = run([SHALLOW], known={}, trials=4, max_hidden=16, workers=2)
    assert shared.stored.found.trials == 4
    assert shared.stored.command.endswith("--trials 4 --max-hidden 16 --workers 2")
    assert shared.stored.found.command.endswith("--trials 4 --workers 2")


def test_a_search_that_was_over_gets_finals(run):
    pytest.importorskip("optuna")
    (before,) = run([SHALLOW], known={}, trials=3, max_hidden=16)
    (after,) = run([SHALLOW], known={}, trials=3, max_hidden=16, finalists=2)
    assert (before.stored.found.finalists, after.stored.found.finalists) == (0, 2)
    assert after.stored.found.seconds > before.stored.found.seconds
    assert after.stored.command.endswith("--trials 3 --max-hidden 16 --finalists 2")
    assert after.stored.found.command.endswith("--trials 3 --finalists 2")


@pytest.mark.parametrize(("name", "value"), [("workers", 2), ("ray", "auto"), ("finalists", 3)])
def test_without_a_search_there_is_nothing_to_spread(name, value):
    with pytest.raises(ExperimentError, match=rf"{name} is {value!r}, .*set the number of trials"):
        Budget(**{name: value})


def test_settings_are_searched_and_the_search_goes_on(run, tmp_path):
    pytest.importorskip("optuna")
    (first,) = run([SHALLOW], known={}, trials=1)
    assert first.stored.found.allowed == Allowed(
        trials=1, seconds=None, max_hidden=None, finalists=0, space=VERSION
    )
    assert first.stored.found.trials == 1
    assert first.stored.settings.train.select == first.stored.found.select == "val_score"
    (again,) = run([SHALLOW], known={}, trials=1)
    assert again.stored == first.stored
    (more,) = run([SHALLOW], known={}, trials=2)
    assert more.stored.found.trials == 2
    assert len(more.stored.results) == 2
    assert more.stored.command.endswith("--seeds 2 --trials 2")
    assert more.stored.found.after == ()


def test_a_cell_that_is_searched_again_stays_visible(run, tmp_path):
    pytest.importorskip("optuna")
    before = replace(KNOWN[SHALLOW], found=origin(4), results=(result(70.0),))
    (outcome,) = run([SHALLOW], known={SHALLOW: before}, trials=1, max_hidden=16)
    assert outcome.stored.found.allowed.space == VERSION
    assert len(outcome.stored.results) == 2
    assert Cell.read_all(tmp_path / "out" / EARLIER) == {SHALLOW: before}
    run([SHALLOW], known={SHALLOW: before}, trials=2, max_hidden=16)
    assert Cell.read_all(tmp_path / "out" / EARLIER) == {SHALLOW: before}
    assert list(Cell.read_all(tmp_path / "out")) == [SHALLOW]


def test_a_search_begins_with_what_the_authors_publish(run, tmp_path):
    pytest.importorskip("optuna")
    key = Key("cora", "gcnii", None, 2)  # the data are the demo's
    (outcome,) = run([key], known={}, trials=1)
    model, train = outcome.stored.settings.model, outcome.stored.settings.train
    assert (model.hidden, model.alpha, model.theta, model.dropout) == (64, 0.1, 0.5, 0.6)
    assert (train.learning_rate, train.conv_weight_decay) == (0.01, 0.01)


def test_settings_of_the_same_model_at_other_depths_are_tried_first(run, tmp_path):
    pytest.importorskip("optuna")
    found = replace(KNOWN[SHALLOW].settings.model, hidden=16, dropout=0.9, init="glorot")
    for depth in (2, 32):
        key = SHALLOW._replace(depth=depth)
        settings = replace(KNOWN[SHALLOW].settings, model=replace(found, depth=depth))
        Cell(key, settings).write(tmp_path / "out")
    (outcome,) = run([SHALLOW._replace(depth=4)], known={}, trials=1, max_hidden=16)
    assert outcome.stored.found.after == ("demo-gcn-none-2", "demo-gcn-none-32")
    study = tmp_path / "work" / outcome.key.name / "study" / "trials.jsonl"
    first = json.loads(study.read_text())
    assert {name: first[name] for name in ("hidden", "dropout", "init", "depth")} == {
        "hidden": 16,
        "dropout": 0.9,
        "init": "glorot",
        "depth": 4,
    }


SLOW = {
    key: replace(cell, settings=replace(cell.settings, train=replace(TRAIN, checkpoint_every=1)))
    for key, cell in KNOWN.items()
}
SCRIPT = """
import sys
from pathlib import Path
from graphsct import datasets
sys.path[:0] = ["tests/helpers", "tests/paper"]
from test_reproduce import *
place = Path(sys.argv[1])
for _ in run_cells([SHALLOW, DEEP], Budget(seeds=6), load=lambda *_: datasets.demo(), known=SLOW,
                   out=place / "out", work=place / "work", table="table1"):
    pass
"""


def test_a_killed_process_loses_no_cell_and_no_checkpoint(run, tmp_path):
    process = subprocess.Popen([sys.executable, "-c", SCRIPT, tmp_path])
    deadline = time.monotonic() + 60
    while not list((tmp_path / "work" / DEEP.name).glob("**/checkpoint.safetensors")):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    path = tmp_path / "out" / f"{SHALLOW.name}.json"
    first = path.stat().st_mtime_ns
    assert not (tmp_path / "out" / f"{DEEP.name}.json").exists()
    shallow, deep = run(known=SLOW)
    assert path.stat().st_mtime_ns == first and shallow.stored is not None
    assert len(deep.stored.results) == 4


def with_activation(activation):
    return DEEP._replace(activation=activation, depth=2)


@pytest.fixture
def searched():
    """A cell whose search chose leaky ReLU."""
    model = ModelConfig(control="pooled", hidden=8, activation="leaky_relu")
    key = with_activation(None)
    return Cell(key, CellSettings(model, TRAIN), origin(3))


def test_a_given_activation_takes_the_other_settings_from_where_it_was_searched(run, searched):
    keys = [searched.key, with_activation("relu"), with_activation("leaky_relu")]
    free, relu, leaky = (outcome.stored for outcome in run(keys, known={searched.key: searched}))
    assert relu.settings == replace(
        free.settings, model=replace(free.settings.model, activation="relu")
    )
    assert relu.found == replace(searched.found, of="demo-gcn-pooled-2")
    assert relu.results[0].val_loss != free.results[0].val_loss
    assert leaky.settings == free.settings and leaky.results == free.results  # not run twice
    assert "--depth 2 --control sct" in leaky.command


def test_of_somebody_else_s_cell_only_settings_are_borrowed(run, searched):
    theirs = replace(searched, results=(result(50),))
    leaky = run([with_activation("leaky_relu")], known={searched.key: theirs})[0].stored
    assert len(leaky.results) == 2 and leaky.results[0].epochs == 6


def test_with_trials_a_given_activation_is_searched_for_itself(run, searched):
    known = {searched.key: searched}
    relu = run([with_activation("relu")], known=known, trials=1, max_hidden=16)[0].stored
    assert relu.found.of is None


def test_the_slope_of_leaky_relu_stays_behind():
    key = Key("demo", "gcn", "pooled", 2)
    model = ModelConfig("gcn", "pooled", activation="leaky_relu", negative_slope=0.3)
    cells = {key: Cell(key, CellSettings(model, TRAIN))}
    relu = borrow(key._replace(activation="relu"), cells)
    assert relu.settings.model == replace(model, activation="relu", negative_slope=None)
    assert borrow(key._replace(activation="leaky_relu"), cells).settings.model == model


def test_the_offset_of_srelu_stays_behind():
    key = Key("demo", "egnn", "gated", 2)
    model = ModelConfig("egnn", "gated", activation="srelu", offset=-5.0)
    cells = {key: Cell(key, CellSettings(model, TRAIN))}
    relu = borrow(key._replace(activation="relu"), cells)
    assert relu.settings.model == replace(model, activation="relu", offset=None)
    assert borrow(key._replace(activation="srelu"), cells).settings.model == model
    assert borrow(key, cells) is None and borrow(key._replace(depth=4), cells) is None
