import math

import pytest
import torch
from torch.testing import assert_close
from zoo import ZOO

from graphsct import Graph, ModelError
from graphsct.nn import GCN, GCNII, EnergeticGNN, SmoothnessControl
from graphsct.smoothness import distance_to_eigenspace

KINDS = ("pooled", "gated", "gated_full")


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture
def x_0(x):
    return torch.flip(x, [1]) + 0.3


def random_control(kind, m, channels=3, layer=2):
    control = SmoothnessControl(channels, kind, num_components=m, theta=0.7, layer=layer).double()
    generator = torch.Generator().manual_seed(3)
    for parameter in control.parameters():
        parameter.data.normal_(generator=generator)
    return control


def dense_term(control, dense, x, x_0):
    """The formulas of the paper with a dense Q, features as rows."""
    h, h_0 = dense.Q.T @ x, dense.Q.T @ x_0
    p = dict(control.coefficients.named_parameters())
    beta = math.log(0.7 / 2 + 1)
    if control.kind == "pooled":
        return dense.Q @ (p["weight"] * h + p["bias"])
    if control.kind == "gated":
        mapped = (beta * h_0 + (1 - beta) * h) @ p["linear.weight"].T + p["linear.bias"]
    else:
        mapped = beta * h_0 @ p["initial.weight"].T + (1 - beta) * h @ p["current.weight"].T
    gate = h.exp() / h.exp().sum(1, keepdim=True)
    return dense.Q @ (gate * mapped)


def test_term_is_the_dense_one(kind, graph, dense, x, x_0):
    control = random_control(kind, dense.m)
    expected = dense_term(control, dense, x, x_0)
    assert_close(control(x, graph, x_0), expected, rtol=1e-10, atol=1e-10)
    inputs = (x.requires_grad_(), x_0.requires_grad_())
    assert torch.autograd.gradcheck(lambda a, b: control(a, graph, b), inputs)
    weight = next(control.parameters())
    (got,) = torch.autograd.grad(control(x, graph, x_0).square().sum(), weight)
    (want,) = torch.autograd.grad(dense_term(control, dense, x, x_0).square().sum(), weight)
    assert_close(got, want, rtol=1e-9, atol=1e-9)


def test_term_lies_in_the_eigenspace_found_by_eigh(kind, graph, dense, x, x_0):
    b = random_control(kind, dense.m)(x, graph, x_0)
    assert b.norm() > 0
    assert_close(graph.project(b), b, rtol=1e-12, atol=1e-12)
    assert_close(dense.P @ b, b, rtol=1e-9, atol=1e-9)


def test_relu_never_moves_features_away_from_the_eigenspace_whatever_the_control(
    kind, graph, dense, x, x_0
):
    control = random_control(kind, dense.m)
    before = distance_to_eigenspace(x, graph)
    for scale in (0.0, 0.1, 1.0, 30.0):
        shifted = x + scale * control(x, graph, x_0)
        assert_close(distance_to_eigenspace(shifted, graph), before, rtol=1e-9, atol=1e-9)
        assert distance_to_eigenspace(shifted.relu(), graph) <= before + 1e-9


def test_initial_features_may_come_pooled(kind, graph, x, x_0):
    control = random_control(kind, graph.num_components)
    pooled_0 = graph.pool(x_0)
    assert control(x, graph, pooled_0=pooled_0).equal(control(x, graph, x_0))


def test_a_new_control_is_zero_and_can_learn(kind, graph, x, x_0):
    control = SmoothnessControl(3, kind, num_components=graph.num_components).double()
    b = control(x, graph, x_0)
    assert b.equal(torch.zeros_like(x))
    (b - 1).square().sum().backward()
    assert all(parameter.grad.norm() > 0 for parameter in control.parameters())


def test_reset_parameters_goes_back_to_zero(kind, graph, x, x_0):
    control = random_control(kind, graph.num_components)
    control.reset_parameters()
    assert control(x, graph, x_0).abs().max() == 0


@pytest.mark.parametrize("name", ["many_components", "isolated_nodes", "weighted"])
def test_equivariant_to_the_order_of_nodes(kind, name):
    case = ZOO[name]
    graph = case.graph()
    n, m = graph.num_nodes, graph.num_components
    generator = torch.Generator().manual_seed(5)
    x = torch.randn(n, 3, dtype=torch.float64, generator=generator)
    order = torch.randperm(n, generator=generator)
    place = torch.argsort(order)  # node i goes to place[i]
    edge_index, edge_weight = case.inputs()
    permuted = Graph(place[edge_index], n, edge_weight, dtype=torch.float64)
    control = random_control(kind, m)
    expected = control(x, graph, x + 1)[order]
    if kind == "pooled":  # its rows follow the components, which are numbered by first node
        rows = torch.empty(m, dtype=torch.long)
        rows[permuted.component[place]] = graph.component
        control.coefficients.weight.data = control.coefficients.weight.data[rows]
    assert_close(control(x[order], permuted, (x + 1)[order]), expected)


