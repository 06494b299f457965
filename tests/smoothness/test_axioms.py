"""The axioms that the measures list, on every graph of the zoo and many features."""

import inspect

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close
from zoo import ZOO

from graphsct.smoothness import MEASURES, Axiom

GRAPHS = {name: case.graph() for name, case in ZOO.items()}
LISTED = [(name, a) for name, (_, axioms) in MEASURES.items() for a in Axiom if a in axioms]


def equal(found, expected):
    assert_close(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("name", "axiom"), LISTED, ids=lambda value: getattr(value, "name", value))
@given(
    graph=st.sampled_from(list(GRAPHS.values())),
    seed=st.integers(0, 2**32 - 1),
    width=st.integers(1, 4),
    factor=st.floats(-100, 100).filter(lambda c: abs(c) > 1e-2),
)
def test_listed_axioms_hold(name, axiom, graph, seed, width, factor):
    function, _ = MEASURES[name]
    takes_graph = len(inspect.signature(function).parameters) == 2

    def f(x):
        return function(x, graph) if takes_graph else function(x)

    generator = torch.Generator().manual_seed(seed)
    shape = (2, graph.num_nodes, width)
    x, y = torch.randn(shape, dtype=torch.float64, generator=generator)
    square = torch.randn(width, width, dtype=torch.float64, generator=generator)
    smooth = graph.project(x) + graph.unpool(graph.pool(y))
    match axiom:
        case Axiom.NON_NEGATIVE:
            assert (f(x) >= 0).all()
        case Axiom.ZERO_IF_SMOOTH:
            assert_close(f(smooth), torch.zeros_like(f(x)), rtol=0, atol=1e-12)
        case Axiom.ONE_IF_SMOOTH:
            equal(f(smooth), torch.ones_like(f(x)))
        case Axiom.SCALE_INVARIANT:
            equal(f(factor * x), f(x))
        case Axiom.HOMOGENEOUS:
            equal(f(factor * x), abs(factor) * f(x))
        case Axiom.QUADRATIC:
            equal(f(factor * x), factor**2 * f(x))
        case Axiom.ROTATION_INVARIANT:
            equal(f(x @ torch.linalg.qr(square).Q), f(x))
        case Axiom.TRIANGLE_INEQUALITY:
            assert f(x + y) <= f(x) + f(y) + 1e-12
        case _:
            pytest.fail(f"{axiom} has no check")


def test_every_measure_lists_its_axioms():
    assert set(MEASURES) == {
        "dirichlet_energy",
        "distance_to_eigenspace",
        "effective_rank",
        "normalized_dirichlet_energy",
        "normalized_smoothness",
    }
    assert all(Axiom.NON_NEGATIVE in axioms for _, axioms in MEASURES.values())
