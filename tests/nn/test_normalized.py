import pytest
import torch
from torch.testing import assert_close
from zoo import ZOO

from graphsct import Graph, ModelError
from graphsct.nn import GCN, SmoothnessControl
from graphsct.nn.normalized import EPSILON, unit_eigenvectors
from graphsct.smoothness import normalized_smoothness


def random_control(channels=3, **options):
    control = SmoothnessControl(channels, "normalized", **options).double()
    generator = torch.Generator().manual_seed(3)
    for parameter in control.parameters():
        parameter.data.normal_(generator=generator)
    return control


def dense_output(control, dense, component, x):
    """The equation with a dense Q, component by component where these have their own scale."""
    p = dict(control.coefficients.named_parameters())
    rough = x - dense.P @ x
    groups = component if control.coefficients.per_component else torch.zeros_like(component)
    same = (groups[:, None] == groups[None, :]).to(x.dtype)
    mean = same @ rough.square() / same.sum(1, keepdim=True)
    sizes = (dense.Q != 0).sum(0).to(x.dtype)
    e = (dense.Q * sizes.sqrt()).sum(1, keepdim=True)
    out = p["gamma"] * rough / (mean + EPSILON).sqrt() + p["beta"] * e
    return x + p["mix"] * (out - x) if "mix" in p else out


@pytest.mark.parametrize("per_component", [False, True])
@pytest.mark.parametrize("mix", [None, 0.3])
def test_output_is_the_dense_one(graph, dense, x, mix, per_component):
    control = random_control(mix=mix, per_component=per_component)
    expected = dense_output(control, dense, graph.component, x)
    assert_close(x + control(x, graph), expected, rtol=1e-9, atol=1e-9)
    # Finite differences next to a rough part of zero are of the order of 1 / sqrt(EPSILON).
    inputs = (x.requires_grad_(), *control.parameters())
    assert torch.autograd.gradcheck(lambda a, *_: control(a, graph), inputs, atol=1e-4)


