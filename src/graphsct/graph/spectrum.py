r"""The largest and smallest eigenvalue of the operator outside the eigenspace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from graphsct.errors import GraphError

if TYPE_CHECKING:
    from graphsct.graph import Graph

__all__ = ["Extremes", "extreme_eigenvalues"]

Extremes = tuple[float, float]

_DENSE_NODES = 256


def extreme_eigenvalues(graph: Graph) -> Extremes | None:
    r""":math:`\lambda_{m+1}` and :math:`\lambda_n` of a float64 graph on the CPU.

    Subtracting twice the projection moves the m-fold eigenvalue 1 to -1, below all others, so the
    solver looks for one largest eigenvalue instead of m + 1 clustered ones. For the smallest
    eigenvalue the projection is added instead.
    """
    n, m = graph.num_nodes, graph.num_components
    if n == m:
        return None

    def shifted(sign: int) -> Any:
        def apply(v: Any) -> Any:
            x = torch.from_numpy(np.ascontiguousarray(v).reshape(n, -1))
            return (graph.propagate(x) + sign * 2 * graph.project(x)).numpy().reshape(v.shape)

        return apply

    if n <= _DENSE_NODES:
        eye = np.eye(n)
        upper = np.linalg.eigvalsh(shifted(-1)(eye))[-1]
        lower = np.linalg.eigvalsh(shifted(+1)(eye))[0]
        return float(upper), float(lower)
    start = np.random.default_rng(0).standard_normal(n)
    try:
        (upper,) = _solve(shifted(-1), n, "LA", start)
        (lower,) = _solve(shifted(+1), n, "SA", start)
    except ArpackNoConvergence as error:
        raise GraphError(
            f"the eigenvalues next to 1 and -1 of this graph ({n} nodes) lie too close together "
            f"for the sparse solver: {error}"
        ) from error
    return float(upper), float(lower)


def _solve(apply: Any, n: int, which: str, start: Any) -> Any:
    operator = LinearOperator((n, n), matvec=apply, matmat=apply, dtype=np.float64)
    return eigsh(operator, k=1, which=which, v0=start, ncv=min(n, 64), return_eigenvectors=False)
