import copy

import pytest
import torch
from shifts import component_smoothness
from torch.testing import assert_close
from zoo import ZOO

from graphsct import Graph, GraphError, ModelError, geometry
from graphsct.geometry.newton import find_shift
from graphsct.nn import GCN, GCNII, EnergeticGNN, SmoothnessControl, add_control
from graphsct.nn.target import LARGEST, SOURCES
from graphsct.smoothness import normalized_smoothness

ACTIVATIONS = ("relu", "leaky_relu", "elu", "selu")


def make(channels=3, **options):
    return SmoothnessControl(channels, "target", **options).double()


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("t", [0.3, 0.8])
def test_components_have_the_wanted_smoothness_and_gradients_are_exact(
    graph, dense, x, name, t, source
):
    control = make(target=t, source=source, activation=name)
    if source == "read":
        control = read_control(target=t, activation=name)
    activation, wanted = geometry.ACTIVATIONS[name], control.coefficients.targets(x, graph)
    reachable = geometry.smoothness_range(x, graph, name).contains(wanted)
    h = activation(x + control(x, graph))
    for component in range(dense.m):
        there, inside = component_smoothness(h, dense, component), reachable[component]
        assert_close(there[inside], wanted[component][inside])
    inputs = x.requires_grad_(), *control.parameters()
    assert torch.autograd.gradcheck(lambda z, *_: control(z, graph), inputs)


@pytest.mark.parametrize("name", ["relu", "leaky_relu"])
def test_the_output_has_the_size_of_the_input(graph, x, name):
    activation = geometry.ACTIVATIONS[name]
    h = activation(x + make(activation=name)(x, graph))
    for component in range(graph.num_components):
        after, before = (a[graph.component == component].norm(dim=0) for a in (h, x))
        assert_close(after, torch.where(after > 0, before, 0))
    term = make(activation=name, rescale=False)(x, graph)
    assert_close(graph.project(term), term)


