import copy

import pytest
import torch
from torch.nn import functional as F
from torch.testing import assert_close
from torch_geometric.nn import PairNorm
from zoo import ZOO

from graphsct.datasets.splits import Split
from graphsct.engine.engine import Engine, supports
from graphsct.nn import GCN, GCNII, EnergeticGNN
from graphsct.training import TrainConfig

MODELS = {"GCN": GCN, "GCNII": GCNII, "EnergeticGNN": EnergeticGNN}
CONTROLS = (None, "pooled", "gated", "gated_full")
ACTIVATIONS = ("relu", "leaky_relu", "srelu", "elu", "selu", "tanh")


def random(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, dtype=torch.float64, generator=generator)


class Problem:
    """Two runs with splits of their own on a graph of the zoo."""

    def __init__(self, case, sparse=False):
        self.graph = case.graph()
        n = case.num_nodes
        self.x = random(n, 5)
        if sparse:
            self.x = (self.x * (self.x > 0)).to_sparse_csr()
        self.y = torch.arange(n) % 3
        place = torch.arange(n)
        self.splits = [
            Split(place % 3 == 0, place % 3 == min(1, n - 1), place % 3 == 2),
            Split(place % 2 == 0, place % 2 == min(1, n - 1), place > n),
        ]

    def models(self, name, layers=3, **settings):
        made = []
        for seed in range(2):
            torch.manual_seed(seed)
            m = self.graph.num_components
            model = MODELS[name](5, 4, 3, layers, num_components=m, **settings).double()
            for parameter in model.parameters():
                parameter.data.add_(torch.randn_like(parameter), alpha=0.3)
            made.append(model)
        return made

    def engine(self, models, *, configs=None, seeds=(0, 1)):
        configs = configs or [TrainConfig(conv_weight_decay=0.01)] * len(models)
        generators = [torch.Generator().manual_seed(seed) for seed in seeds[: len(models)]]
        splits = self.splits[: len(models)]
        return Engine(models, self.x, self.graph, self.y, splits, configs, generators)

    def loss(self, model, split):
        scores = model(self.x, self.graph)
        return F.cross_entropy(scores[split.train], self.y[split.train]) + model.penalty()


def check_gradients(problem, models):
    """The engine's losses and gradients are those of autograd; so is its evaluation."""
    engine = problem.engine(models)
    validated = engine.validate()
    losses = engine.descend()
    for run, (model, split) in enumerate(zip(models, problem.splits, strict=True)):
        with torch.no_grad():
            scores = model.eval()(problem.x, problem.graph)
        right = (scores.argmax(1) == problem.y).double()
        wanted = F.cross_entropy(scores[split.val], problem.y[split.val])
        assert_close(validated[0][run], wanted)
        assert_close(validated[1][run], right[split.train].mean())
        assert_close(validated[2][run], right[split.val].mean())
        loss = problem.loss(model.train(), split)
        loss.backward()
        assert_close(losses[run], loss.detach())
        grads = engine.gradients(run)
        for key, parameter in model.named_parameters():
            close = dict(rtol=1e-8, atol=1e-10, msg=lambda m, key=key: f"{key}: {m}")
            assert_close(grads[key], parameter.grad, **close)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("control", CONTROLS)
def test_gradients_are_those_of_autograd_on_the_whole_zoo(name, control, case):
    for sparse in (False, True):
        problem = Problem(case, sparse)
        check_gradients(problem, problem.models(name, control=control))


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("layers", [1, 2])
def test_gradients_with_every_activation(name, activation, layers):
    problem = Problem(ZOO["many_components"])
    models = problem.models(name, layers, control="gated", activation=activation)
    check_gradients(problem, models)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("activation", ["relu", "tanh", "srelu"])
@pytest.mark.parametrize("rates", [(0.5, 0.5), (0.3, 0.6)])
def test_gradients_with_dropout_are_finite_differences(name, activation, rates):
    problem = Problem(ZOO["many_components"], sparse=True)
    models = problem.models(name, control="gated", activation=activation)
    for model, rate in zip(models, rates, strict=True):
        model.dropout = model.conv_dropout = rate

    def losses(move=0.0, direction=None):
        moved = copy.deepcopy(models)
        for model in moved:
            for key, parameter in model.named_parameters():
                if direction is not None:
                    parameter.data.add_(direction[key], alpha=move)
        engine = problem.engine(moved)
        return engine.descend(), engine

    direction = {key: random(*p.shape, seed=9) for key, p in models[0].named_parameters()}
    _, engine = losses()
    difference = (losses(1e-6, direction)[0] - losses(-1e-6, direction)[0]) / 2e-6
    for run in range(2):
        grads = engine.gradients(run)
        slope = sum((grads[key] * direction[key]).sum() for key in grads)
        assert_close(slope, difference[run], rtol=1e-5, atol=1e-6)


def train(engine, epochs):
    return torch.stack([engine.descend() for _ in range(epochs)])


@pytest.mark.parametrize("name", MODELS)
def test_together_is_as_alone(name):
    problem = Problem(ZOO["weighted"], sparse=True)
    configs = [
        TrainConfig(learning_rate=0.01, conv_weight_decay=0.1),
        TrainConfig(learning_rate=0.05, dense_weight_decay=0.2),
    ]
    models = problem.models(name, control="pooled")
    for model, rate in zip(models, (0.5, 0.2), strict=True):
        model.dropout = model.conv_dropout = rate
    together = train(problem.engine(models, configs=configs), 15)
    for run in range(2):
        one = Problem(ZOO["weighted"], sparse=True)
        one.splits = [one.splits[run]]
        alone = train(one.engine([models[run]], configs=[configs[run]], seeds=[run]), 15)
        assert_close(together[:, run], alone[:, 0], rtol=1e-6, atol=1e-8)


