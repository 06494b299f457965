import pytest
import torch
from recording import WIDTH, Net, Problem, check_gradients, random, shake
from torch.nn import functional as F
from torch_geometric.nn import Linear as GeometricLinear

from graphsct.nn import GCN2Conv, GCNConv
from graphsct.nn.convolution import Convolution, LinearForm
from graphsct.nn.linear import Linear


class ScaledConv(Convolution):
    r"""A user's convolution, :math:`\mathbf G \mathbf X (s \mathbf I + b \mathbf W)`."""

    def __init__(self, identity, weight_scale):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.eye(WIDTH))
        self.identity, self.weight_scale = identity, weight_scale

    def forward(self, x, edge_index):
        x = edge_index.propagate(x)
        return self.identity * x + self.weight_scale * (x @ self.weight)

    def linear_form(self):
        return LinearForm(self.weight, identity=self.identity, weight_scale=self.weight_scale)


@pytest.mark.parametrize("kind", [Linear, torch.nn.Linear])
@pytest.mark.parametrize("bias", [False, True])
def test_linear_layers(context, kind, bias):
    context.check(lambda net, x, graph: net.linear(x), linear=kind(WIDTH, WIDTH, bias=bias))


def test_a_linear_layer_of_another_width(context):
    context.check(lambda net, x, graph: net.linear(x), width=6, linear=torch.nn.Linear(WIDTH, 6))


def test_a_chain_of_linear_layers_over_one_array(context):
    def body(net, x, graph):
        return net.a(net.b(net.a(x))) + net.a(x)

    context.check(body, a=torch.nn.Linear(WIDTH, WIDTH), b=torch.nn.Linear(WIDTH, WIDTH))


@pytest.mark.parametrize("control", [None, "pooled", "gated"])
def test_a_bias_after_propagation(context, control):
    conv = GCNConv(WIDTH, WIDTH, control=control, num_components=3)
    context.check(lambda net, x, graph: net.conv(x, graph, x_0=x), conv=conv)


@pytest.mark.parametrize("numbers", [(0.0, 0.4), (0.7, 0.3), (0.5, 1.0), (0.0, 1.0)])
def test_every_mix_of_identity_and_weight(context, numbers):
    context.check(lambda net, x, graph: net.conv(x, graph), conv=ScaledConv(*numbers))


def test_mixed_matrices_of_several_widths():
    def body(net, x, graph):
        x = net.wide(x, x, graph)
        x = net.narrow(x)
        return net.small(x, x, graph)

    parts = dict(
        wide=GCN2Conv(WIDTH, 0.1, 0.5, 1),
        narrow=torch.nn.Linear(WIDTH, 2),
        small=GCN2Conv(2, 0.1, 0.5, 2),
    )
    check_gradients(Problem(), [shake(Net(body, 2, **parts), seed) for seed in range(2)])


def test_one_mixed_matrix_in_two_layers():
    def body(net, x, graph):
        return net.conv(torch.tanh(net.conv(x, x, graph)), x, graph)

    models = [shake(Net(body, conv=GCN2Conv(WIDTH, 0.1, 0.5, 1)), seed) for seed in range(2)]
    check_gradients(Problem(), models)


def test_a_weight_that_is_no_linear_layer_s_is_not_multiplied_by_from_the_other_side():
    own = Net(lambda net, x, graph: F.linear(x, net.a), a=torch.nn.Parameter(random(WIDTH, WIDTH)))
    geometric = Net(lambda net, x, graph: net.a(x), a=GeometricLinear(WIDTH, WIDTH))
    for model in (own, geometric):
        assert not Problem().supports(shake(model, 0))
