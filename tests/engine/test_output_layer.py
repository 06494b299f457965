import pytest
import torch
from recording import CLASSES, WIDTH, Net, Problem, check_gradients, shake
from torch.nn import functional as F

from graphsct.engine.tape import Unsupported
from graphsct.nn import GCN2Conv, GCNConv
from graphsct.nn.linear import dropout


class OutputNet(Net):
    """A net whose body computes the scores from the hidden features."""

    def forward(self, x, graph):
        return self.body(self, torch.tanh(self.input(x)), graph)


SCORES = {
    "a linear layer": lambda net, x, graph: net.output(x),
    "after dropout": lambda net, x, graph: net.output(dropout(x, 0.5, net.training, kind="output")),
    "after dropout of all nodes": lambda net, x, graph: net.output(dropout(x, 0.3, net.training)),
    "used before": lambda net, x, graph: net.output(
        torch.cat([x, net.output(torch.cat([x, x, x], dim=1))], dim=1)
    ),
}


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("runs", [1, 2])
@pytest.mark.parametrize("name", SCORES)
def test_loss_and_accuracies(name, runs, bias):
    models = []
    for seed in range(runs):
        model = OutputNet(SCORES[name])
        width = 3 * WIDTH if name == "used before" else WIDTH
        classes = 2 * WIDTH if name == "used before" else CLASSES
        model.output = torch.nn.Linear(width, classes, bias=bias)
        models.append(shake(model, seed))
    check_gradients(Problem(runs=runs), models)


@pytest.mark.parametrize("runs", [1, 2])
def test_a_convolution_may_give_the_scores(runs):
    models = [OutputNet(SCORES["a linear layer"]) for _ in range(runs)]
    for model in models:
        model.output = GCNConv(WIDTH, CLASSES, bias=False)
        model.body = lambda net, x, graph: net.output(x, graph)
    models = [shake(model, seed) for seed, model in enumerate(models)]
    check_gradients(Problem(runs=runs), models)


OTHER_SCORES = {
    "log_softmax": (lambda net, x, graph: F.log_softmax(net.output(x), dim=1), None),
    "an activation": (lambda net, x, graph: torch.tanh(net.output(x)), None),
    "a sum": (lambda net, x, graph: net.output(x) + net.output(torch.tanh(x)), None),
    "a biased convolution": (
        lambda net, x, graph: net.output(x, graph),
        lambda: GCNConv(WIDTH, CLASSES),
    ),
    "a convolution that mixes weight and identity": (
        lambda net, x, graph: net.output(x, x, graph),
        lambda: GCN2Conv(WIDTH, 0.1, 0.5, 1),
    ),
    "a controlled convolution": (
        lambda net, x, graph: net.output(x, graph),
        lambda: GCNConv(WIDTH, CLASSES, bias=False, control="pooled", num_components=3),
    ),
}


@pytest.mark.parametrize("name", OTHER_SCORES)
def test_other_scores_are_left_to_autograd(name):
    body, output = OTHER_SCORES[name]
    model = OutputNet(body)
    if output is not None:
        model.output = output()
    problem = Problem(runs=1)
    problem.loss(shake(model, 0), problem.splits[0])  # autograd can
    assert not problem.supports(model)
    with pytest.raises(Unsupported):
        problem.engine([model])
