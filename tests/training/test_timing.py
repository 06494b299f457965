import pytest

from graphsct import nn
from graphsct.datasets import demo
from graphsct.training import TrainConfig
from graphsct.training.seeding import seeded
from graphsct.training.timing import alternate, epoch_of


def test_alternate_takes_turns():
    calls = []
    times = alternate([lambda: calls.append("a"), lambda: calls.append("b")], 60.0, 4)
    assert calls == ["a", "b"] * 6
    assert len(times) == 2
    assert min(times) >= 0


@pytest.mark.parametrize("name", ["GCN", "GCNII"])
def test_an_epoch_trains_and_evaluates(name):
    data = demo()
    with seeded(0):
        model = getattr(nn, name)(data.num_features, 8, data.num_classes, 2)
    epoch = epoch_of(model, data, TrainConfig(learning_rate=0.01))
    first, *_, last = [epoch()[1] for _ in range(30)]
    assert last.val_loss < first.val_loss
