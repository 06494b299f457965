import random

import pytest
import torch
from recording import WIDTH, Net, Problem, check_gradients, shake
from torch.nn import functional as F

from graphsct.engine.tape import Unsupported
from graphsct.nn import GCN, GCN2Conv, GCNConv
from graphsct.nn.controls import CONTROLS
from graphsct.nn.convolution import Convolution, LinearForm


class Control(torch.nn.Module):
    """The base of controls as users would register them."""

    needs_initial, needs_components, in_eigenspace, search_space = False, False, True, {}

    def __init__(self, channels, num_components, beta):
        super().__init__()
        self.reset_parameters(channels)

    def reset_parameters(self, channels=WIDTH):
        """Nothing, if there are no weights."""


class Weighted(Control):
    def reset_parameters(self, channels=WIDTH):
        self.linear = torch.nn.Linear(channels, channels)


class Mapped(Weighted):
    def forward(self, pooled, initial):
        return torch.tanh(self.linear(pooled))


class Shifted(Control):
    def reset_parameters(self, channels=WIDTH):
        self.shift = torch.nn.Parameter(torch.zeros(channels))

    def forward(self, pooled, initial):
        return pooled * 0.5 + self.shift


class Same(Control):
    def forward(self, pooled, initial):
        return pooled


class Residual(Weighted):
    def forward(self, pooled, initial):
        return pooled + self.linear(pooled)


class Initial(Weighted):
    needs_initial = True

    def forward(self, pooled, initial):
        return self.linear(initial)


class InitialSame(Control):
    needs_initial = True

    def forward(self, pooled, initial):
        return initial


class Chain(Weighted):
    needs_initial = True

    def forward(self, pooled, initial):
        return F.elu(pooled * torch.sigmoid(self.linear(initial)) + pooled)


class Unknown(Weighted):
    def forward(self, pooled, initial):
        return F.softplus(self.linear(pooled))


class Constant(Shifted):
    def forward(self, pooled, initial):
        return self.shift.expand(len(pooled), -1)


@pytest.mark.parametrize("kind", [Mapped, Shifted, Same, Residual, Initial, InitialSame, Chain])
def test_a_new_control_of_known_operations_is_recorded(context, monkeypatch, kind):
    monkeypatch.setitem(CONTROLS, "own", kind)

    def body(net, x, graph):
        return net.b(torch.tanh(net.a(x, graph, x_0=x)), x, graph)

    a = GCNConv(WIDTH, WIDTH, bias=False, control="own")
    context.check(body, a=a, b=GCN2Conv(WIDTH, 0.2, 0.5, 1, control="own"))


@pytest.mark.parametrize("kind", [Unknown, Constant])
def test_a_new_control_of_other_operations_is_left_to_autograd(monkeypatch, kind):
    monkeypatch.setitem(CONTROLS, "own", kind)
    problem = Problem()
    model = shake(GCN(5, 4, 3, 2, control="own"), 0)
    problem.loss(model, problem.splits[0])
    assert not problem.supports(model)


class Halved(Convolution):
    r"""A user's convolution, :math:`(\mathbf G / 2 + \mathbf I) \mathbf X \mathbf W`."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.eye(WIDTH))

    def forward(self, x, edge_index):
        return (0.5 * edge_index.propagate(x) + x) @ self.weight


class LinearHalved(Halved):
    def linear_form(self):
        return LinearForm(self.weight, propagated=0.5, kept=1.0)


class TracedHalved(Halved):
    """Without a linear form, but with operations that are known."""

    def forward(self, x, edge_index):
        return (0.5 * edge_index.propagate(x) + x) * 2


def test_a_convolution_of_the_user_is_recorded_by_its_linear_form(context):
    context.check(lambda net, x, graph: net.conv(x, graph), conv=LinearHalved())


def test_a_convolution_without_a_linear_form_is_traced_if_its_operations_are_known(context):
    conv = TracedHalved()
    del conv.weight
    context.check(lambda net, x, graph: net.conv(x, graph), conv=conv)


def refused(body, message, **parts):
    """The model is supported by autograd, and the engine says why it does not."""
    problem, model = Problem(runs=1), shake(Net(body, **parts), 0)
    problem.loss(model, problem.splits[0]).backward()
    assert not problem.supports(model)
    with pytest.raises(Unsupported, match=message):
        problem.engine([model])


def test_a_convolution_without_a_linear_form_is_left_to_autograd_otherwise():
    class Bent(Halved):
        def forward(self, x, edge_index):
            return F.softplus(edge_index.propagate(x)) * self.weight[0]

    refused(lambda net, x, graph: net.conv(x, graph), "softplus", conv=Bent())


def test_an_unknown_function_is_left_to_autograd():
    refused(lambda net, x, graph: F.gelu(x), "gelu")


def test_an_unused_parameter_is_left_to_autograd():
    refused(lambda net, x, graph: x, "spare.bias, spare.weight", spare=torch.nn.Linear(2, 2))


def test_coordinates_become_features_in_a_control_alone():
    refused(lambda net, x, graph: x + graph.project(x), "in a control alone")


def test_dropout_of_torch_is_left_to_autograd():
    refused(lambda net, x, graph: F.dropout(x, 0.5, net.training), "dropout")


DRAWS = {"torch": lambda: torch.rand(()).item(), "python": random.random}


@pytest.mark.parametrize("name", DRAWS)
def test_a_forward_pass_that_draws_random_numbers_is_left_to_autograd(name):
    """Stochastic depth, for example, whose layers would be chosen once and for all."""
    model = shake(Net(lambda net, x, graph: x * 2 if DRAWS[name]() < 0.5 else x), 0)
    state = torch.get_rng_state(), random.getstate()
    assert not Problem().supports(model)
    assert torch.equal(torch.get_rng_state(), state[0])
    assert random.getstate() == state[1]


def test_modules_are_left_as_they_were():
    model = shake(Net(lambda net, x, graph: net.part(x), part=torch.nn.Tanh()), 0)
    before = dict(model.named_modules())
    check_gradients(Problem(runs=1), [model.eval()])
    assert dict(model.named_modules()) == before
    assert not model.training
