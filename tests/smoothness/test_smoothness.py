import math

import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck
from torch.testing import assert_close
from zoo import ZOO

from graphsct import GraphError, smoothness

WITH_GRAPH = [
    smoothness.distance_to_eigenspace,
    smoothness.dirichlet_energy,
    smoothness.normalized_dirichlet_energy,
    smoothness.normalized_smoothness,
]


@pytest.mark.parametrize("measure", WITH_GRAPH)
def test_value_is_the_dense_one(measure, graph, dense, x):
    expected = getattr(dense, measure.__name__)(x)
    assert_close(measure(x, graph), expected, rtol=1e-10, atol=1e-12)
    assert_close(measure(x.float(), graph.float()), expected.float(), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("measure", WITH_GRAPH)
def test_gradients(measure, graph, dense, x):
    if measure is smoothness.distance_to_eigenspace and not len(dense.outside):
        pytest.skip("a norm has no derivative at zero, and here everything is smooth")
    x.requires_grad_()
    assert gradcheck(lambda x: measure(x, graph), x)
    assert gradgradcheck(lambda x: measure(x, graph), x)
    (ours,) = torch.autograd.grad(measure(x, graph).sum(), x)
    (theirs,) = torch.autograd.grad(getattr(dense, measure.__name__)(x).sum(), x)
    assert_close(ours, theirs, rtol=1e-9, atol=1e-9)


def test_smooth_features_are_seen_as_smooth(graph):
    smooth = graph.unpool(torch.randn(graph.num_components, 2, dtype=torch.float64))
    assert_close(smoothness.normalized_smoothness(smooth, graph), torch.ones(2).double())
    assert smoothness.distance_to_eigenspace(smooth, graph) < 1e-14
    assert smoothness.dirichlet_energy(smooth, graph) < 1e-28
    assert not smoothness.dead_dimensions(smooth).any()


def test_a_small_rough_part_does_not_drown_in_a_large_smooth_part():
    graph = ZOO["connected"].graph(torch.float32)
    rough = torch.zeros(6, 1).index_fill(0, torch.tensor(2), 1.0)
    rough = rough - graph.project(rough)
    x = 1e-4 * rough + 10 * graph.basis.unsqueeze(1)
    expected = 1e-8 * smoothness.dirichlet_energy(rough, graph)
    assert_close(smoothness.dirichlet_energy(x, graph), expected, rtol=0.05, atol=0.0)
    expected = 1e-4 * smoothness.distance_to_eigenspace(rough, graph)
    assert_close(smoothness.distance_to_eigenspace(x, graph), expected, rtol=0.05, atol=0.0)


def test_dead_dimensions_count_as_smooth_but_are_told_apart(graph):
    x = torch.zeros(graph.num_nodes, 3, dtype=torch.float64)
    x[0, 1] = 1e-150
    x.requires_grad_()
    s = smoothness.normalized_smoothness(x, graph)
    assert s[0] == s[2] == 1
    assert smoothness.dead_dimensions(x).tolist() == [True, False, True]
    s.sum().backward()
    assert x.grad.isfinite().all()
    assert smoothness.normalized_dirichlet_energy(torch.zeros_like(x), graph) == 0


@pytest.mark.parametrize("scale", [1e-30, 1e-12, 1e12, 1e30])
def test_normalized_measures_are_free_of_scale_even_in_float32(scale):
    graph = ZOO["many_components"].graph(torch.float32)
    x = torch.randn(graph.num_nodes, 4, generator=torch.Generator().manual_seed(0))
    for measure in (smoothness.normalized_smoothness, smoothness.normalized_dirichlet_energy):
        assert_close(measure(scale * x, graph), measure(x, graph), rtol=1e-4, atol=1e-6)


def test_effective_rank_of_known_matrices():
    eye = torch.eye(5, 3, dtype=torch.float64)
    assert_close(smoothness.effective_rank(eye), torch.tensor(3.0).double())
    assert_close(smoothness.effective_rank(1e-200 * eye), torch.tensor(3.0).double())
    assert_close(smoothness.effective_rank(torch.ones(9, 4)), torch.tensor(1.0))
    assert smoothness.effective_rank(torch.zeros(4, 2)) == 0
    assert smoothness.effective_rank(torch.ones(4, 0)) == 0
    values = torch.tensor([3.0, 1.0], dtype=torch.float64)
    expected = math.exp(-(0.75 * math.log(0.75) + 0.25 * math.log(0.25)))
    assert smoothness.effective_rank(values.diag()).item() == pytest.approx(expected)


def test_effective_rank_gradient():
    x = torch.randn(6, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    assert gradcheck(smoothness.effective_rank, x.requires_grad_())
    low_rank = torch.ones(6, 3, dtype=torch.float64, requires_grad=True)
    smoothness.effective_rank(low_rank).backward()
    assert low_rank.grad.isfinite().all()


def test_equivalence_constants_are_the_dense_eigenvalue(graph, dense):
    lower, upper = smoothness.equivalence_constants(graph)
    assert upper == math.sqrt(2)
    largest = dense.outside.max().item() if len(dense.outside) else -1.0
    assert lower == pytest.approx(math.sqrt(1 - largest), abs=1e-7)


def test_contraction_bound_of_one_weight_and_of_many(graph, dense):
    weight = torch.randn(4, 3, 2, dtype=torch.float64, requires_grad=True)
    largest = dense.outside.abs().max() if len(dense.outside) else torch.tensor(0.0).double()
    expected = largest * torch.linalg.svdvals(weight)[:, 0]
    assert_close(smoothness.contraction_bound(weight, graph), expected)
    assert_close(smoothness.contraction_bound(weight[1], graph), expected[1])
    assert gradcheck(lambda w: smoothness.contraction_bound(w, graph), weight)


@pytest.mark.parametrize("measure", WITH_GRAPH)
def test_bad_features_are_named(measure):
    graph = ZOO["path"].graph(torch.float32)
    x = torch.ones(7, 2)
    x[3, 1] = torch.nan
    with pytest.raises(GraphError, match=r"x\[3, 1\] is nan \(1 such entries\)"):
        measure(x, graph)
    x[3, 1], x[5, 0] = torch.inf, -torch.inf
    with pytest.raises(GraphError, match=r"x\[3, 1\] is inf \(2 such entries\)"):
        measure(x, graph)
    with pytest.raises(GraphError, match="6 rows but the graph has 7 nodes"):
        measure(torch.ones(6, 2), graph)


def test_overflow_is_named():
    graph = ZOO["path"].graph(torch.float32)
    with pytest.raises(GraphError, match=r"as large as 3e\+38 overflow torch.float32"):
        smoothness.dirichlet_energy(torch.full((7, 2), 3e38), graph)


@pytest.mark.parametrize("bad", [[[1.0]], torch.ones(3), torch.ones(3, 2).long()])
def test_bad_matrices_are_named(bad):
    for measure in (smoothness.effective_rank, smoothness.dead_dimensions):
        with pytest.raises(GraphError, match="expected a floating point tensor"):
            measure(bad)
    if not isinstance(bad, list):
        with pytest.raises(GraphError, match="expected a floating point tensor"):
            smoothness.contraction_bound(bad, ZOO["path"].graph())
    with pytest.raises(GraphError, match="is nan"):
        smoothness.effective_rank(torch.tensor([[torch.nan, 1.0]]))
    with pytest.raises(GraphError, match=r"x\[0, 1\] is -inf"):
        smoothness.effective_rank(torch.tensor([[1.0, -torch.inf]]))
    with pytest.raises(GraphError, match="is inf"):
        smoothness.contraction_bound(torch.tensor([[torch.inf, 1.0]]), ZOO["path"].graph())
