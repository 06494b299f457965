import pytest
import torch
from recording import WIDTH, Net, Problem, check_gradients, shake
from torch.nn import functional as F
from zoo import ZOO

from graphsct.engine.engine import refusal
from graphsct.nn import GCN, GCNConv

ACTIVATIONS = {
    "relu": (torch.nn.ReLU(), F.relu),
    "leaky_relu": (torch.nn.LeakyReLU(0.3), lambda x: F.leaky_relu(x, 0.3)),
    "elu": (torch.nn.ELU(), F.elu),
    "selu": (torch.nn.SELU(), F.selu),
}


def conv(name="relu", **options):
    own = {"activation": ACTIVATIONS[name][0], **options}
    return GCNConv(WIDTH, WIDTH, control="target", control_options=own)


@pytest.mark.parametrize("source", ["fixed", "learned"])
@pytest.mark.parametrize("rescale", [None, False])
def test_a_convolution_with_the_wanted_smoothness(context, source, rescale):
    options = dict(source=source, rescale=rescale)
    context.check(lambda net, x, graph: F.relu(net.conv(x, graph)), conv=conv(**options))


@pytest.mark.parametrize("source", ["fixed", "learned"])
@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("place", ["connected", "many_components", "star", "weighted", "two_nodes"])
def test_every_activation_on_graphs_with_components_that_cannot_reach_it(place, name, source):
    def body(net, x, graph):
        return ACTIVATIONS[name][1](net.conv(x, graph))

    own = conv(name, source=source, target=0.75)
    models = [shake(Net(body, conv=own), seed) for seed in range(2)]
    check_gradients(Problem(ZOO[place]), models)


def test_dead_channels_have_no_gradient():
    own = conv()
    models = [shake(Net(lambda net, x, graph: net.conv(x, graph), conv=own), s) for s in range(2)]
    for model in models:
        torch.nn.init.zeros_(model.conv.lin.weight[:, :2])
    check_gradients(Problem(), models)


def test_a_deep_model_is_recorded():
    problem = Problem()
    options = {"target": 0.6, "source": "learned"}
    models = [
        shake(GCN(5, 4, 3, num_layers=4, dropout=0.5, control="target", control_options=options), s)
        for s in range(2)
    ]
    check_gradients(problem, models)


def test_a_smoothness_that_is_read_is_left_to_autograd():
    model = shake(Net(lambda net, x, graph: net.conv(x, graph), conv=conv(source="read")), 0)
    problem = Problem(runs=1)
    problem.loss(model, problem.splits[0])
    assert (
        refusal(model, problem.x, problem.graph)
        == "its forward pass cannot be recorded (a smoothness that is read from the features)"
    )