def test_adam_is_that_of_torch():
    problem = Problem(ZOO["connected"])
    models = problem.models("GCN", activation="srelu")
    engine = problem.engine(models)
    train(engine, 20)
    for run, model in enumerate(models):
        groups = model.param_groups(conv_weight_decay=0.01, dense_weight_decay=5e-4)
        optimizer = torch.optim.Adam(groups, lr=0.01)
        for _ in range(20):
            optimizer.zero_grad()
            problem.loss(model, problem.splits[run]).backward()
            optimizer.step()
        for key, value in engine.current(run).items():
            assert_close(value, model.get_parameter(key).detach(), rtol=1e-6, atol=1e-8)


def test_a_run_that_leaves_changes_nothing_for_the_others():
    problem = Problem(ZOO["many_components"], sparse=True)
    models = problem.models("GCNII", control="gated", dropout=0.5)
    both, rest = problem.engine(models), problem.engine(models)
    train(both, 5)
    train(rest, 5)
    rest.remember(torch.tensor([True, False]))
    rest.remember(torch.tensor([False, True]))
    kept = rest.weights(1)
    rest.keep(torch.tensor([1]))
    assert_close(rest.weights(0), kept)
    assert_close(train(rest, 5)[:, 0], train(both, 5)[:, 1])


def test_state_of_one_run_goes_on_alone():
    problem = Problem(ZOO["many_components"], sparse=True)
    models = problem.models("GCN", control="pooled", dropout=0.5)
    both = problem.engine(models)
    train(both, 5)
    state = both.state(1)
    random_state = both.generators[1].get_state()
    expected = train(both, 5)[:, 1]
    problem.splits = problem.splits[1:]
    alone = problem.engine(models[1:])
    alone.restore(state)
    alone.generators[0].set_state(random_state)
    assert_close(train(alone, 5)[:, 0], expected)


OPTIONS = {
    "batch norm": dict(norm="BatchNorm"),
    "layer norm": dict(norm="LayerNorm"),
    "layer norm of nodes": dict(norm=torch.nn.LayerNorm(4)),
    "pair norm": dict(norm="PairNorm"),
    "pair norm of nodes": dict(norm=PairNorm(scale=2.0, scale_individually=True)),
    "mean subtraction": dict(norm="MeanSubtractionNorm"),
    "silu": dict(activation="silu"),
    "residual": dict(residual=True),
    "residual after a norm": dict(residual=True, norm="BatchNorm", activation="elu"),
    "concatenated layers": dict(jumping="cat"),
    "largest layers": dict(jumping="max"),
}


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("control", [None, "pooled", "gated"])
@pytest.mark.parametrize("name", MODELS)
def test_gradients_with_every_option(name, control, option):
    for sparse in (False, True):
        problem = Problem(ZOO["many_components"], sparse)
        models = problem.models(name, control=control, **OPTIONS[option])
        assert all(supports(model, problem.x, problem.graph) for model in models)
        check_gradients(problem, models)


@pytest.mark.parametrize("control", CONTROLS)
def test_gradients_with_a_bias(control):
    problem = Problem(ZOO["weighted"])
    models = problem.models("GCN", control=control)
    for model in models:
        for conv in model.convs:
            conv.bias = torch.nn.Parameter(random(4, seed=3))
    check_gradients(problem, models)


def test_running_moments_are_those_of_torch():
    problem = Problem(ZOO["path"])
    models = problem.models("GCN", norm="BatchNorm")
    engine = problem.engine(copy.deepcopy(models), configs=[TrainConfig(learning_rate=1e-12)] * 2)
    for _ in range(3):
        engine.descend()
    for run, model in enumerate(models):
        for _ in range(3):
            model(problem.x, problem.graph)
        found = engine.current(run)
        for key, value in model.named_buffers():
            assert_close(found[key], value)


def test_what_it_cannot_do_is_left_to_autograd():
    problem = Problem(ZOO["connected"])

    def supported(model):
        return supports(model.double(), problem.x, problem.graph)

    assert all(supported(model(5, 4, 3, 2)) for model in MODELS.values())
    assert not supported(torch.nn.Linear(2, 2))
    assert not supported(GCN(5, 4, 3, 2, norm="GraphNorm"))
    assert not supported(GCN(5, 4, 3, 2, activation=torch.nn.Softplus()))
    listened = GCN(5, 4, 3, 2)
    listened.convs[0].register_forward_hook(lambda *args: None)
    assert not supported(listened)
    frozen = GCN(5, 4, 3, 2)
    frozen.input.weight.requires_grad_(False)
    assert not supported(frozen)


def test_a_model_with_a_forward_of_its_own_is_recorded():
    class Child(GCN):
        def forward(self, x, edge_index):
            start = x = self.activations[0](self.input(x))
            for conv in self.convs:
                x = torch.tanh(conv(x, edge_index)) * 0.5 + start
            return self.output(x)

    problem = Problem(ZOO["many_components"])
    models = [Child(5, 4, 3, 2).double() for _ in range(2)]
    assert supports(models[0], problem.x, problem.graph)
    check_gradients(problem, models)
