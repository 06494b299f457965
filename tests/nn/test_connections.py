import pytest
import torch
from models import make
from torch.testing import assert_close

from graphsct import ModelError
from graphsct.nn import GCN
from graphsct.nn.connections import make_connections


def layers_of(graph, dense, x, connect, **options):
    """The layers of a model, and those by a dense formula ``connect(model, l, new, before)``."""
    model = make(GCN, graph, init="glorot", activation="tanh", **options)
    layers = [torch.tanh(x @ model.input.weight.T + model.input.bias)]
    for number, conv in enumerate(model.convs):
        new = torch.tanh(dense.G @ layers[-1] @ conv.lin.weight.T)
        layers.append(connect(model, number, new, layers))
    return model(x, graph, return_layers=True)[1], layers


def test_initial_connections_add_a_share_of_the_first_features(graph, dense, x):
    found, expected = layers_of(
        graph,
        dense,
        x,
        lambda model, number, new, before: 0.8 * new + 0.2 * before[0],
        residual="initial",
        residual_options={"share": 0.2},
    )
    assert_close(found, expected)


def test_dense_connections_map_the_features_of_all_layers(graph, dense, x):
    def connect(model, number, new, before):
        linear = model.connections[number].linear
        return torch.cat([*before, new], dim=1) @ linear.weight.T + linear.bias

    assert_close(*layers_of(graph, dense, x, connect, residual="dense"))


def test_gradient_gating_stops_nodes_that_agree_with_their_neighbours(graph, dense, x):
    def connect(model, number, new, before):
        gates = torch.zeros_like(new)
        for i, j in (dense.adjacency > 0).nonzero().tolist():
            gates[i] += (new[j] - new[i]).abs() ** 2
        return (1 - gates.tanh()) * before[-1] + gates.tanh() * new

    assert_close(*layers_of(graph, dense, x, connect, residual="gradient_gating"))


def test_weights_of_connections_are_trained_and_drawn_anew():
    model = GCN(3, 4, 2, num_layers=2, residual="dense")
    (conv,) = (group["params"] for group in model.param_groups() if group["name"] == "conv")
    weight = model.connections[0].linear.weight
    assert any(each is weight for each in conv)
    before = weight.clone()
    model.reset_parameters()
    assert not before.equal(weight)


def test_options_that_nothing_takes_are_refused():
    with pytest.raises(ModelError, match=r"residual_options are .* but residual=True has none"):
        make_connections(True, 4, 2, {"share": 0.1})
    with pytest.raises(ModelError, match=r"initial cannot be built: .*shar"):
        make_connections("initial", 4, 2, {"shar": 0.1})
    with pytest.raises(ModelError, match=r"share is 1\.5, expected a number in \[0, 1\]"):
        make_connections("initial", 4, 2, {"share": 1.5})
