from dataclasses import replace

import pytest
import torch

from graphsct.nn import GCN
from graphsct.training import TrainConfig
from graphsct.training.data import SplitData
from graphsct.training.seeding import seeded
from graphsct.training.tracks import shape_of, tracks

CONFIG = TrainConfig(epochs=5, select="val_loss")


@pytest.fixture
def own(data):
    return SplitData.of(data)


def build(seed=0, **settings):
    with seeded(seed):
        return GCN(16, 8, 3, num_layers=2, **settings)


def test_runs_that_differ_in_their_rule_alone_have_one_track(own):
    configs = [CONFIG, replace(CONFIG, select="val_score"), CONFIG]
    assert tracks([build() for _ in range(3)], [own] * 3, configs) == [0, 0, 0]


def test_whatever_changes_the_weights_has_a_track_of_its_own(data, own):
    hooked = build()
    hooked.register_forward_hook(lambda *_: None)
    marked = build()
    marked.note = object()  # nobody knows whether it matters
    masks = own.val, own.train
    other = replace(own, train=masks[0], val=masks[1])
    runs = [
        (build(), own, CONFIG),
        (build(seed=1), own, CONFIG),
        (build(dropout=0.25), own, CONFIG),
        (build(), own, replace(CONFIG, seed=3)),
        (build(), other, CONFIG),
        (hooked, own, CONFIG),
        (marked, own, CONFIG),
        (build(residual=True), own, CONFIG),
        (build(), own, CONFIG),
    ]
    models, parts, configs = zip(*runs, strict=True)
    assert tracks(models, parts, configs) == [0, 1, 2, 3, 4, 5, 6, 7, 0]


def test_models_of_one_shape_may_differ_in_their_weights_and_rates():
    first = shape_of(build(dropout=0.5), CONFIG)
    assert first == shape_of(build(seed=1, dropout=0.25), replace(CONFIG, learning_rate=0.5))
    frozen = build(dropout=0.5)
    next(frozen.parameters()).requires_grad_(False)
    hooked = build(dropout=0.5)
    hooked.convs[0].register_forward_hook(lambda *_: None)
    for other in (frozen, hooked, build(dropout=0.0), build(dropout=0.5).double()):
        assert shape_of(other, CONFIG) != first
    assert shape_of(build(dropout=0.5), replace(CONFIG, patience=3)) != first
    assert shape_of(torch.nn.Linear(2, 2), CONFIG) != first
