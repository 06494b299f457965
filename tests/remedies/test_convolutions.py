import pytest
import torch
import torch_geometric.nn as pyg
from torch.testing import assert_close

from graphsct import ModelError
from graphsct.nn.wrap import Initial
from graphsct.remedies.convolutions import (
    ChangedConv,
    DroppedConv,
    InitialConv,
    NormalizedConv,
    ResidualConv,
    change_convolutions,
    hidden_widths,
    outputs_of,
)


class Net(torch.nn.Module):
    """Convolutions of given widths, the last one perhaps the output layer."""

    def __init__(self, *widths):
        super().__init__()
        sizes = zip((3, *widths), widths, strict=False)
        self.convs = torch.nn.ModuleList(pyg.GCNConv(a, b) for a, b in sizes).double()

    def forward(self, x, edge_index, edge_weight=None):
        for conv in self.convs:
            x = conv(x, edge_index, edge_weight=edge_weight).relu()
        return x


@pytest.fixture
def edges(case):
    return dict(zip(("edge_index", "edge_weight"), case.inputs(), strict=True))


@pytest.fixture
def conv(seed, dense):
    return pyg.GCNConv(3, 3, bias=False).double()


def convolve(dense, conv, x):
    return dense.G @ x @ conv.lin.weight.T


def test_without_a_change_it_is_the_convolution(conv, dense, x, edges):
    changed = ChangedConv(conv)
    assert_close(changed(x, **edges), convolve(dense, conv, x))
    assert changed(x=x, **edges).equal(changed(x, **edges))
    before = conv.lin.weight.clone()
    changed.reset_parameters()
    assert not before.equal(conv.lin.weight)


def test_residual(conv, dense, x, edges):
    assert_close(ResidualConv(conv)(x, **edges), convolve(dense, conv, x) + x)
    wider = pyg.GCNConv(3, 4).double()
    assert ResidualConv(wider)(x, **edges).equal(wider(x, **edges))


def test_initial(conv, dense, x, edges):
    initial = Initial()
    initial.take(torch.ones_like(x))
    found = InitialConv(conv, 0.25, initial)(x, **edges)
    assert_close(found, 0.75 * convolve(dense, conv, x) + 0.25)


def test_norm_and_dropout(conv, dense, x, edges):
    found = NormalizedConv(conv, pyg.MeanSubtractionNorm())(x, **edges)
    expected = convolve(dense, conv, x)
    assert_close(found, expected - expected.mean(0))
    dropped = DroppedConv(conv, 0.5, lambda x, rate, training: rate * x if training else x)
    assert_close(dropped(x, **edges), expected / 2)
    assert_close(dropped.eval()(x, **edges), expected)


def test_convolutions_with_several_results(x, edges):
    conv = pyg.GATConv(3, 3).double()
    (out, weights), (plain, others) = (
        each(x, edges["edge_index"], return_attention_weights=True)
        for each in (ResidualConv(conv), conv)
    )
    assert_close(out, plain + x)
    assert_close(weights[1], others[1])


def test_the_output_layer_stays(data):
    model = Net(8, 8, 3)
    change_convolutions(model, data, lambda conv, width: ResidualConv(conv))
    assert [type(conv) for conv in model.convs] == [ResidualConv, ResidualConv, pyg.GCNConv]
    change_convolutions(model, data, lambda conv, width: ChangedConv(conv), hidden=False)
    assert [type(conv) for conv in model.convs] == [ResidualConv, ResidualConv, ChangedConv]
    assert type(model.convs[0].conv) is ChangedConv


def test_the_number_of_outputs_comes_from_who_knows(data):
    assert outputs_of(Net(8, 8), data) == 3
    assert outputs_of(pyg.GCN(3, 8, 2, out_channels=5), None) == 5
    assert outputs_of(Net(8, 8, 5), None) == 5
    assert outputs_of(Net(8, 8), None) is None
    assert hidden_widths(Net(8, 6, 3), data) == [8, 6]


def test_a_model_without_a_hidden_convolution_is_refused(data):
    with pytest.raises(ModelError, match="Net has no hidden convolution that could be changed"):
        change_convolutions(Net(3), data, lambda conv, width: ChangedConv(conv))
