import pytest

from graphsct.remedies import REMEDIES
from graphsct.training import ModelConfig, TrainConfig


def test_none_changes_nothing():
    model, train = ModelConfig(depth=7, norm="BatchNorm"), TrainConfig(epochs=3)
    assert REMEDIES["none"].configure(model, train) == (model, train)


@pytest.mark.parametrize(("depth", "wanted", "found"), [(16, None, 2), (16, 4, 4), (3, 4, 3)])
def test_shallower_is_never_deeper(depth, wanted, found):
    model, _ = REMEDIES["shallower"].configure(ModelConfig(depth=depth), TrainConfig(), wanted)
    assert model.depth == found
