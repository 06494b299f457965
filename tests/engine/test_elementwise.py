import pytest
import torch
from recording import WIDTH, Net, Problem, check_gradients, random, shake
from torch.nn import functional as F


def vector(seed):
    return torch.nn.Parameter(random(WIDTH, seed=seed))


def read_again(x):
    """A residual connection whose branch and sum are both read later."""
    branch = torch.tanh(x)
    return (branch + x) * branch


OPERATIONS = {
    "relu": lambda x: F.relu(x),
    "relu of torch": lambda x: torch.relu(x),
    "leaky relu": lambda x: F.leaky_relu(x, 0.2),
    "elu": lambda x: F.elu(x, alpha=1.3),
    "selu": lambda x: F.selu(x),
    "silu": lambda x: F.silu(x),
    "tanh": lambda x: torch.tanh(x),
    "sigmoid": lambda x: torch.sigmoid(x),
    "softmax": lambda x: torch.softmax(x, dim=1),
    "softmax of functional": lambda x: F.softmax(x, dim=-1),
    "number": lambda x: x * -0.7,
    "one": lambda x: x * 1,
    "square": lambda x: x * x,
    "gate": lambda x: torch.sigmoid(x) * x,
    "sum with itself": lambda x: x + x,
    "residual": lambda x: torch.tanh(x) + x,
    "residual on the left": lambda x: x + torch.tanh(x),
    "residual that is read again": read_again,
    "residual whose input is read again": lambda x: (torch.tanh(x) + x) * x,
    "lerp": lambda x: torch.lerp(torch.tanh(x), x, 0.3),
    "lerp to itself": lambda x: torch.lerp(x, x, 0.3),
    "maximum": lambda x: torch.maximum(torch.tanh(x), x * -1),
    "chain": lambda x: F.silu(F.elu(torch.tanh(F.relu(x * 2) + x)) * x),
}
WITH_WEIGHTS = {
    "factor": lambda net, x: x * net.a,
    "factor on the left": lambda net, x: torch.mul(net.a, x),
    "sum": lambda net, x: torch.tanh(x) + net.a,
    "sum on the left": lambda net, x: net.a + x,
    "maximum": lambda net, x: torch.maximum(x, net.a),
    "one weight in two places": lambda net, x: (x * net.a + net.a) * net.a,
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_operations(context, name):
    context.check(lambda net, x, graph: OPERATIONS[name](x))


@pytest.mark.parametrize("name", WITH_WEIGHTS)
def test_operations_with_a_weight(context, name):
    context.check(lambda net, x, graph: WITH_WEIGHTS[name](net, x), a=vector(1))


def test_scale_and_shift_in_one(context):
    context.check(
        lambda net, x, graph: torch.addcmul(net.b, net.a, x) + torch.addcmul(net.b, x, net.a),
        a=vector(1),
        b=vector(2),
    )


def test_concatenation(context):
    context.check(lambda net, x, graph: torch.cat([x, torch.tanh(x), x], dim=1), width=3 * WIDTH)


UNSUPPORTED = {
    "a function that is not recorded": lambda net, x: F.softplus(x),
    "softmax over nodes": lambda net, x: torch.softmax(x, dim=0),
    "a sum with a number": lambda net, x: x + 1,
    "a sum with a factor": lambda net, x: torch.add(x, x, alpha=2),
    "addcmul with a factor": lambda net, x: torch.addcmul(x, x, x, value=2),
    "a constant": lambda net, x: x * torch.ones(WIDTH),
    "a matrix of factors": lambda net, x: x * torch.ones(len(x), WIDTH),
    "lerp by a tensor": lambda net, x: torch.lerp(x, x, torch.tensor(0.5)),
    "a negative slope": lambda net, x: F.leaky_relu(x, -0.5),
    "an elu with a negative alpha": lambda net, x: F.elu(x, alpha=-0.5),
}
UNEQUAL = {
    "product": lambda net, x: net.gate(x) * x,
    "sum": lambda net, x: x + net.gate(x),
    "lerp": lambda net, x: torch.lerp(x, net.gate(x), 0.5),
    "maximum": lambda net, x: torch.maximum(x, net.gate(x)),
}
SHORT = {
    "factor": lambda net, x: x * net.short,
    "sum": lambda net, x: x + net.short,
    "maximum": lambda net, x: torch.maximum(x, net.short),
    "scale and shift": lambda net, x: torch.addcmul(net.short, net.short, x),
}


def refused(body, **parts):
    model = shake(Net(lambda net, x, graph: body(net, x), **parts), 0)
    problem = Problem(runs=1)
    problem.loss(model, problem.splits[0])  # autograd can
    return not problem.supports(model)


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_what_is_left_to_autograd(name):
    assert refused(UNSUPPORTED[name])


@pytest.mark.parametrize("name", UNEQUAL)
def test_arrays_of_unequal_width_are_left_to_autograd(name):
    assert refused(UNEQUAL[name], gate=torch.nn.Linear(WIDTH, 1))


@pytest.mark.parametrize("name", SHORT)
@pytest.mark.parametrize("shape", [(), (1,)])
def test_a_weight_that_is_not_one_per_channel_is_left_to_autograd(name, shape):
    assert refused(SHORT[name], short=torch.nn.Parameter(torch.ones(shape)))


def test_a_concatenation_with_a_constant_is_left_to_autograd():
    def body(net, x):
        return torch.cat([x, torch.ones(len(x), 1, dtype=torch.float64)], dim=1)

    assert refused(body, width=WIDTH + 1)


def test_an_activation_in_place_is_seen_by_those_who_read_its_input_later():
    def residual(net, x, graph):
        start = torch.tanh(x) * 1
        return F.relu(start, inplace=True) + start

    problem = Problem(runs=1)
    model = shake(Net(residual), 0)
    assert not problem.supports(model)
    harmless = shake(Net(lambda net, x, graph: F.relu(x, inplace=True)), 0)
    check_gradients(problem, [harmless])
