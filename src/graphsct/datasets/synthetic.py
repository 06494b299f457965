"""Graphs generated from a seed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
import torch

from graphsct.datasets.assemble import assemble
from graphsct.datasets.splits import Fractions, PerClass
from graphsct.errors import DataError
from graphsct.graph import Graph

__all__ = ["GENERATED", "arxiv_like", "csbm", "demo"]

_ROUNDS = 64
#: Number of pairs that are drawn at a time, in the processor's caches.
_CACHED = 1 << 15


def csbm(
    num_nodes: int = 1000,
    num_edges: int = 5000,
    *,
    num_classes: int = 2,
    homophily: float = 0.8,
    num_features: int = 16,
    signal: float = 1.0,
    num_components: int = 1,
    degree_exponent: float | None = None,
    split: Fractions | PerClass | None = None,
    seed: int = 0,
    name: str = "csbm",
) -> Any:
    r"""The contextual stochastic block model: a random graph with features of its classes.

    .. math::
        P(y_u = y_v \mid (u, v) \in E) = h, \qquad
        \mathbf x_v = \mu\, \mathbf m_{y_v} + \boldsymbol\varepsilon_v, \qquad
        \boldsymbol\varepsilon_v \sim \mathcal N(\mathbf 0, \mathbf I / d)

    with one random unit vector :math:`\mathbf m_c` per class. Classes have equal sizes up to one
    node, and so have components. Each component contains a random spanning tree, so the
    number of components is exact. So is the number of edges and, if the graph has room for it, the
    share of edges inside a class.

    Args:
        num_nodes: :math:`n`
        num_edges: undirected edges, none listed twice, no self-loops
        num_classes: number of classes
        homophily: :math:`h`, the share of edges inside a class
        num_features: :math:`d`
        signal: :math:`\mu`, the length of the class means; noise has length about one
        num_components: number of connected components
        degree_exponent: exponent of a power law of the degrees, above 2; by default, degrees are
            about Poisson
        split: how to draw the masks; defaults to 48/32/20 % of each class
        seed: seed of all random numbers; the same graph on any machine
        name: name of the result

    Example:
        >>> data = csbm(100, 300, num_classes=3, homophily=0.7, num_components=4)
        >>> data.graph
        Graph(num_nodes=100, num_edges=300, num_components=4)
    """
    whole = dict(num_nodes=num_nodes, num_edges=num_edges, num_classes=num_classes)
    whole |= dict(num_features=num_features, num_components=num_components, seed=seed)
    _check_kinds(whole, dict(homophily=homophily, signal=signal))
    _check(num_nodes, num_edges, num_classes, homophily, num_components, degree_exponent)
    rng = np.random.default_rng(seed)
    nodes = _Blocks.draw(rng, num_nodes, num_classes, num_components, degree_exponent)
    edges = _draw_edges(rng, nodes, num_edges, homophily)
    mean = rng.standard_normal((num_classes, num_features), dtype=np.float32)
    mean *= signal / np.linalg.norm(mean, axis=1, keepdims=True)
    x = rng.standard_normal((num_nodes, num_features), dtype=np.float32)
    x *= np.float32(num_features**-0.5)
    x += mean[nodes.label]
    y = torch.from_numpy(nodes.label)
    graph = Graph(edges, num_nodes, symmetrize=True)
    del edges  # as much memory as the result
    return assemble(
        name,
        graph=graph,
        loops=[],
        x=x,
        y=y,
        splits=[(split or Fractions(seed=seed)).draw(y)],
    )


def arxiv_like(seed: int = 0) -> Any:
    """A stand-in for Ogbn-arxiv, *not* the data set: as many nodes, edges, features and classes,
    its homophily and split sizes, one component, heavy-tailed degrees, everything else random.
    """
    return csbm(
        169_343,
        1_166_243,
        num_classes=40,
        homophily=0.65,
        num_features=128,
        degree_exponent=2.5,
        split=Fractions(train=0.537, val=0.176, seed=seed),
        seed=seed,
        name="arxiv_like (a generated stand-in, not Ogbn-arxiv)",
    )


def demo(seed: int = 0) -> Any:
    """A small graph for a first look: three classes, three components, no file needed."""
    return csbm(
        300,
        900,
        num_classes=3,
        homophily=0.8,
        num_components=3,
        split=PerClass(train=10, val=20, seed=seed),
        seed=seed,
        name="demo (generated)",
    )


GENERATED: dict[str, Callable[[int], Any]] = {"demo": demo, "arxiv_like": arxiv_like}


@dataclass(frozen=True)
class _Blocks:
    """Nodes in blocks: those of one component lie together, in them those of one class.

    Args:
        label: class of each node; shape: ``(n,)``
        order: the nodes, block by block; shape: ``(n,)``
        place: where each node is in ``order``; shape: ``(n,)``
        component: first and last-but-one place of each place's component; shape: ``(2, n)``
        block: the same for its block; shape: ``(2, n)``
        weight: running sum of the nodes' weights, ``None`` if all are one; shape: ``(n + 1,)``
    """

    label: Any
    order: Any
    place: Any
    component: Any
    block: Any
    weight: Any

    @classmethod
    def draw(
        cls, rng: Any, n: int, classes: int, components: int, exponent: float | None
    ) -> _Blocks:
        label = rng.permutation(np.arange(n) % classes)
        component = rng.permutation(np.arange(n) % components)
        order = np.lexsort((label, component))
        place = np.empty(n, dtype=np.int64)
        place[order] = np.arange(n)
        weight = None
        if exponent is not None:
            # P(weight > w) = w^(1 - exponent), cut where one node would take all the edges
            draws = (1 - rng.random(n)) ** (-1 / (exponent - 1))
            draws = np.minimum(draws, draws.mean() * n**0.5)
            weight = np.concatenate([[0.0], np.cumsum(draws)])
        sorted_component = component[order]
        block = sorted_component * classes + label[order]
        return cls(label, order, place, _bounds(sorted_component), _bounds(block), weight)

    def pick(self, draws: Any, start: Any, stop: Any) -> Any:
        """The place in each range that a draw from [0, 1) selects, by weight."""
        if self.weight is None:
            return np.minimum(start + (draws * (stop - start)).astype(np.int64), stop - 1)
        low, high = self.weight[start], self.weight[stop]
        found = np.searchsorted(self.weight, low + draws * (high - low), side="right") - 1
        return np.clip(found, start, stop - 1)

    def pairs(self, draws: Any, *, inside: bool) -> Any:
        """Keys of pairs inside a block, or between the blocks of a component, from two draws each;
        pairs of the wrong kind are left out.
        """
        n = len(self.order)
        u = self.pick(draws[0], 0, n)
        bounds = self.block if inside else self.component
        v = self.pick(draws[1], bounds[0][u], bounds[1][u])
        good = u != v if inside else self.block[0][u] != self.block[0][v]
        return _keys(u[good], v[good], n)


def _bounds(group: Any) -> Any:
    """First and last-but-one place of the group of each place, groups lying together."""
    change = np.flatnonzero(np.diff(group)) + 1
    starts = np.concatenate([[0], change])
    stops = np.concatenate([change, [len(group)]])
    return np.repeat(np.stack([starts, stops]), stops - starts, axis=1)


def _draw_edges(rng: Any, nodes: _Blocks, num_edges: int, homophily: float) -> Any:
    """Distinct undirected edges, ``num_edges`` in all; shape: ``(2, num_edges)``.

    Each is a key ``n * u + v`` of two places ``u < v``.
    """
    n = len(nodes.order)
    tree = _draw_trees(rng, nodes, homophily)
    inside = nodes.block[0][tree // n] == nodes.block[0][tree % n]
    room = [_pairs(nodes.block), _pairs(nodes.component) - _pairs(nodes.block)]
    kept = [tree[inside], tree[~inside]]
    # The trees have about the right share already; the other edges make it exact.
    same = min(max(round(homophily * num_edges), len(kept[0])), num_edges - len(kept[1]))
    wanted = [same, num_edges - same]
    keys = []
    for kind, what in enumerate(("inside", "between")):
        if wanted[kind] > room[kind]:
            raise DataError(
                f"num_edges={num_edges} with homophily={homophily} asks for {wanted[kind]} edges "
                f"{what} the classes, but there are only {room[kind]} such pairs of nodes; ask for "
                "fewer edges, more nodes or another homophily"
            )
        if 2 * wanted[kind] > room[kind]:
            pool = _all_pairs(nodes, inside=kind == 0)
        else:
            pool = _some_pairs(rng, nodes, kept[kind], wanted[kind], inside=kind == 0)
        keys.append(_thin_out(rng, pool, np.sort(kept[kind]), wanted[kind]))
    u, v = np.divmod(np.concatenate(keys), n)
    return np.stack([nodes.order[u], nodes.order[v]])


def _draw_trees(rng: Any, nodes: _Blocks, homophily: float) -> Any:
    """A random tree in each component: nodes arrive in random order, each joins an earlier one,
    with probability ``homophily`` one of its own class.
    """
    n = len(nodes.order)
    arrival = np.lexsort((rng.random(n), nodes.component[0]))  # places, in order of arrival
    time = np.arange(n)
    first = nodes.component[0]  # a component keeps its range, so this holds for times too
    joins = time > first
    block = nodes.block[0][arrival]
    by_block = np.argsort(block, kind="stable")  # times, block by block
    rank = np.empty(n, dtype=np.int64)
    rank[by_block] = time - nodes.block[0]
    own = joins & (rank > 0) & (rng.random(n) < homophily)
    parent = time.copy()
    earlier = (rng.random(int(own.sum())) * rank[own]).astype(np.int64)
    parent[own] = by_block[block[own] + earlier]
    open_ = np.flatnonzero(joins & ~own)
    for _ in range(_ROUNDS):  # the first node of another class may be late: then any will do
        span = open_ - first[open_]
        parent[open_] = first[open_] + (rng.random(len(open_)) * span).astype(np.int64)
        open_ = open_[block[parent[open_]] == block[open_]]
        if not len(open_):
            break
    return _keys(arrival[time[joins]], arrival[parent[joins]], n)


def _some_pairs(rng: Any, nodes: _Blocks, kept: Any, wanted: int, *, inside: bool) -> Any:
    """At least ``wanted`` different pairs, ``kept`` among them, sorted."""
    pool = np.sort(kept)
    for _ in range(_ROUNDS):
        missing = wanted - len(pool)
        if missing <= 0:
            return pool
        draws = rng.random((2, missing + missing // 8 + 64))
        parts = range(0, draws.shape[1], _CACHED)
        new = [nodes.pairs(draws[:, i : i + _CACHED], inside=inside) for i in parts]
        pool = _merge([pool, *new])
    raise DataError(
        f"{wanted} edges are too many for such uneven degrees; raise degree_exponent or num_nodes"
    )


def _all_pairs(nodes: _Blocks, *, inside: bool) -> Any:
    """Every pair inside a block, or between the blocks of a component, sorted."""
    n = len(nodes.order)
    bounds = nodes.block if inside else nodes.component
    keys = []
    for start, stop in np.unique(bounds, axis=1).T:
        u, v = np.triu_indices(stop - start, k=1)
        keys.append(n * (u + start) + v + start)
    pool = np.sort(np.concatenate(keys))
    if inside:
        return pool
    return pool[nodes.block[0][pool // n] != nodes.block[0][pool % n]]


def _thin_out(rng: Any, pool: Any, kept: Any, wanted: int) -> Any:
    """A random ``wanted`` of the pairs, ``kept`` among them."""
    free = np.ones(len(pool), dtype=bool)
    free[np.searchsorted(pool, kept)] = False
    excess = rng.choice(np.flatnonzero(free), len(pool) - wanted, replace=False)
    return np.delete(pool, excess)


def _merge(keys: list[Any]) -> Any:
    """The union, sorted."""
    pool = np.concatenate(keys)
    pool.sort()
    new = np.ones(len(pool), dtype=bool)
    np.not_equal(pool[1:], pool[:-1], out=new[1:])
    return pool[new]


def _keys(u: Any, v: Any, n: int) -> Any:
    return n * np.minimum(u, v) + np.maximum(u, v)


def _pairs(bounds: Any) -> int:
    """Number of pairs inside the groups: each place has ``size - 1`` partners."""
    return int((bounds[1] - bounds[0] - 1).sum()) // 2


def _check_kinds(whole: dict[str, Any], real: dict[str, Any]) -> None:
    """Refuse arguments that are not numbers of the right kind; the error names them."""
    for name, value in whole.items():
        least = int(name not in ("num_edges", "seed"))
        if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
            raise DataError(f"{name} is {value!r}, expected a whole number of at least {least}")
    for name, value in real.items():
        if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
            raise DataError(f"{name} is {value!r}, expected a finite number")


def _check(
    nodes: int, edges: int, classes: int, homophily: float, components: int, exponent: float | None
) -> None:
    for name, value, least, most in (
        ("num_classes", classes, 1, nodes),
        ("num_components", components, 1, nodes),
        ("homophily", homophily, 0, 1),
        ("num_edges", edges, nodes - components, nodes * (nodes - 1) // 2),
    ):
        if not least <= value <= most:
            raise DataError(
                f"{name} is {value}; with num_nodes={nodes} and num_components={components} it is "
                f"between {least} and {most}"
            )
    if exponent is not None and not exponent > 2:
        raise DataError(f"degree_exponent is {exponent}; degrees have a mean only above 2")
