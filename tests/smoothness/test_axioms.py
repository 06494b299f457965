"""The axioms that the measures list, and no others, on every graph of the zoo and many features."""

import inspect
from dataclasses import dataclass

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from zoo import ZOO, Case

from graphsct import smoothness
from graphsct.smoothness import MEASURES, Axiom

GRAPHS = {name: case.graph() for name, case in ZOO.items()}
PAIRS = [(name, axiom) for name in MEASURES for axiom in Axiom]
TAKES = {name: set(inspect.signature(f).parameters) for name, (f, _) in MEASURES.items()}
LISTED = [(name, axiom) for name, axiom in PAIRS if axiom in MEASURES[name][1]]
OTHERS = [pair for pair in PAIRS if pair not in LISTED]

#: How features that hide something from a measure are made of random ones.
KINDS = {
    "any": lambda x, graph: x,
    "positive": lambda x, graph: x.abs(),
    "smooth": lambda x, graph: graph.project(x),
    "constant": lambda x, graph: x[graph.component],
    "rough": lambda x, graph: x - graph.project(x),
    "one_direction": lambda x, graph: x[:, :1] @ x[:1],
    "sparse": lambda x, graph: x * (x > 0.5),
}


@dataclass
class Sample:
    """Random features on a graph, and all that the axioms do to them."""

    name: str
    seed: int
    width: int
    factor: float
    kind: str

    def __post_init__(self):
        self.case, self.graph = ZOO[self.name], GRAPHS[self.name]
        n, d = self.graph.num_nodes, self.width
        self.generator = torch.Generator().manual_seed(self.seed)
        self.x, self.other = (KINDS[self.kind](self.normal(n, d), self.graph) for _ in range(2))
        basis = torch.linalg.qr(self.normal(n, d)).Q
        self.opposite = -self.x + 1e-3 * torch.nn.functional.pad(basis, (0, d - basis.shape[1]))
        self.smooth = self.graph.unpool(self.normal(self.graph.num_components, d))
        self.constant = self.normal(1, d).expand(n, d)
        self.rotation = torch.linalg.qr(self.normal(d, d)).Q
        self.y = torch.arange(n) % 2

    def normal(self, *shape):
        return torch.randn(shape, dtype=torch.float64, generator=self.generator)

    def renumbered(self):
        """The features, classes and graph with other numbers for the nodes."""
        new = torch.randperm(self.graph.num_nodes, generator=self.generator)
        edges = tuple((int(new[i]), int(new[j])) for i, j in self.case.edges)
        case = Case(edges, self.case.num_nodes, self.case.num_components, self.case.weights)
        old = new.argsort()
        return self.x[old], self.y[old], case.graph()


def holds(name, axiom, sample):
    """Whether an axiom holds for a sample; a measure of each dimension is judged by its mean."""

    def f(x, y=sample.y, graph=sample.graph):
        given = {"x": x, "y": y, "graph": graph}
        wanted = {key: value for key, value in given.items() if key in TAKES[name]}
        return MEASURES[name][0](**wanted).mean().item()

    def equal(found, expected):
        return found == pytest.approx(expected, rel=1e-7, abs=1e-9)

    x, graph, factor = sample.x, sample.graph, sample.factor
    outside = x - graph.project(x)
    first = x[[graph.component.tolist().index(c) for c in range(graph.num_components)]]
    match axiom:
        case Axiom.NON_NEGATIVE:
            return f(x) >= 0
        case Axiom.ZERO_IF_SMOOTH:
            return equal(f(sample.smooth), 0)
        case Axiom.ZERO_IF_CONSTANT:
            return equal(f(sample.constant), 0)
        case Axiom.POSITIVE_IF_ROUGH:
            return outside.norm() < 1e-3 or f(x) > 1e-9
        case Axiom.POSITIVE_IF_VARIED:
            return (x - first[graph.component]).norm() < 1e-3 or f(x) > 1e-9
        case Axiom.ONE_IF_SMOOTH:
            return equal(f(sample.smooth), 1)
        case Axiom.SCALE_INVARIANT:
            return equal(f(factor * x), f(x))
        case Axiom.HOMOGENEOUS:
            return equal(f(factor * x), abs(factor) * f(x))
        case Axiom.QUADRATIC:
            return equal(f(factor * x), factor**2 * f(x))
        case Axiom.SHIFT_INVARIANT:
            return equal(f(x + sample.constant), f(x))
        case Axiom.ROTATION_INVARIANT:
            return equal(f(x @ sample.rotation), f(x))
        case Axiom.PERMUTATION_INVARIANT:
            return equal(f(*sample.renumbered()), f(x))
        case Axiom.DEAD_INVARIANT:
            return equal(f(torch.cat([x, torch.zeros_like(x)], 1)), f(x))
        case Axiom.COPY_INVARIANT:
            return equal(f(torch.cat([x, x], 1)), f(x))
        case Axiom.TRIANGLE_INEQUALITY:
            others = (sample.other, sample.opposite)
            return all(f(x + other) <= f(x) + f(other) + 1e-9 for other in others)
    pytest.fail(f"{axiom} has no check")


def graphs(name):
    """The graphs that a measure can be tested on: classes have two nodes or more."""
    return [graph for graph in GRAPHS if "y" not in TAKES[name] or ZOO[graph].num_nodes >= 4]


def ids(value):
    return getattr(value, "name", value)


@pytest.mark.parametrize(("name", "axiom"), LISTED, ids=ids)
@given(data=st.data())
def test_listed_axioms_hold(name, axiom, data):
    sample = Sample(
        name=data.draw(st.sampled_from(graphs(name))),
        seed=data.draw(st.integers(0, 2**32 - 1)),
        width=data.draw(st.integers(1, 4)),
        factor=data.draw(st.floats(-100, 100).filter(lambda c: abs(c) > 1e-2)),
        kind=data.draw(st.sampled_from(list(KINDS))),
    )
    assert holds(name, axiom, sample)


@pytest.mark.parametrize(("name", "axiom"), OTHERS, ids=ids)
def test_other_axioms_have_a_counterexample(name, axiom):
    samples = (
        Sample(graph, seed, width, factor=3.0, kind=kind)
        for seed in range(5)
        for width in (1, 3)
        for kind in KINDS
        for graph in graphs(name)
    )
    assert not all(holds(name, axiom, sample) for sample in samples)


def test_every_measure_lists_its_axioms():
    helpers = {"contraction_bound", "dead_dimensions", "equivalence_constants"}
    public = {name for name in smoothness.__all__ if name.islower()} - helpers
    assert {name.partition("(")[0] for name in MEASURES} == public
    assert all(Axiom.NON_NEGATIVE in axioms for _, axioms in MEASURES.values())
