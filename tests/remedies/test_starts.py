import pytest
import torch
import torch_geometric.nn as pyg
from torch.testing import assert_close

from graphsct import ModelError
from graphsct.nn import GCN, EnergeticGNN
from graphsct.remedies import REMEDIES
from graphsct.training import ModelConfig, TrainConfig

D = 200


def weights(name, data, value=None):
    """The square weights of a configured model, and of one of ours and PyG's after the change."""
    torch.manual_seed(0)
    remedy = REMEDIES[name]
    configured, _ = remedy.configure(ModelConfig(depth=2, hidden=D), TrainConfig(), value)
    yield configured.build(data).convs[1].lin.weight
    yield remedy.apply(GCN(3, D, 2, num_layers=2, init="uniform"), value=value).convs[1].lin.weight
    yield remedy.apply(pyg.GCN(3, D, 3, 2), value=value).convs[1].lin.weight
    yield remedy.apply(pyg.GAT(3, D, 3, 2), value=value).convs[1].lin.weight


def test_identity(data):
    for weight in weights("identity", data):
        assert weight.equal(torch.eye(D))


def test_glorot_has_its_bound_and_variance(data):
    for weight in weights("glorot", data):
        assert weight.abs().max() <= (6 / (2 * D)) ** 0.5
        assert_close(weight.var().item(), 1 / D, rtol=0.03, atol=0)


def test_orthogonal(data):
    for weight in weights("orthogonal", data):
        assert_close(weight @ weight.T, torch.eye(D), rtol=0, atol=1e-4)


@pytest.mark.parametrize("gain", [2.0, 4.0])
def test_large_variance(data, gain):
    for weight in weights("large_variance", data, gain):
        assert_close(weight.var().item(), gain**2 / D, rtol=0.05, atol=0)
    remedy = REMEDIES["large_variance"]
    model, _ = remedy.configure(ModelConfig(), TrainConfig())
    assert model.activation == "tanh"  # ReLU would only scale the features


def test_a_large_variance_keeps_features_apart_where_a_small_one_does_not(data):
    """The mean-field theory's claim, for a bounded activation."""

    def spread(gain):
        torch.manual_seed(0)
        model = ModelConfig(
            depth=32, hidden=D, init="normal", activation="tanh", options={"gain": gain}
        ).build(data)
        last = model(data.x, data.graph, return_layers=True)[1][-1]
        return ((last - data.graph.project(last)).norm() / last.norm()).item()

    assert spread(4.0) > 0.3
    assert spread(0.9) < 0.01


def test_the_decay_of_convolutions_is_a_setting_of_training():
    train = TrainConfig(conv_weight_decay=0.1, dense_weight_decay=0.2)
    _, changed = REMEDIES["no_decay"].configure(ModelConfig(), train)
    assert (changed.conv_weight_decay, changed.dense_weight_decay) == (0.0, 0.2)


def test_the_warm_up_is_a_setting_of_training():
    remedy = REMEDIES["warm_up"]
    model, changed = remedy.configure(ModelConfig(), TrainConfig(learning_rate=0.1), 50)
    assert (model, changed) == (ModelConfig(), TrainConfig(learning_rate=0.1, warm_up=50))
    assert remedy.configure(ModelConfig(), TrainConfig())[1].rate(5) == 0.01 * 5 / 20


def test_weights_that_cannot_start_so_are_named():
    with pytest.raises(ModelError, match="GCN has no convolution whose weight is a square matrix"):
        REMEDIES["identity"].apply(pyg.GCN(3, 8, 2, 2))
    with pytest.raises(ModelError, match="EGNN has first weights of its own"):
        REMEDIES["identity"].apply(EnergeticGNN(3, 8, 2, 2))