def test_gated_controls_transfer_between_graphs():
    for kind in KINDS[1:]:
        control = random_control(kind, None)
        for case in ZOO.values():
            features = torch.ones(case.num_nodes, 3, dtype=torch.float64)
            assert control(features, case.graph(), features).shape == features.shape


def test_as_many_components_as_nodes_take_no_dense_matrix(kind):
    n = 200_000
    graph = Graph(torch.arange(n).repeat(2, 1))
    control = SmoothnessControl(2, kind, num_components=n)  # a dense Q would take 160 GB
    x = torch.ones(n, 2, requires_grad=True)
    control(x, graph, x).sum().backward()
    assert x.grad.shape == (n, 2)


def test_bias_is_the_same_row_at_every_node_and_learns(graph, x):
    control = SmoothnessControl(3, "bias").double()
    assert control(x, graph).equal(torch.zeros_like(x))
    control.coefficients.bias.data = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
    assert control(x, graph).equal(control.coefficients.bias.expand_as(x))
    control(x, graph).sum().backward()
    assert control.coefficients.bias.grad.tolist() == [len(x)] * 3
    assert not (control.in_eigenspace or control.needs_initial)
    control.reset_parameters()
    assert control(x, graph).abs().max() == 0


def test_bias_leaves_the_eigenspace_where_degrees_differ():
    graph = ZOO["star"].graph()
    control = random_control("bias", None)
    term = control(torch.ones(graph.num_nodes, 3, dtype=torch.float64), graph)
    assert distance_to_eigenspace(term, graph) > 0.1 * term.norm()


def test_parameter_counts(kind):
    control = SmoothnessControl(8, kind, num_components=5)
    expected = {"pooled": 8 * (5 + 1), "gated": 8 * 8 + 8, "gated_full": 2 * 8 * 8}[kind]
    assert sum(parameter.numel() for parameter in control.parameters()) == expected
    assert kind in repr(control)


@pytest.mark.parametrize("make", [GCN, GCNII, EnergeticGNN])
@pytest.mark.parametrize(
    ("control", "options", "first"),
    [
        ("normalized", {}, 5),
        ("normalized", {"first": 1}, 1),
        ("normalized", {"first": 9}, 7),
        ("gated", {}, 1),
        ("gated", {"first": 3}, 3),
    ],
)
def test_a_network_has_controls_from_the_first_layer_on(make, control, options, first):
    model = make(3, 4, 2, num_layers=6, control=control, control_options=options)
    there = [conv.control is not None for conv in model.convs]
    assert there == [layer >= first for layer in range(1, 7)]
    assert torch.isfinite(model(torch.ones(6, 3), ZOO["connected"].graph(torch.float32))).all()


def test_a_control_on_its_own_acts_whatever_the_first_layer():
    x, graph = torch.randn(6, 3), ZOO["connected"].graph(torch.float32)
    assert SmoothnessControl(3, "normalized", first=3)(x, graph).ne(0).any()


def test_errors_teach():
    graph = ZOO["many_components"].graph(torch.float32)
    x = torch.ones(9, 4)
    for message, call in {
        "no control 'gatd', did you mean 'gated'.*pooled, gated": lambda: SmoothnessControl(
            4, "gatd"
        ),
        "no control 3; choose from": lambda: SmoothnessControl(4, 3),
        "num_components=graph.num_components, or use 'gated'": lambda: SmoothnessControl(4),
        "num_components is 0": lambda: SmoothnessControl(4, num_components=0),
        "channels is -2": lambda: SmoothnessControl(-2, "gated"),
        "theta is 0": lambda: SmoothnessControl(4, "gated", theta=0),
        "theta is nan": lambda: SmoothnessControl(4, "gated", theta=math.nan),
        "first is 0": lambda: SmoothnessControl(4, "gated", first=0),
        "no option 'fist', did you mean 'first'": lambda: SmoothnessControl(4, "bias", fist=2),
        "layer is 0": lambda: SmoothnessControl(4, "gated", layer=0),
        "num_components=78, this graph has 3.*'gated', which transfers": lambda: SmoothnessControl(
            4, num_components=78
        )(x, graph),
        "needs the initial features: pass x_0": lambda: SmoothnessControl(4, "gated")(x, graph),
        "features have 4 channels, this control has channels=5": lambda: SmoothnessControl(
            5, num_components=3
        )(x, graph),
        "initial features have 7 channels": lambda: SmoothnessControl(4, "gated")(
            x, graph, torch.ones(9, 7)
        ),
    }.items():
        with pytest.raises(ModelError, match=message):
            call()
