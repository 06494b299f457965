import math
from dataclasses import replace

import pytest
import torch
from torch.testing import assert_close

from graphsct import fit
from graphsct.datasets import demo
from graphsct.training import ModelConfig, TrainConfig
from graphsct.training.batch import Batch, shape_of
from graphsct.training.data import Problem
from graphsct.training.trial import seeded

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
    blind = Problem.of(data).blind()
    batch = Batch([build(data, seed) for seed in range(3)], [blind] * 3, configs)
    lost = []
    while batch.going:
        now = batch.step()
        lost += now
        over = batch.over
        best = {run: batch.best(run) for run in over}
        batch.leave({*now, *over})
    assert lost == [1]
    assert not math.isfinite(batch.histories[1][-1].val_loss)
    for run in (0, 2):
        alone = fit(build(data, run), data, configs[run], progress=False)
        together = torch.tensor(batch.histories[run])
        assert_close(torch.tensor(alone.history), together, rtol=1e-5, atol=1e-6)
        assert best[run].val_accuracy == alone.val_accuracy
        assert (best[run].best_epoch, best[run].epochs) == (alone.best_epoch, 30)


def test_labels_of_test_nodes_change_nothing(data):
    other = data.clone()
    other.y = torch.where(data.test_mask, (data.y + 1) % 3, data.y)

    def history(given):
        batch = Batch([build(given, 0)], [Problem.of(given)], [CONFIG])
        for _ in range(5):
            batch.step()
        return batch.histories[0]

    assert history(data) == history(other)


def test_leaving_with_nobody_changes_nothing(data):
    batch = Batch([build(data, 0)], [Problem.of(data)], [CONFIG])
    batch.step()
    engine = batch._engine.stack
    batch.leave([])
    assert batch.going == [0]
    assert batch._engine.stack is engine


def test_shapes_differ_in_all_but_rates(data):
    first = shape_of(build(data, 0), CONFIG)
    assert first == shape_of(build(data, 1, dropout=0.1), CONFIG)
    assert first != shape_of(build(data, 0, conv_dropout=0.3), CONFIG)  # random numbers of its own
    assert first == shape_of(build(data, 0), replace(CONFIG, learning_rate=0.5, seed=3))
    assert first != shape_of(build(data, 0, depth=3), CONFIG)
    assert first != shape_of(build(data, 0, activation="leaky_relu"), CONFIG)
    assert first != shape_of(build(data, 0), replace(CONFIG, patience=3))
