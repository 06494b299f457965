import copy

import pytest
import torch
import torch_geometric.nn as pyg
from torch.testing import assert_close
from torch_geometric.nn.models.basic_gnn import BasicGNN
from zoo import ZOO

from graphsct import GraphError, ModelError
from graphsct.nn import EnergeticConv, GCN2Conv, GCNConv
from graphsct.smoothness import distance_to_eigenspace

KINDS = ("pooled", "gated", "gated_full")
FORMS = ("graph", "edge_index")


def edges_of(case, form):
    return (case.graph(),) if form == "graph" else case.inputs()


def gradients(out, *tensors):
    return torch.autograd.grad(out.sin().sum(), tensors)


@pytest.fixture
def x_0(x):
    return (x.flip(1) + 0.3).requires_grad_()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("bias", [True, False])
def test_gcn_conv_is_that_of_pyg(case, x, form, bias):
    theirs = pyg.GCNConv(3, 4, bias=bias).double()
    if bias:
        theirs.bias.data.normal_()
    ours = GCNConv(3, 4, bias=bias).double()
    ours.load_state_dict(theirs.state_dict())
    x.requires_grad_()
    out, expected = ours(x, *edges_of(case, form)), theirs(x, *case.inputs())
    assert_close(out, expected, rtol=1e-10, atol=1e-10)
    for got, want in zip(
        gradients(out, x, *ours.parameters()),
        gradients(expected, x, *[dict(theirs.named_parameters())[k] for k in ours.state_dict()]),
        strict=True,
    ):
        assert_close(got, want, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("form", FORMS)
def test_gcn2_conv_is_that_of_pyg(case, x, x_0, form):
    theirs = pyg.GCN2Conv(3, alpha=0.3, theta=0.7, layer=2).double()
    ours = GCN2Conv(3, 0.3, 0.7, 2).double()
    ours.load_state_dict(theirs.state_dict())
    x.requires_grad_()
    out, expected = ours(x, x_0, *edges_of(case, form)), theirs(x, x_0, *case.inputs())
    assert_close(out, expected, rtol=1e-10, atol=1e-10)
    for got, want in zip(
        gradients(out, x, x_0, ours.weight1),
        gradients(expected, x, x_0, theirs.weight1),
        strict=True,
    ):
        assert_close(got, want, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("form", FORMS)
def test_energetic_conv_is_its_dense_formula(case, dense, x, x_0, form):
    conv = EnergeticConv(3, c_min=0.5, beta=0.2, c_max=1.44).double()
    assert_close(conv.weight.detach(), 1.2 * torch.eye(3, dtype=torch.float64))
    conv.weight.data.add_(torch.randn(3, 3, dtype=torch.float64))
    x.requires_grad_()
    out = conv(x, x_0, *edges_of(case, form))
    expected = (0.5 * dense.G @ x + 0.2 * x_0 + 0.3 * x) @ conv.weight
    assert_close(out, expected, rtol=1e-10, atol=1e-10)
    for got, want in zip(
        gradients(out, x, x_0, conv.weight), gradients(expected, x, x_0, conv.weight), strict=True
    ):
        assert_close(got, want, rtol=1e-10, atol=1e-10)


def test_energetic_penalty_is_the_distance_from_the_start():
    conv = EnergeticConv(4, c_max=4.0)
    conv.penalty().backward()
    assert conv.penalty() == 0
    assert conv.weight.grad.equal(torch.zeros(4, 4))
    conv.weight.data[0, 1] += 3
    assert_close(conv.penalty().detach(), torch.tensor(3.0))
    conv.reset_parameters()
    assert conv.penalty() == 0


def make(name, control, m, channels=3):
    settings = dict(control=control, num_components=m, layer=2)
    conv = {
        "GCNConv": lambda: GCNConv(channels, channels, bias=False, **settings),
        "GCN2Conv": lambda: GCN2Conv(channels, 0.3, 0.7, **settings),
        "EnergeticConv": lambda: EnergeticConv(channels, **settings),
    }[name]()
    return conv.double()


def call(conv, x, x_0, *edges):
    return conv(x, *edges, x_0=x_0) if isinstance(conv, GCNConv) else conv(x, x_0, *edges)


@pytest.fixture(params=["GCNConv", "GCN2Conv", "EnergeticConv"])
def name(request):
    return request.param


@pytest.mark.parametrize("kind", KINDS)
def test_control_adds_its_term_and_a_zero_one_changes_no_bit(name, kind, graph, x, x_0):
    controlled = make(name, kind, graph.num_components)
    plain = copy.deepcopy(controlled)
    plain.control = None
    base = call(plain, x, x_0, graph)
    assert call(controlled, x, x_0, graph).equal(base)
    for parameter in controlled.control.parameters():
        parameter.data.normal_()
    term = controlled.control(base, graph, x_0)
    assert term.norm() > 0
    assert_close(call(controlled, x, x_0, graph), base + term)


@pytest.mark.parametrize("kind", KINDS)
def test_gradcheck_on_the_whole_zoo(name, kind, graph, x, x_0):
    conv = make(name, kind, graph.num_components)
    for parameter in conv.parameters():
        parameter.data.normal_(std=0.5)
    assert torch.autograd.gradcheck(lambda a, b: call(conv, a, b, graph), (x.requires_grad_(), x_0))
    names = [key for key, _ in conv.named_parameters()]

    def of_weights(*values):
        given = dict(zip(names, values, strict=True))
        args, kwargs = ((x, graph), {"x_0": x_0}) if name == "GCNConv" else ((x, x_0, graph), {})
        return torch.func.functional_call(conv, given, args, kwargs)

    values = tuple(parameter.detach().requires_grad_() for parameter in conv.parameters())
    assert torch.autograd.gradcheck(of_weights, values)


@pytest.mark.parametrize("kind", [None, *KINDS])
def test_a_controlled_layer_gets_no_further_from_the_eigenspace(kind, graph, x, x_0):
    conv = make("GCNConv", kind, graph.num_components)
    torch.nn.init.orthogonal_(conv.lin.weight)  # spectral norm 1
    for parameter in conv.control.parameters() if kind else ():
        parameter.data.normal_(std=10)
    out = call(conv, x, x_0, graph).relu()
    assert distance_to_eigenspace(out, graph) <= distance_to_eigenspace(x, graph) + 1e-9


def test_inside_pyg_sequential():
    case = ZOO["many_components"]
    edge_index, _ = case.inputs()
    model = pyg.Sequential(
        "x, edge_index",
        [
            (GCNConv(3, 4, control="pooled", num_components=3), "x, edge_index -> x"),
            torch.nn.ReLU(),
            (GCNConv(4, 4), "x, edge_index -> x0"),
            (GCN2Conv(4, 0.1, 0.5, 1, control="gated"), "x0, x0, edge_index -> x"),
            torch.nn.Linear(4, 2),
        ],
    ).double()
    x = torch.ones(9, 3, dtype=torch.float64)
    assert_close(model(x, edge_index), model(x, case.graph()))


class ControlledNet(BasicGNN):
    supports_edge_weight = True
    supports_edge_attr = False
    supports_norm_batch = False

    def init_conv(self, in_channels, out_channels, **kwargs):
        return GCNConv(in_channels, out_channels, **kwargs)


def test_inside_a_basic_gnn_of_pyg():
    case = ZOO["weighted"]
    edge_index, edge_weight = case.inputs()
    settings = dict(num_layers=3, out_channels=2, dropout=0.0)
    net = ControlledNet(3, 4, control="pooled", num_components=2, **settings).double()
    base = pyg.GCN(3, 4, **settings).double()
    missing = net.load_state_dict(base.state_dict(), strict=False).missing_keys
    assert all(".control." in key for key in missing)
    x = torch.randn(5, 3, dtype=torch.float64)
    out = net(x, edge_index, edge_weight=edge_weight)
    assert_close(out, base(x, edge_index, edge_weight=edge_weight), rtol=1e-10, atol=1e-10)
    out.sum().backward()
    assert net.convs[0].control.coefficients.weight.grad.norm() > 0


def test_copies_state_and_dtype(name, graph, x, x_0):
    conv = make(name, "gated", None)
    for parameter in conv.parameters():
        parameter.data.normal_()
    out = call(conv, x, x_0, graph)
    assert call(copy.deepcopy(conv), x, x_0, graph).equal(out)
    other = make(name, "gated", None)
    other.load_state_dict(conv.state_dict())
    assert call(other, x, x_0, graph).equal(out)
    single = call(conv.float(), x.float(), x_0.float(), graph.float())
    assert_close(single.double(), out, rtol=1e-3, atol=1e-4)
    meta = conv.to("meta")
    assert all(parameter.device.type == "meta" for parameter in meta.parameters())
    assert name in repr(conv)


def test_reset_parameters_starts_anew(name):
    conv = make(name, "pooled", 3)
    start = copy.deepcopy(conv.state_dict())
    for parameter in conv.parameters():
        parameter.data.normal_(std=9)
    torch.manual_seed(0)
    conv.reset_parameters()
    for key, value in conv.state_dict().items():
        if name == "EnergeticConv" or "control" in key:
            assert value.equal(start[key])
        else:
            assert value.abs().max() < 2


def test_errors_teach():
    graph = ZOO["connected"].graph(torch.float32)
    edge_index, _ = ZOO["connected"].inputs()
    x, y = torch.ones(6, 3), torch.ones(6, 4)
    gcn, gcn2, energetic = GCNConv(3, 4), GCN2Conv(3, 0.1, 0.5, 1), EnergeticConv(3)
    for message, call in {
        r"shape \(6, 4\), expected \(n, 3\): build with in_channels=4": lambda: gcn(y, graph),
        r"shape \(6, 4\), expected \(n, 3\): this convolution": lambda: gcn2(y, y, graph),
        r"x_0 has shape \(6, 4\)": lambda: energetic(x, y, graph),
        "x_0 are NoneType: call conv": lambda: gcn2(x, None, graph),
        "x_0 are Graph": lambda: energetic(x, graph, edge_index),
        "6 rows and x_0 has 5": lambda: gcn2(x, x[:5], graph),
        "features are a torch.sparse_coo.*to_sparse_csr": lambda: gcn(x.to_sparse(), graph),
        "features are a list": lambda: gcn([[1.0]], graph),
        "no initialisation 'glorott', did you mean 'glorot'": lambda: GCNConv(3, 4, init="glorott"),
        "no control 'poolde', did you mean 'pooled'": lambda: GCNConv(3, 4, control="poolde"),
        "in_channels is 0": lambda: GCNConv(0, 4),
        "out_channels is 2.5": lambda: GCNConv(3, 2.5),
        "alpha is 1.5": lambda: GCN2Conv(3, 1.5, 0.5, 1),
        "theta is -1": lambda: GCN2Conv(3, 0.1, -1, 1),
        "layer is 0": lambda: GCN2Conv(3, 0.1, 0.5, 0),
        "c_min is 2": lambda: EnergeticConv(3, 2),
        "beta is 0.3, expected at most c_min, which is 0.2": lambda: EnergeticConv(3, 0.2, 0.3),
        "c_max is 0": lambda: EnergeticConv(3, c_max=0),
    }.items():
        with pytest.raises(ModelError, match=message):
            call()
    with pytest.raises(GraphError, match="edge_weight was given with a Graph"):
        gcn(x, graph, torch.ones(14))
    with pytest.raises(GraphError, match="features are list"):
        gcn([[1.0]], edge_index)
    with pytest.raises(GraphError, match="is directed"):
        gcn(x, edge_index[:, :3])
