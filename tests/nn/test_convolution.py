import copy

import pytest
import torch
from torch.testing import assert_close
from zoo import ZOO

from graphsct import GraphError, ModelError
from graphsct.nn import EnergeticConv, GCN2Conv, GCNConv
from graphsct.smoothness import distance_to_eigenspace

KINDS = ("pooled", "gated", "gated_full")


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
