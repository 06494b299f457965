import pytest
import torch
from zoo import ZOO

from graphsct import GraphError, smoothness

WITH_GRAPH = [f for f, _ in smoothness.MEASURES.values() if f is not smoothness.effective_rank]


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
