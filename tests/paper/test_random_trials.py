from dataclasses import replace

import pytest
import torch

from graphsct import datasets
from graphsct.paper import random_trials, workplace
from graphsct.paper.cell import Key
from graphsct.paper.paper import find_table
from graphsct.paper.random_trials import draw, replay_cells
from graphsct.paper.replay import Replay
from graphsct.training.many import fit_many

KEY = Key("demo", "gcn", "pooled", 2)


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setattr(random_trials, "_EPOCHS", 5)
    monkeypatch.setattr(random_trials, "_AT_ONCE", 3)

    def go(trials, load=lambda name, normalize: datasets.demo()):
        places = {"out": tmp_path / "out", "work": tmp_path / "work"}
        return next(iter(replay_cells([KEY], load=load, trials=trials, **places)))

    return go


def test_drawn_settings_are_of_the_papers_grid():
    grid = {c.quantity: c.values for c in find_table("grid").cells if c.model is None}
    drawn = [draw(Key("cora", "gcnii", "gated", 4), number) for number in range(50)]
    for name in ("learning_rate", "dropout", "hidden"):
        assert {made[name] for made in drawn} <= set(grid[name])
    assert len({made["hidden"] for made in drawn}) == len(grid["hidden"])
    assert {made["depth"] for made in drawn} == {4}


def test_a_trial_is_drawn_the_same_again_and_others_differ():
    assert draw(KEY, 3) == draw(KEY, 3)
    assert draw(KEY, 3) != draw(KEY, 4)


def test_trials_go_on_where_they_ended(run, tmp_path):
    whole = run(5).stored
    assert (whole.drawn, len(whole.trials), whole.diverged) == (5, 5, 0)
    path = Replay.path(tmp_path / "out", KEY)
    assert Replay.read(path) == whole
    replace(whole, trials=whole.trials[:3]).write(tmp_path / "out")
    assert run(5).stored == whole
    written = path.stat().st_mtime_ns
    assert run(5).stored == whole
    assert path.stat().st_mtime_ns == written


def test_a_trial_that_was_cut_short_is_not_stored(run, tmp_path, monkeypatch):
    def cut(models, *args, **options):
        runs = fit_many(models, *args, **options)
        return [*runs[:-1], replace(runs[-1], interrupted=True)]

    monkeypatch.setattr(workplace, "fit_many", cut)
    with pytest.raises(KeyboardInterrupt):
        run(1)
    monkeypatch.setattr(workplace, "fit_many", lambda *args, **options: [])
    with pytest.raises(KeyboardInterrupt):
        run(3)
    assert not Replay.path(tmp_path / "out", KEY).exists()


def test_a_trial_is_a_run_with_its_own_seed(run):
    drawn = [draw(KEY, number)["activation"] for number in range(4)]
    assert [trial.activation for trial in run(4).stored.trials] == drawn


def test_diverged_trials_are_counted_and_the_others_kept(run):
    def load(name, normalize):
        data = datasets.demo()
        if normalize:
            data.x = torch.full_like(data.x, 1e38)
        return data

    numbers = [draw(KEY, number)["normalize"] for number in range(4)]
    assert 0 < sum(numbers) < 4
    found = run(4, load).stored
    assert found.diverged == sum(numbers)
    assert found.drawn == 4
