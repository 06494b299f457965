import pytest
import torch
from recording import Problem, check_gradients, shake
from torch.testing import assert_close
from torch_geometric.nn import PairNorm
from zoo import ZOO

from graphsct.nn import GCN, GCNII, EnergeticGNN
from graphsct.training import TrainConfig

MODELS = {"GCN": GCN, "GCNII": GCNII, "EnergeticGNN": EnergeticGNN}
CONTROLS = (None, "pooled", "gated", "gated_full", "bias", "normalized")
ACTIVATIONS = ("relu", "leaky_relu", "srelu", "elu", "selu", "tanh")


def build(name, problem, layers=3, **settings):
    """One model for each run."""
    m = problem.graph.num_components
    settings["control_options"] = {"first": 1}
    return [
        shake(MODELS[name](5, 4, 3, layers, num_components=m, **settings), seed)
        for seed in range(len(problem.splits))
    ]


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("control", CONTROLS)
def test_gradients_are_those_of_autograd_on_the_whole_zoo(name, control, case):
    problem = Problem(case, sparse=name == "GCN")
    check_gradients(problem, build(name, problem, control=control))


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("layers", [1, 2])
def test_gradients_with_every_activation(name, activation, layers):
    problem = Problem()
    models = build(name, problem, layers, control="gated", activation=activation)
    check_gradients(problem, models)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("activation", ["relu", "tanh", "srelu"])
@pytest.mark.parametrize("rates", [(0.5, 0.5), (0.3, 0.6)])
def test_gradients_with_dropout(name, activation, rates):
    problem = Problem(sparse=True)
    models = build(name, problem, control="gated", activation=activation)
    for model, rate in zip(models, rates, strict=True):
        model.dropout = model.conv_dropout = rate
    check_gradients(problem, models)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("control", CONTROLS)
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_gradients_in_another_order_of_the_nodes(name, control, sparse, case):
    problem = Problem(case, sparse=sparse, arranged=True)
    check_gradients(problem, build(name, problem, control=control, dropout=0.5, conv_dropout=0.3))


def train(engine, epochs):
    return torch.stack([engine.descend() for _ in range(epochs)])


@pytest.mark.parametrize("name", MODELS)
def test_together_is_as_alone(name):
    problem = Problem(ZOO["weighted"], sparse=True)
    configs = [
        TrainConfig(learning_rate=0.01, conv_weight_decay=0.1),
        TrainConfig(learning_rate=0.05, dense_weight_decay=0.2),
    ]
    models = build(name, problem, control="pooled")
    for model, rate in zip(models, (0.5, 0.2), strict=True):
        model.dropout = model.conv_dropout = rate
    together = train(problem.engine(models, configs=configs), 15)
    for run in range(2):
        one = Problem(ZOO["weighted"], sparse=True)
        one.splits = one.splits[run : run + 1]
        alone = train(one.engine([models[run]], configs=[configs[run]], seeds=[run]), 15)
        assert_close(together[:, run], alone[:, 0], rtol=1e-6, atol=1e-8)


def test_adam_is_that_of_torch():
    problem = Problem(ZOO["connected"])
    models = build("GCN", problem, activation="srelu")
    engine = problem.engine(models, configs=[TrainConfig(conv_weight_decay=0.01)] * 2)
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
    problem = Problem(sparse=True)
    models = build("GCNII", problem, control="gated", dropout=0.5)
    both, rest = (problem.engine(models, configs=[TrainConfig()] * 2) for _ in range(2))
    train(both, 5)
    train(rest, 5)
    rest.remember(torch.tensor([True, False]))
    rest.remember(torch.tensor([False, True]))
    kept = rest.weights(1)
    rest.keep(torch.tensor([1]))
    assert_close(rest.weights(0), kept)
    assert_close(train(rest, 5)[:, 0], train(both, 5)[:, 1])


def test_state_of_one_run_goes_on_alone():
    problem = Problem(sparse=True)
    models = build("GCN", problem, control="pooled", dropout=0.5)
    both = problem.engine(models, configs=[TrainConfig()] * 2)
    train(both, 5)
    state = both.state(1)
    random_state = both.generators[1].get_state()
    expected = train(both, 5)[:, 1]
    problem.splits = problem.splits[1:]
    alone = problem.engine(models[1:], configs=[TrainConfig()])
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
@pytest.mark.parametrize("control", [None, "gated"])
@pytest.mark.parametrize("name", MODELS)
def test_gradients_with_every_option(name, control, option):
    problem = Problem(sparse=True)
    check_gradients(problem, build(name, problem, control=control, **OPTIONS[option]))


def test_what_it_cannot_do_is_left_to_autograd():
    problem = Problem(ZOO["connected"])

    def supported(model):
        return problem.supports(model.double())

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

    problem = Problem()
    check_gradients(problem, [shake(Child(5, 4, 3, 2), seed) for seed in range(2)])