def test_root_mean_squares_are_those_of_the_weights():
    graph = ZOO["connected"].graph()
    x = torch.randn(6, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    control = SmoothnessControl(2, "normalized", beta=0.7).double()
    out = 1000 * x + control(1000 * x, graph)
    smooth = graph.project(out)
    assert_close(smooth.square().mean(0).sqrt(), torch.full((2,), 0.7).double())
    assert_close((out - smooth).square().mean(0).sqrt(), torch.ones(2).double())
    expected = 0.7 / (1 + 0.7**2) ** 0.5
    assert_close(normalized_smoothness(out, graph), torch.full((2,), expected).double())


def test_batch_norm_is_this_on_a_regular_connected_graph_alone():
    ring = torch.stack([torch.arange(8), (torch.arange(8) + 1) % 8])
    x = torch.randn(8, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    control, norm = random_control(), torch.nn.BatchNorm1d(3).double()
    norm.load_state_dict(
        {"weight": control.coefficients.gamma, "bias": control.coefficients.beta}, strict=False
    )
    regular = Graph(ring, 8, symmetrize=True, dtype=torch.float64)
    assert_close(x + control(x, regular), norm(x))
    assert not torch.allclose(x + control(x, ZOO["star"].graph()), norm(x))


def test_a_mix_of_zero_is_the_plain_layer_and_can_learn(graph, x):
    control = SmoothnessControl(3, "normalized", mix=0.0).double()
    assert control(x, graph).equal(torch.zeros_like(x))
    (x + control(x, graph)).sum().backward()
    assert control.coefficients.mix.grad != 0


def test_reset_parameters_goes_back_to_the_start():
    control = random_control(beta=0.25, mix=0.125)
    control.reset_parameters()
    values = {
        name: set(p.flatten().tolist()) for name, p in control.coefficients.named_parameters()
    }
    assert values == {"gamma": {1.0}, "beta": {0.25}, "mix": {0.125}}
    assert SmoothnessControl(3, "normalized").coefficients.beta.tolist() == [0.5] * 3


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("per_component", [False, True])
def test_features_without_a_rough_part_stay_so_and_have_finite_gradients(dtype, per_component):
    """Isolated nodes, complete components after a propagation, and dead channels."""
    edges = [(0, 1), (2, 3), (3, 4), (4, 2)]
    index = torch.tensor([*edges, *((j, i) for i, j in edges)]).t()
    graph = Graph(index, 7, dtype=dtype)
    x = graph.propagate(torch.randn(7, 4, generator=torch.Generator().manual_seed(0)).to(dtype))
    x[:, 3] = 0
    x.requires_grad_()
    control = SmoothnessControl(4, "normalized", per_component=per_component).to(dtype)
    out = x + control(x, graph)
    assert_close(out, (0.5 * unit_eigenvectors(graph)).expand(7, 4), atol=1e-3, rtol=0)
    (out * torch.arange(28).view(7, 4)).sum().backward()
    assert x.grad.abs().max() < 28 * 28 / EPSILON**0.5


def test_components_of_their_own_scale_do_not_depend_on_each_other():
    parts = [ZOO[name] for name in ("connected", "star", "weighted")]
    xs = [
        torch.randn(
            part.num_nodes, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(i)
        )
        * 10**i
        for i, part in enumerate(parts)
    ]
    starts = [0, 6, 14]
    edges, weights = zip(*(part.inputs() for part in parts), strict=True)
    weights = [
        torch.ones(e.shape[1]).double() if w is None else w
        for e, w in zip(edges, weights, strict=True)
    ]
    index = torch.cat([e + start for e, start in zip(edges, starts, strict=True)], dim=1)
    batch = Graph(index, 19, torch.cat(weights))
    control = random_control(per_component=True)
    alone = [control(x, part.graph()) for x, part in zip(xs, parts, strict=True)]
    assert_close(control(torch.cat(xs), batch), torch.cat(alone))


@pytest.mark.parametrize("per_component", [False, True])
def test_a_sample_of_all_nodes_is_the_whole(graph, x, per_component):
    control = random_control(per_component=per_component)
    part = graph.subgraph(torch.arange(graph.num_nodes))
    assert_close(control(x, part), control(x, graph))
    assert torch.isfinite(control(x[:1], graph.subgraph([0]))).all()


def test_transfers_between_graphs():
    model = GCN(3, 4, 2, num_layers=5, control="normalized").double()
    assert sum(weight.numel() for weight in model.convs[4].control.parameters()) == 8
    for case in ZOO.values():
        x = torch.ones(case.num_nodes, 3, dtype=torch.float64)
        assert torch.isfinite(model(x, case.graph())).all()


def test_as_many_components_as_nodes_take_no_dense_matrix():
    n = 200_000
    graph = Graph(torch.arange(n).repeat(2, 1))
    x = torch.ones(n, 2, requires_grad=True)
    SmoothnessControl(2, "normalized", per_component=True)(x, graph).sum().backward()
    assert_close(x.grad, torch.full((n, 2), -1.0))


def test_errors_teach():
    for message, options in {
        "'normalized' has no option 'bta', did you mean 'beta'": dict(bta=1),
        "beta is nan, expected a number that is finite": dict(beta=float("nan")),
        "mix is 'all', expected a number": dict(mix="all"),
        "per_component is 'no', expected true or false": dict(per_component="no"),
    }.items():
        with pytest.raises(ModelError, match=message):
            SmoothnessControl(4, "normalized", **options)
    with pytest.raises(ModelError, match="control 'gated' has no option 'mix'"):
        GCN(3, 4, 2, num_layers=2, control="gated", control_options={"mix": 0.0})
    with pytest.raises(ModelError, match="control_options is 'mix', expected an object"):
        GCN(3, 4, 2, num_layers=2, control="normalized", control_options="mix")
