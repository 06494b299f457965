import os
import signal
import statistics

import pytest
import torch
from torch.testing import assert_close

from graphsct import TrainingError, datasets
from graphsct.training import ModelConfig, TrainConfig, fit
from graphsct.training.folder import seed_folder
from graphsct.training.interrupt import interruptible
from graphsct.training.seeding import seeded
from graphsct.training.seeds import (
    run_seeds,
    seed_jobs,
    split_of,
    train_seeds,
    with_callbacks,
)

MODEL = ModelConfig(hidden=8, control="pooled")
CONFIG = TrainConfig(epochs=12)


@pytest.fixture(scope="module")
def data():
    return datasets.demo()


def test_each_seed_is_a_run_of_its_own(data):
    results = run_seeds(MODEL, data, CONFIG, [3, 1])
    for seed, run in zip([3, 1], results.runs, strict=True):
        with seeded(seed):
            model = MODEL.build(data)
        alone = fit(model, data, TrainConfig(epochs=12, seed=seed))
        assert_close(torch.tensor(run.history), torch.tensor(alone.history), rtol=1e-4, atol=1e-4)
        assert run.test_score == alone.test_score
    assert results.runs[0].history != results.runs[1].history


def test_mean_and_sample_standard_deviation(data):
    results = run_seeds(MODEL, data, CONFIG, range(4))
    shares = [run.test_score for run in results.runs]
    assert results.test_mean == pytest.approx(sum(shares) / 4)
    assert results.test_std == pytest.approx(statistics.stdev(shares))
    assert run_seeds(MODEL, data, CONFIG, [0]).test_std == 0
    values = results.to_dict()
    assert values["test_mean"] == results.test_mean
    assert [row["seed"] for row in values["seeds"]] == [0, 1, 2, 3]
    assert "seed" not in values["train"]


def test_seeds_go_through_the_splits(data):
    many = data.clone()
    many.splits = [datasets.PerClass(train=10, val=10, seed=k).draw(data.y) for k in range(2)]
    results = run_seeds(MODEL, many, CONFIG, range(3))
    assert results.splits == (0, 1, 0)
    assert [split_of(many, seed) for seed in (7, 8)] == [1, 0]
    with seeded(1):
        model = MODEL.build(many)
    expected = fit(model, many, TrainConfig(epochs=12, seed=1), split=1)
    history = torch.tensor(results.runs[1].history)
    assert_close(history, torch.tensor(expected.history), rtol=1e-4, atol=1e-4)


def test_what_is_in_the_folder_is_not_run_again(data, tmp_path):
    first = run_seeds(MODEL, data, CONFIG, range(2), folder=tmp_path)
    assert seed_folder(tmp_path, 1).is_dir()
    again = run_seeds(MODEL, data, CONFIG, range(3), folder=tmp_path)
    assert again.runs[:2] == first.runs  # seconds and all
    assert len(again.runs) == 3


def test_tensorboard_gets_every_epoch(data, tmp_path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    run = run_seeds(MODEL, data, CONFIG, [0], folder=tmp_path, tensorboard=True).runs[0]
    events = EventAccumulator(str(tmp_path / "seed-0")).Reload()
    assert set(events.Tags()["scalars"]) == {
        f"{kind}/{part}" for kind in ("loss", "score") for part in ("train", "val")
    }
    read = [(event.step, event.value) for event in events.Scalars("loss/val")]
    expected = [(record.epoch, record.val_loss) for record in run.history]
    assert [step for step, _ in read] == [step for step, _ in expected]
    assert torch.allclose(torch.tensor(read), torch.tensor(expected))


def test_each_run_has_a_callback_of_its_own(data, tmp_path):
    made = {}

    def make(model, folder, seed, together):
        made[folder.name] = model, folder, together, []
        return made[folder.name][-1].append

    jobs = with_callbacks(seed_jobs(MODEL, data, CONFIG, [3, 1]), tmp_path, make)
    assert not any(tmp_path.iterdir())
    runs = train_seeds(jobs, folder=tmp_path, tensorboard=True)
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["seed-1", "seed-3"]
    for job, run, seed in zip(jobs, runs, (3, 1), strict=True):
        model, folder, together, records = made[f"seed-{seed}"]
        assert model is job.model
        assert (folder, together) == (seed_folder(tmp_path, seed), 2)
        assert tuple(records) == run.history
        assert list(folder.glob("events.*"))


def test_runs_by_autograd_are_trained_one_by_one(data, tmp_path):
    """So each has all of the time."""
    numbers = []

    def make(model, folder, seed, together):
        numbers.append(together)
        return print

    with_callbacks(
        seed_jobs(ModelConfig("pyg:GAT", hidden=8), data, CONFIG, [0, 1]), tmp_path, make
    )
    assert numbers == [1, 1]


def test_no_seed_is_refused(data):
    with pytest.raises(TrainingError, match="no seed to train with"):
        run_seeds(MODEL, data, CONFIG, [])


@pytest.mark.parametrize(
    ("seeds", "message"),
    [
        ([0, 1, 0], "seed 0 is given twice"),
        ([2**63], "a seed is 9223372036854775808, expected whole numbers in 0"),
        ([-1], "a seed is -1, expected"),
        ("01", "seeds is '01', expected whole numbers, such as range"),
        (3, "seeds is 3, expected whole numbers, such as range"),
        ([0.5], r"seeds is \[0.5\], expected whole numbers"),
    ],
)
def test_wrong_seeds_are_refused(data, seeds, message):
    with pytest.raises(TrainingError, match=message):
        run_seeds(MODEL, data, CONFIG, seeds)


def test_ctrl_c_before_the_first_epoch(data):
    with interruptible(), pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)
        run_seeds(MODEL, data, CONFIG, [0], progress=False)
