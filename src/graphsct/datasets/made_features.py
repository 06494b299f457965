"""Features for a graph that has none, made from its edges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_array, eye_array
from scipy.sparse.linalg import ArpackError, eigsh

from graphsct.datasets.features import from_tensor
from graphsct.errors import DataError
from graphsct.graph import Graph
from graphsct.names import pick

__all__ = ["MADE_FEATURES", "check_present", "make_features"]

_DEGREES = 64
_VECTORS = 16
_DENSE_NODES = 256


def make_features(kind: str, graph: Graph, name: str = "the graph") -> Any:
    """Make the features of a graph, by a name in :data:`MADE_FEATURES`; shape: ``(n, d)``.

    Args:
        kind: ``degree``, a column for each number of neighbours up to 62 and one for more;
            ``laplacian``, 16 eigenvectors of the normalised Laplacian with small eigenvalues; or
            ``one_hot``, a column for each node
        graph: the graph
        name: its name in an error

    Example:
        >>> path = Graph(np.array([[0, 1, 1, 2], [1, 0, 2, 1]]))
        >>> make_features("degree", path).argmax(axis=1)
        array([1, 2, 1])
    """
    make = pick(MADE_FEATURES, kind, "features", DataError)
    try:
        return make(graph)
    except ArpackError as error:
        raise DataError(
            f"the eigenvectors of {name} were not found: {error}; use features='degree'"
        ) from error


def check_present(data: Any) -> Any:
    """Return data that have features, or raise an error that says how to make some."""
    if getattr(data, "x", None) is None:
        raise DataError(
            f"{data.name} has no features; make some from its edges: features='degree', "
            "features='laplacian' or features='one_hot'"
        )
    return data


def _degree(graph: Graph) -> Any:
    neighbours = graph.adjacency.starts.diff().numpy() - 1  # every node has its self-loop
    return np.eye(_DEGREES, dtype=np.float32)[np.minimum(neighbours, _DEGREES - 1)]


def _one_hot(graph: Graph) -> Any:
    return csr_array(eye_array(graph.num_nodes, dtype=np.float32))


def _laplacian(graph: Graph) -> Any:
    """The largest eigenvectors of the operator but the first, each with its largest entry positive.
    The solver starts from a fixed vector, so that the features are the same every time.
    """
    n = graph.num_nodes
    matrix = from_tensor(graph.matrix).astype(np.float64)
    if n <= _DENSE_NODES:
        vectors = np.linalg.eigh(matrix.toarray())[1]
    else:
        start = np.random.default_rng(0).standard_normal(n)
        values, vectors = eigsh(matrix, k=_VECTORS + 1, which="LA", v0=start)
        vectors = vectors[:, np.argsort(values)]
    vectors = vectors[:, ::-1][:, 1 : _VECTORS + 1]
    sign = np.sign(np.take_along_axis(vectors, np.abs(vectors).argmax(axis=0)[None], axis=0))
    x = np.zeros((n, _VECTORS), dtype=np.float32)
    x[:, : vectors.shape[1]] = vectors * sign
    return x


MADE_FEATURES: dict[str, Callable[[Graph], Any]] = {
    "degree": _degree,
    "laplacian": _laplacian,
    "one_hot": _one_hot,
}
