import logging
import math
from dataclasses import replace

import pytest
import torch
from torch.testing import assert_close

from graphsct import fit
from graphsct.datasets import demo
from graphsct.training import ModelConfig, TrainConfig
from graphsct.training.data import SplitData
from graphsct.training.runner import Runner
from graphsct.training.seeding import seeded
from graphsct.training.tracks import shape_of

CONFIG = TrainConfig(epochs=30, patience=30, learning_rate=0.02)


@pytest.fixture(scope="module")
def data():
    data = demo()
    data.x, data.graph = data.x.double(), data.graph.double()
    return data


def build(data, seed, **settings):
    with seeded(seed):
        return ModelConfig(**{"hidden": 8, **settings}).build(data).double()


def test_a_run_that_diverges_leaves_and_the_others_do_not_notice(data):
    configs = [replace(CONFIG, seed=seed) for seed in range(3)]
    configs[1] = replace(configs[1], learning_rate=1e200)
    blind = SplitData.of(data).blind()
    runner = Runner([build(data, seed) for seed in range(3)], [blind] * 3, configs)
    lost, best = [], {}
    for _ in runner.epochs():
        lost += runner.diverged
        best |= {run: runner.best(run) for run in runner.over}
    assert lost == [1]
    assert not math.isfinite(runner.histories[1][-1].val_loss)
    for run in (0, 2):
        alone = fit(build(data, run), data, configs[run], progress=False)
        together = torch.tensor(runner.histories[run])
        assert_close(torch.tensor(alone.history), together, rtol=1e-5, atol=1e-6)
        assert best[run].val_score == alone.val_score
        assert (best[run].best_epoch, best[run].epochs) == (alone.best_epoch, 30)


def test_all_runs_may_leave_between_two_epochs(data):
    runner = Runner([build(data, 0)], [SplitData.of(data)], [CONFIG])
    for _ in runner.epochs():
        runner.leave([0])
        assert runner.over == []
    assert runner.epoch == 1


def test_labels_of_test_nodes_change_nothing(data):
    other = data.clone()
    other.y = torch.where(data.test_mask, (data.y + 1) % 3, data.y)

    def history(given):
        runner = Runner([build(given, 0)], [SplitData.of(given)], [CONFIG])
        for _ in runner.epochs(until=5):
            pass
        return runner.histories[0]

    assert len(history(data)) == 5
    assert history(data) == history(other)


def test_it_trains_up_to_an_epoch_and_goes_on(data):
    runner = Runner([build(data, 0)], [SplitData.of(data)], [CONFIG])
    assert len(list(runner.epochs(until=4))) == runner.epoch == 4
    assert list(runner.epochs(until=4)) == []
    assert list(runner.epochs(stop=lambda: True)) == []
    assert len(list(runner.epochs())) == 26
    assert runner.going == []


@pytest.mark.parametrize("norm", [None, "BatchNorm"])
def test_leaving_does_not_change_the_others(data, norm):
    def begin():
        configs = [replace(CONFIG, seed=seed) for seed in range(3)]
        models = [build(data, seed, norm=norm) for seed in range(3)]
        return Runner(models, [SplitData.of(data)] * 3, configs)

    whole, fewer = begin(), begin()
    for _ in whole.epochs():
        pass
    for _ in fewer.epochs(until=10):
        pass
    fewer.leave([])
    assert fewer.going == [0, 1, 2]
    fewer.leave([1])
    for _ in fewer.epochs():
        pass
    assert len(fewer.histories[1]) == 10
    for run in (0, 2):
        assert_close(torch.tensor(fewer.histories[run]), torch.tensor(whole.histories[run]))


def test_shapes_differ_in_all_but_rates(data):
    first = shape_of(build(data, 0), CONFIG)
    assert first == shape_of(build(data, 1, dropout=0.1), CONFIG)
    assert first != shape_of(build(data, 0, conv_dropout=0.3), CONFIG)  # random numbers of its own
    assert first == shape_of(build(data, 0), replace(CONFIG, learning_rate=0.5, seed=3))
    assert first != shape_of(build(data, 0, depth=3), CONFIG)
    assert first != shape_of(build(data, 0, activation="leaky_relu"), CONFIG)
    assert first != shape_of(
        build(data, 0, activation="selu"), CONFIG
    )  # settings like those of relu
    assert first != shape_of(build(data, 0), replace(CONFIG, patience=3))


def test_a_run_that_is_over_is_logged_with_its_backend(data, caplog):
    caplog.set_level(logging.DEBUG, "graphsct")
    run = fit(build(data, 0), data, CONFIG, progress=False)
    (line,) = (record.message for record in caplog.records)
    assert line.startswith("GCN, by the backend engine: 30 epochs in ")
    assert line.endswith(f"test score {run.test_score:.4f}")
