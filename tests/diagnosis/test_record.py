from contextlib import nullcontext

import pytest
import torch
from faulty import Deep
from torch.nn import functional as F
from torch_geometric.nn import GCN, GATConv, GCNConv

from graphsct import nn
from graphsct.diagnosis.record import Recorder
from graphsct.errors import ModelError

pytestmark = pytest.mark.usefixtures("seed")


def record(model, data, names=None, x=None):
    names = names or [f"convs.{i}" for i in range(len(model.convs))]
    with Recorder(model, names, data.num_nodes) as recorder:
        out = model(data.x if x is None else x, data.edge_index)
    return recorder, out


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (F.relu, "ReLU()"),
        (F.relu_, "ReLU()"),
        (F.elu, "ELU(alpha=1.0)"),
        (F.selu, "SELU()"),
        (lambda x: F.leaky_relu(x, 0.2), "LeakyReLU(negative_slope=0.2)"),
        (torch.nn.LeakyReLU(0.05), "LeakyReLU(negative_slope=0.05)"),
        (torch.tanh, "None"),
        (lambda x: x, "None"),
    ],
)
def test_activations_are_seen_even_if_they_are_functions(data, after, expected):
    model = Deep(2, after=after)
    recorder, _ = record(model, data)
    expected_outputs = model.convs[0](data.x, data.edge_index)
    layer = recorder.layers()[0]
    assert str(layer.activation) == expected
    assert layer.where == "input of convs.1"
    assert torch.equal(layer.features, after(expected_outputs.clone()))
    if expected == "None":
        assert layer.before is None
    else:
        assert torch.equal(layer.before, expected_outputs)


def test_a_norm_between_convolution_and_activation(data):
    model = GCN(16, 8, 2, 3, norm="layer_norm", act="relu").eval()
    recorder, _ = record(model, data)
    z = model.norms[0](model.convs[0](data.x, data.edge_index))
    first, last = recorder.layers()
    assert torch.equal(first.before, z)
    assert torch.equal(first.features, z.relu())
    assert (last.where, last.activation) == ("output", None)


def test_the_last_layer_hands_on_to_the_head(data):
    model = Deep(2)
    torch.nn.init.xavier_uniform_(model.convs[1].lin.weight)
    recorder, _ = record(model, data)
    layer = recorder.layers()[-1]
    assert layer.where == "input of head"
    assert str(layer.activation) == "ReLU()"
    ours = nn.GCNII(16, 8, 3, 4).eval()
    _, hidden = ours(data.x, data.graph, return_layers=True)
    recorder, _ = record(ours, data)
    for found, expected in zip(recorder.layers(), hidden[1:], strict=True):
        assert torch.equal(found.features, expected)
        assert str(found.activation) == "ReLU()"
    assert recorder.layers()[-1].where == "input of output"


class Branches(torch.nn.Module):
    """Two convolutions side by side, one of them used twice, and a linear way round."""

    def __init__(self):
        super().__init__()
        self.a, self.b = GCNConv(16, 16), GCNConv(16, 16)
        self.skip = torch.nn.Linear(16, 16)

    def forward(self, x, edge_index):
        left = self.a(x=x, edge_index=edge_index)
        right = self.b(x, edge_index) + self.skip(x)
        return self.a((left + right).relu(), edge_index)


def test_what_does_not_come_from_a_layer_is_not_its_features(data):
    recorder, _ = record(Branches(), data, ["a", "b"])
    layers = recorder.layers()
    assert [layer.name for layer in layers] == ["a", "b", "a (2)"]
    assert [layer.where for layer in layers] == ["output", "input of a", "output"]


def test_tuples_and_frozen_weights(data):
    class Attention(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.convs = torch.nn.ModuleList([GATConv(16, 8), GATConv(8, 3)])

        def forward(self, x, edge_index):
            x, _ = self.convs[0](x, edge_index, return_attention_weights=True)
            return self.convs[1](F.relu_(x), edge_index)

    model = Attention().requires_grad_(False)
    recorder, out = record(model, data)
    first = recorder.layers()[0]
    assert str(first.activation) == "ReLU()"
    (gradient,) = torch.autograd.grad(out.sum(), first.features, retain_graph=True)
    assert gradient.abs().sum() > 0
    assert torch.autograd.grad(out.sum(), recorder.entry)[0].abs().sum() > 0
    assert not any(weight.requires_grad for weight in model.parameters())


def test_the_model_computes_what_it_always_does(data):
    model = GCN(16, 8, 5, 3, norm="graph_norm", jk="cat").eval()
    expected = model(data.x, data.edge_index)
    _, out = record(model, data)
    assert torch.equal(out, expected)
    assert not data.x.requires_grad
    for part in model.modules():
        assert not part._forward_hooks
        assert not part._forward_pre_hooks


def test_hooks_go_when_the_model_fails(data):
    model = Deep(2)
    with pytest.raises(RuntimeError, match="mat1 and mat2"):
        record(model, data, x=torch.rand(data.num_nodes, 5))
    assert not any(part._forward_hooks or part._forward_pre_hooks for part in model.modules())


def test_a_training_step_inside_is_the_same(data):
    """With dropout, the gradients too, and the features are those of this very step."""

    def step(recording):
        torch.manual_seed(0)
        model = GCN(16, 8, 3, 3, dropout=0.5)
        with recording(model) as recorder:
            loss = F.cross_entropy(model(data.x, data.edge_index), data.y)
        loss.backward()
        return recorder, loss, [weight.grad for weight in model.parameters()]

    _, loss, gradients = step(nullcontext)
    recorder, same, others = step(lambda model: Recorder(model, ["convs"], data.num_nodes))
    layers = recorder.layers()
    assert torch.equal(loss, same)
    assert all(map(torch.equal, gradients, others))
    assert [layer.name for layer in layers] == ["convs.0", "convs.1", "convs.2"]
    assert (layers[0].features == 0).double().mean() > 0.6  # ReLU and dropout


def test_an_unknown_layer_is_named(data):
    with pytest.raises(ModelError, match=r"GCN has no part 'conv', did you mean 'convs'"):
        Recorder(GCN(16, 8, 2, 3), ["conv"], data.num_nodes)