def test_a_learned_target_starts_at_the_target_and_moves_towards_the_loss():
    graph = ZOO["connected"].graph()
    x = torch.randn(6, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    control = make(2, target=0.6, source="learned", activation="leaky_relu")
    activation = torch.nn.LeakyReLU()

    def smoothness():
        return normalized_smoothness(activation(x + control(x, graph)), graph)

    assert_close(smoothness(), torch.full((2,), 0.6).double())
    optimizer = torch.optim.Adam(control.parameters(), lr=0.1)
    for _ in range(60):
        optimizer.zero_grad()
        (smoothness() - torch.tensor([0.3, 0.9])).square().sum().backward()
        optimizer.step()
    assert_close(smoothness(), torch.tensor([0.3, 0.9]).double(), atol=0.02, rtol=0)
    control.reset_parameters()
    assert_close(smoothness(), torch.full((2,), 0.6).double())


def read_control(channels=3, **options):
    control = make(channels, source="read", **options)
    torch.nn.init.normal_(control.coefficients.weight, generator=torch.manual_seed(3))
    return control


def test_a_target_that_is_read_starts_as_the_learned_one(x, graph):
    control, learned = (make(source=source, target=0.7) for source in ("read", "learned"))
    assert control(x, graph).equal(learned(x, graph))
    torch.nn.init.ones_(control.coefficients.weight)
    for each in (control, learned):
        each.reset_parameters()
    assert control(x, graph).equal(learned(x, graph))


def test_a_target_is_read_from_the_smoothness_of_the_channels(graph, dense, x):
    """With the definition, in a loop over components."""
    control = read_control(target=0.4)
    own = control.coefficients
    wanted = own.targets(x, graph)
    assert_close(own.targets(x * torch.tensor([1e-3, 1.0, 1e3]), graph), wanted)
    for i in range(dense.m):
        e = dense.Q[:, i]
        inside = e.ne(0)
        p = (e @ x) / x[inside].norm(dim=0)
        gate = torch.sigmoid(own.weight @ p + own.logit)
        lower = e.max().clamp_max(LARGEST)
        assert_close(wanted[i], lower + (LARGEST - lower) * gate)


def test_a_target_that_is_read_does_not_depend_on_the_order_of_nodes(case):
    graph, order = case.graph(), torch.randperm(case.num_nodes, generator=torch.manual_seed(1))
    (edges, weights), place, control = case.inputs(), order.argsort(), read_control()
    moved = Graph(place[edges], case.num_nodes, weights, dtype=torch.float64)
    x = torch.randn(case.num_nodes, 3, dtype=torch.float64, generator=torch.manual_seed(2))
    assert_close(control(x[order], moved), control(x, graph)[order])


def test_what_is_read_of_dead_channels_has_gradient_zero():
    graph = ZOO["connected"].graph()
    x = torch.randn(6, 3, dtype=torch.float64, generator=torch.manual_seed(0))
    x[:, 1] = 0
    x.requires_grad_()
    targets = read_control().coefficients.targets(x, graph)
    (gradient,) = torch.autograd.grad(targets.sum(), x)
    assert gradient[:, 1].eq(0).all()
    assert gradient[:, [0, 2]].ne(0).all()


@pytest.mark.parametrize("source", ["learned", "read"])
def test_a_learned_target_stays_where_every_input_gets(source):
    control = make(3, source=source)
    for case in ZOO.values():
        graph = case.graph()
        x = torch.randn(graph.num_nodes, 3, dtype=torch.float64)
        for weight in (-50.0, 50.0):
            control.coefficients.logit.data.fill_(weight)
            wanted = control.coefficients.targets(x, graph).detach()
            assert wanted.max() <= LARGEST + 1e-9
            limits = geometry.smoothness_range(x, graph)
            assert (limits.contains(wanted) | (limits.lower == 1)).all()
            assert torch.isfinite(control(x, graph)).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_isolated_nodes_and_dead_channels_are_not_shifted(dtype):
    graph = Graph([[0, 1, 1, 2], [1, 0, 2, 1]], 5, dtype=dtype)
    x = torch.randn(5, 4, generator=torch.Generator().manual_seed(0)).to(dtype)
    x[:3, 1] = graph.basis[:3]  # smooth
    x[:, 2] = 0
    x[:, 3] = -graph.basis  # smooth and cut off
    x.requires_grad_()
    term = SmoothnessControl(4, "target", rescale=False, target=0.9).to(dtype)(x, graph)
    assert term[3:].eq(0).all()
    assert term[:, 1:].eq(0).all()
    assert term[:3, 0].ne(0).all()
    (weights,) = torch.autograd.grad(((x + term) * torch.arange(5).unsqueeze(1)).sum(), x)
    assert_close(weights[:, 1:], torch.arange(5).to(dtype).unsqueeze(1).expand(5, 3))
    whole = SmoothnessControl(4, "target", target=0.9).to(dtype)(x, graph)
    (gradient,) = torch.autograd.grad(whole.square().sum(), x)
    assert torch.isfinite(gradient).all()


def test_a_component_below_its_reach_keeps_its_features():
    """Of two nodes of equal degrees, the larger one alone has the smoothness 0.707."""
    graph, x = ZOO["two_nodes"].graph(), torch.tensor([[1.0, 1.0], [0.5, -3.0]]).double()
    assert make(2, target=0.6, rescale=False)(x, graph).eq(0).all()
    h = (x + make(2, target=0.72)(x, graph)).relu()
    assert_close(normalized_smoothness(h, graph), torch.full((2,), 0.72).double())


def test_a_tie_at_the_kink_has_the_slope_of_pytorch():
    """A node exactly at the kink counts as cut off: its gradient is that of a node below."""
    edges = torch.combinations(torch.arange(4)).t()
    graph = Graph(edges, 4, symmetrize=True, dtype=torch.float64)  # its basis is exactly 1 / 2
    z = torch.tensor([[-1.0], [0.2], [0.9], [2.0]], dtype=torch.float64)
    control, wanted = (
        make(1, target=0.7, rescale=False),
        torch.full((1, 1), 0.7, dtype=torch.float64),
    )
    for _ in range(9):
        found, *_ = find_shift(z, graph, wanted, torch.nn.ReLU())
        z[0] = found.alpha[0] / 2
    assert find_shift(z, graph, wanted, torch.nn.ReLU())[0].alpha[0] / 2 == z[0]
    gradients = []
    for shift in (0.0, -1e-9):
        moved = z.clone()
        moved[0] += shift
        moved.requires_grad_()
        control(moved, graph)[3].backward()
        gradients.append(moved.grad)
    assert_close(*gradients)
    assert gradients[0][0] == 0


@pytest.mark.parametrize("make_model", [GCN, GCNII, EnergeticGNN])
@pytest.mark.parametrize("activation", ["relu", "leaky_relu", torch.nn.ELU(0.5)])
def test_every_layer_of_a_model_has_the_wanted_smoothness(make_model, activation):
    graph, torch_seed = ZOO["connected"].graph(), torch.manual_seed(0)
    options = dict(control="target", control_options={"target": 0.9}, activation=activation)
    model = make_model(4, 5, 2, num_layers=3, **options).double()
    x = torch.randn(6, 4, dtype=torch.float64, generator=torch_seed)
    _, layers = model(x, graph, return_layers=True)
    for h in layers[1:]:
        assert_close(normalized_smoothness(h, graph), torch.full((5,), 0.9).double())


@pytest.mark.parametrize("make_model", [GCN, GCNII, EnergeticGNN])
def test_every_layer_of_a_model_learns_what_to_read(make_model):
    torch.manual_seed(0)
    options = dict(control="target", control_options={"source": "read"}, activation="relu")
    model = make_model(4, 5, 2, num_layers=3, **options)
    model(torch.randn(6, 4), ZOO["connected"].graph(torch.float32)).square().sum().backward()
    for conv in model.convs:
        assert conv.control.coefficients.weight.grad.ne(0).any()


@pytest.mark.parametrize("source", SOURCES)
def test_any_convolution_takes_it(source):
    from torch_geometric.nn import GATConv

    graph, options = ZOO["connected"].graph(), dict(target=0.7, activation="leaky_relu")
    conv = add_control(GATConv(4, 5), "target", source=source, **options).double()
    h = torch.nn.functional.leaky_relu(conv(torch.randn(6, 4, dtype=torch.float64), graph))
    assert_close(normalized_smoothness(h, graph), torch.full((5,), 0.7).double())


@pytest.mark.parametrize("control", [make(), read_control()], ids=["fixed", "read"])
def test_transfers_between_graphs_and_depends_on_no_earlier_call(x, graph, control):
    expected = copy.deepcopy(control)(x, graph)
    for case in ZOO.values():
        control(torch.ones(case.num_nodes, 3, dtype=torch.float64), case.graph())
    assert control(x, graph).equal(expected)


def test_activations_that_work_in_place_are_not_disturbed():
    model = GCN(4, 5, 2, num_layers=2, control="target", activation=torch.nn.ReLU(inplace=True))
    x, graph = torch.randn(6, 4), ZOO["connected"].graph(torch.float32)
    model(x, graph).sum().backward()
    assert model.activations[1].inplace


def test_errors_teach():
    for message, options in {
        "target is 0.9999, expected a number above 0 and at most 0.999": dict(target=0.9999),
        "target is 0, expected": dict(target=0),
        "target is 'low', expected a number": dict(target="low"),
        "no source of the wanted smoothness 'lerned', did you mean 'learned'": dict(
            source="lerned"
        ),
        "rescale is 1, expected true or false": dict(rescale=1),
        "has no option 'taget', did you mean 'target'": dict(taget=0.5),
        r"rescale=True needs ReLU, leaky ReLU or the identity, not ELU": dict(
            rescale=True, activation="elu"
        ),
    }.items():
        with pytest.raises(ModelError, match=message):
            SmoothnessControl(4, "target", **options)
    with pytest.raises(GraphError, match=r"the range of SReLU.* is not known; expected ReLU"):
        EnergeticGNN(3, 4, 2, num_layers=2, control="target")
    graph = ZOO["connected"].graph()
    with pytest.raises(GraphError, match="this graph is a sample"):
        make()(torch.ones(3, 3).double(), graph.subgraph([0, 1, 2]))
