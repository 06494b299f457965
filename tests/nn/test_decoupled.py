import pytest
import torch
from torch.testing import assert_close

from graphsct import ModelError, fit
from graphsct.nn import APPNP, DAGNN
from graphsct.training import ModelConfig, TrainConfig


def make(kind, **options):
    torch.manual_seed(4)
    return kind(3, 5, 2, num_layers=3, **options).double()


def predict(model, x):
    hidden = torch.relu(x @ model.input.weight.T + model.input.bias)
    return hidden @ model.output.weight.T + model.output.bias


def test_appnp_returns_to_its_predictions(graph, dense, x):
    model = make(APPNP, alpha=0.2)
    z = z_0 = predict(model, x)
    for _ in range(3):
        z = 0.8 * dense.G @ z + 0.2 * z_0
    scores, layers = model(x, graph, return_layers=True)
    assert_close(scores, z)
    assert_close(layers[0], z_0)
    assert len(layers) == 4


def test_dagnn_weighs_the_distances_of_each_node(graph, dense, x):
    model = make(DAGNN)
    z, expected = predict(model, x), 0
    for _ in range(4):
        expected = expected + torch.sigmoid(z @ model.retain.weight.T + model.retain.bias) * z
        z = dense.G @ z
    assert_close(model(x, graph), expected)


def test_all_weights_are_trained_and_drawn_anew():
    model = make(DAGNN)
    grouped = [weight for group in model.param_groups() for weight in group["params"]]
    assert {id(weight) for weight in grouped} == {id(weight) for weight in model.parameters()}
    before = model.retain.weight.clone()
    model.reset_parameters()
    assert not before.equal(model.retain.weight)


@pytest.mark.parametrize("name", ["appnp", "dagnn"])
def test_they_learn_the_demo_data(data, name):
    model = ModelConfig(model=name, depth=8, hidden=16).build(data)
    assert fit(model, data, TrainConfig(epochs=60)).val_score > 0.6


def test_options_of_convolutions_are_refused():
    with pytest.raises(ModelError, match="conv_dropout is not for appnp"):
        ModelConfig(model="appnp", conv_dropout=0.5)
    with pytest.raises(ModelError, match=r"alpha is 2\.0, expected a number in \[0, 1\]"):
        make(APPNP, alpha=2.0)
