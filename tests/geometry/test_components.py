import pytest
import torch
from torch.testing import assert_close
from zoo import ZOO

from graphsct import GraphError
from graphsct.geometry.components import Components, check_input


def members(dense):
    return [dense.component == number for number in range(dense.m)]


def test_moments_are_those_of_each_component(graph, dense, x):
    parts = Components(x, graph)
    scaled = x / dense.degree.sqrt().unsqueeze(1)
    for number, inside in enumerate(members(dense)):
        weight = (dense.degree[inside] / dense.degree[inside].sum()).unsqueeze(1)
        mean = (weight * scaled[inside]).sum(0)
        variance = (weight * (scaled[inside] - mean).square()).sum(0)
        assert_close(parts.mean[number], mean)
        assert_close(parts.deviation[number], variance.sqrt())
        assert_close(parts.maximum[number], scaled[inside].amax(0))
        assert_close(parts.minimum[number], scaled[inside].amin(0))
        assert parts.scale[number].item() == pytest.approx(dense.degree[inside].sum().sqrt())


def test_nothing_is_positive_after_a_shift_by_the_ceiling(graph, x):
    parts = Components(x, graph)
    assert (parts.x <= parts.spread(parts.ceiling)).all()
    assert (parts.ceiling - parts.maximum <= 1e-14 * parts.maximum.abs()).all()


def test_nodes_at_the_maximum_have_their_share_of_the_degree():
    graph = ZOO["path"].graph()
    x = torch.tensor([3.0, 3, 0, 0, 1, 2, 0], dtype=torch.float64)
    parts = Components((x * graph.degree.sqrt()).unsqueeze(1), graph)
    assert parts.at_maximum[:, 0].tolist() == [True, True] + 5 * [False]
    assert parts.share_at_maximum.item() == pytest.approx((2 + 3) / (5 * 3 + 2 * 2))


def test_equal_entries_are_as_smooth_as_the_bent_limit(graph, dense):
    limit = Components(torch.ones(graph.num_nodes, 1).double(), graph).bent_limit
    for number, inside in enumerate(members(dense)):
        expected = dense.Q[inside, number].sum() / inside.sum().sqrt()
        assert limit[number].item() == pytest.approx(expected.item())


def test_smooth_input_is_constant_in_spite_of_rounding(case):
    graph = case.graph(torch.float32)
    smooth = graph.unpool(torch.full((graph.num_components, 1), 0.1))
    assert Components(smooth, graph).constant.all()


def test_input_that_is_not_finite_or_too_large_is_refused():
    graph = ZOO["two_nodes"].graph()
    with pytest.raises(GraphError, match=r"z\[1, 0\] is inf \(1 such entries\).*nan_to_num"):
        check_input(torch.tensor([[0.0], [torch.inf]]).double(), graph)
    with pytest.raises(GraphError, match=r"as large as 1e\+200 overflow float64"):
        Components(torch.tensor([[1e200], [-1e200]], dtype=torch.float64), graph)
