import pytest
import torch
from torch.testing import assert_close

from graphsct import Graph, GraphError
from graphsct.graph import autocast
from graphsct.graph.cache import as_graph

EDGES = torch.tensor([[0, 1, 1, 2, 3, 4], [1, 0, 2, 1, 4, 3]])
LOWER = torch.autocast("cpu", dtype=torch.bfloat16)


@pytest.fixture(params=[EDGES, EDGES[:, :4]], ids=["components", "connected"])
def graph(request):
    return Graph(request.param, num_nodes=int(request.param.max()) + 1)


@pytest.fixture
def x(graph):
    return torch.randn(graph.num_nodes, 3, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("verb", ["propagate", "pool", "project"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_products_are_those_of_float32(graph, x, verb, dtype):
    given = [x.to(dtype).requires_grad_() for _ in range(2)]
    with LOWER:
        out = getattr(graph, verb)(given[0])
        (grad,) = torch.autograd.grad(out.square().sum(), given[0])  # backward under autocast, too
    expected = getattr(graph, verb)(given[1].float())
    (wanted,) = torch.autograd.grad(expected.square().sum(), given[1])
    assert out.dtype == torch.float32
    assert grad.dtype == dtype
    assert_close(out, expected, rtol=0, atol=0)
    assert_close(grad, wanted, rtol=0, atol=0)


def test_edges_of_lowered_features_make_a_graph_of_float32():
    with LOWER:
        assert as_graph(EDGES, None, torch.ones(5, 2).bfloat16()).dtype == torch.float32


def test_lower_precision_is_refused_without_autocast(graph, x):
    with pytest.raises(GraphError, match=r"features are torch.bfloat16.*use x.to\(torch.float32\)"):
        graph.propagate(x.bfloat16())


def test_double_precision_stays():
    with LOWER:
        assert autocast.full_dtype(torch.ones(2).double()) == torch.float64


def test_it_is_seen_and_suspended_per_device():
    cpu, meta = torch.device("cpu"), torch.device("meta")
    assert not autocast.is_active(cpu)
    with LOWER:
        assert autocast.is_active(cpu)
        assert not autocast.is_active(meta)  # a device that PyTorch has no autocast for
        with autocast.suspended(cpu):
            assert not autocast.is_active(cpu)
        assert autocast.is_active(cpu)
