import pytest
import torch
from recording import random
from torch.testing import assert_close

from graphsct.engine.operators import Eigenspace, Operators
from graphsct.engine.program import Arena, Program

NUMBERS = [(1.0, 0.0), (0.8, 0.0), (0.7, -0.2)]


def choose(case, rows):
    """All nodes, or every other one from the last."""
    every = torch.arange(case.num_nodes)
    return every if rows == "all" else every.flip(0)[::2]


@pytest.fixture(params=["all", "some"])
def rows(request, case):
    return choose(case, request.param)


@pytest.mark.parametrize("numbers", NUMBERS)
@pytest.mark.parametrize("control", [False, True])
def test_both_directions_are_those_of_the_dense_operator(graph, dense, rows, numbers, control):
    g, u = numbers
    operators = Operators(graph, rows, propagated=g, kept=u, control=control)
    whole = g * dense.G + u * torch.eye(len(dense.G), dtype=torch.float64)
    assert_close(operators.forward.to_dense(), whole[rows])
    behind = [(g + u) * dense.Q] if control else []
    assert_close(operators.backward.to_dense(), torch.cat([whole[rows].t(), *behind], dim=1))


@pytest.mark.parametrize("numbers", NUMBERS)
def test_no_rows_are_all_rows(graph, numbers):
    g, u = numbers
    settings = dict(propagated=g, kept=u, control=True)
    every = torch.arange(graph.num_nodes)
    ours, theirs = Operators(graph, None, **settings), Operators(graph, every, **settings)
    assert_close(ours.forward.to_dense(), theirs.forward.to_dense())
    assert_close(ours.backward.to_dense(), theirs.backward.to_dense())


def test_the_eigenspace_pools_and_adds_as_the_dense_basis(graph, dense, rows):
    basis = dense.Q[rows]
    x, start, a = random(len(rows), 6), random(dense.m, 6, seed=1), random(dense.m, 6, seed=2)
    do, eigenspace = Program(Arena(x)), Eigenspace(graph, rows)
    pooled, mixed = torch.full_like(a, torch.nan), torch.full_like(a, torch.nan)
    out = x.clone()
    eigenspace.pool(do, x, pooled)
    eigenspace.pool(do, x, mixed, scale=2.0, start=start, v=0.3)
    eigenspace.add(do, a, out)
    do.run()
    assert_close(pooled, basis.t() @ x)
    assert_close(mixed, 0.3 * start + 2 * basis.t() @ x)
    assert_close(out, x + basis @ a)
