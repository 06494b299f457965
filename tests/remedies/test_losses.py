from graphsct.nn import EnergeticGNN
from graphsct.remedies import REMEDIES
from graphsct.training import ModelConfig, TrainConfig


def test_egnn_penalises_the_distance_from_a_scaled_identity(data):
    base = ModelConfig(depth=3, hidden=4)
    config, _ = REMEDIES["egnn"].configure(base, TrainConfig(), 0.5)
    model = config.build(data)
    assert isinstance(model, EnergeticGNN)
    assert config.c_max == 0.5
    assert model.penalty() == 0
    model.convs[1].weight.data[0, 1] += 3
    assert model.penalty().item() == 3 * model.penalty_weight
