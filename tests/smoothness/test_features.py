import inspect
from functools import partial

import pytest
import torch
from torch.testing import assert_close
from zoo import ZOO

from graphsct import GraphError, smoothness
from graphsct.smoothness import features
from graphsct.smoothness.features import unit_rows

MEASURES = {name: measure for name, (measure, _) in smoothness.MEASURES.items()}
TAKES = {name: inspect.signature(measure).parameters for name, measure in MEASURES.items()}
WITH_GRAPH = [MEASURES[name] for name in MEASURES if "graph" in TAKES[name]]
WITHOUT = [MEASURES[name] for name in MEASURES if not {"graph", "y"} & set(TAKES[name])]


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


@pytest.mark.parametrize("layout", [torch.sparse_csr, torch.sparse_coo])
def test_sparse_features_are_named_with_a_way_out(layout):
    x = torch.eye(7).to_sparse(layout=layout)
    graph = ZOO["path"].graph(torch.float32)
    calls = [partial(measure, x, graph) for measure in (*WITH_GRAPH, smoothness.contraction_bound)]
    calls += [partial(measure, x) for measure in (*WITHOUT, smoothness.dead_dimensions)]
    for call in calls:
        with pytest.raises(GraphError, match=rf"{layout}.*use (x|weight)\.to_dense\(\)"):
            call()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_features_of_low_precision_are_measured_in_float32(dtype):
    x = torch.eye(7, dtype=dtype)
    assert smoothness.effective_rank(x) == smoothness.effective_rank(x.float())
    assert smoothness.numerical_rank(x) == smoothness.numerical_rank(x.float())
    graph = ZOO["path"].graph(torch.float32)
    assert smoothness.contraction_bound(x, graph) == smoothness.contraction_bound(x.float(), graph)


def test_a_batch_of_odd_features_is_refused():
    for bad in (None, "x", torch.tensor(1.0), torch.ones(7, 2, device="meta")):
        with pytest.raises(GraphError, match="features are"):
            smoothness.effective_rank(bad, batch=torch.zeros(7, dtype=torch.long))
    with pytest.raises(GraphError, match="weight is on 'meta'"):
        smoothness.contraction_bound(torch.eye(2, device="meta"), ZOO["path"].graph())


def test_features_without_dimensions_have_nothing_rough():
    x, graph = torch.zeros(7, 0), ZOO["path"].graph(torch.float32)
    found = [measure(x, graph) for measure in WITH_GRAPH] + [measure(x) for measure in WITHOUT]
    assert all(not value.any() for value in found)
    assert smoothness.group_distance_ratio(x, torch.arange(7)) == 1


@pytest.mark.parametrize("bad", [[[1.0]], torch.ones(3), torch.ones(3, 2).long()])
def test_bad_matrices_are_named(bad):
    for measure in (*WITHOUT, smoothness.dead_dimensions):
        with pytest.raises(GraphError, match="expected a floating point tensor"):
            measure(bad)
    if not isinstance(bad, list):
        with pytest.raises(GraphError, match="expected a floating point tensor"):
            smoothness.contraction_bound(bad, ZOO["path"].graph())
    with pytest.raises(GraphError, match="is inf"):
        smoothness.contraction_bound(torch.tensor([[torch.inf, 1.0]]), ZOO["path"].graph())


@pytest.mark.parametrize("measure", WITHOUT)
def test_bad_entries_are_named_without_a_graph(measure):
    with pytest.raises(GraphError, match=r"x\[0, 0\] is nan"):
        measure(torch.tensor([[torch.nan, 1.0]]))
    with pytest.raises(GraphError, match=r"x\[0, 1\] is -inf"):
        measure(torch.tensor([[1.0, -torch.inf]]))


@pytest.mark.parametrize("measure", WITHOUT)
def test_no_features_have_the_value_zero(measure):
    assert measure(torch.ones(4, 0)) == measure(torch.ones(0, 4)) == 0
    assert measure(torch.zeros(4, 2)) == 0


def test_unit_rows_have_length_one_or_zero():
    x = torch.tensor([[3.0, 4.0], [0.0, 0.0], [1e-30, 0.0]], requires_grad=True)
    rows = unit_rows(x)
    assert rows.tolist() == [[pytest.approx(0.6), pytest.approx(0.8)], [0, 0], [1, 0]]
    rows[:2].sum().backward()
    assert x.grad.isfinite().all()


@pytest.mark.parametrize("name", ["instance_information_gain", "group_distance_ratio"])
def test_pairs_of_many_nodes_are_compared_some_rows_at_a_time(name, monkeypatch):
    x = torch.randn(30, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    more = [torch.arange(30) % 3] if "y" in TAKES[name] else []
    once = MEASURES[name](x, *more)
    monkeypatch.setattr(features, "_PAIRS", 100)
    assert [len(rows) for rows in features.rows_for_pairs(x)] == [3] * 10
    assert_close(MEASURES[name](x, *more), once)
