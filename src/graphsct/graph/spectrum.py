r"""The largest and smallest eigenvalue of the operator outside the eigenspace.

The Lanczos method finds both at once, in time proportional to the edges and to the number of steps.
The closer the eigenvalues lie together the more steps it takes: some hundreds for most graphs, far
too many for a long path. Graphs with few cycles are factorised instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from scipy.linalg import eigh_tridiagonal
from scipy.sparse import csr_array, eye_array
from scipy.sparse.linalg import LinearOperator, SuperLU, eigsh, splu

from graphsct.errors import GraphError

if TYPE_CHECKING:
    from graphsct.graph import Graph

__all__ = ["Extremes", "extreme_eigenvalues"]

Extremes = tuple[float, float]

_DENSE_NODES = 256
_STEPS = 3000
_STEPS_IF_THIN = 300
_PRECISION = 1e-7  # of the distance of an eigenvalue to 1 or -1
# Without leaves and nodes of degree two a graph has at most twice as many nodes as cycles.
_THIN_CYCLES = 1000
_THIN_DEGREE = 1000


def extreme_eigenvalues(graph: Graph) -> Extremes | None:
    r""":math:`\lambda_{m+1}` and :math:`\lambda_n` of a float64 graph on the CPU.

    Raises:
        GraphError: if they did not converge, with the bounds reached
    """
    n, m = graph.num_nodes, graph.num_components
    if n == m:
        return None
    if n <= _DENSE_NODES:
        smooth = graph.project(torch.eye(n, dtype=torch.float64))
        operator = graph.propagate(torch.eye(n, dtype=torch.float64))
        upper = torch.linalg.eigvalsh(operator - 2 * smooth)[-1]  # 1 becomes -1, below all others
        return upper.item(), torch.linalg.eigvalsh(operator)[0].item()
    cycles = graph.num_edges - n + m
    thin = cycles <= _THIN_CYCLES and int(graph.adjacency.starts.diff().max()) <= _THIN_DEGREE
    steps = _STEPS_IF_THIN if thin else _STEPS
    found = _lanczos(graph, steps)
    if found.converged:
        return found.upper, found.lower
    if thin:
        return _factorized_upper(graph), _factorized_lower(graph, found)
    raise GraphError(
        f"the eigenvalues of this graph ({n} nodes) lie too close together: after {steps} steps "
        f"the largest outside the eigenspace is at least {found.upper:.9g} and the smallest at "
        f"most {found.lower:.9g}, with errors of about {found.upper_error:.1g} and "
        f"{found.lower_error:.1g}"
    )


@dataclass(frozen=True)
class _Ritz:
    """Bounds of the extreme eigenvalues from inside, and how far an eigenvalue may be from each."""

    upper: float
    lower: float
    upper_error: float
    lower_error: float

    @classmethod
    def of(cls, diagonal: list[float], off: list[float], rest: float) -> _Ritz:
        """The extreme eigenvalues of a tridiagonal matrix that leaves out a rest."""
        values, errors = [], []
        for end in (len(diagonal) - 1, 0):
            value, vector = eigh_tridiagonal(diagonal, off, select="i", select_range=(end, end))
            values.append(float(value[0]))
            errors.append(rest * abs(float(vector[-1, 0])))
        return cls(*values, *errors)

    @property
    def converged(self) -> bool:
        """Whether both are as precise as wanted."""
        upper = self.upper_error <= _PRECISION * (1 - self.upper)
        return upper and self.lower_error <= _PRECISION * (1 + self.lower)


def _lanczos(graph: Graph, steps: int) -> _Ritz:
    """The method without reorthogonalisation, which only repeats values that have converged."""
    generator = torch.Generator().manual_seed(0)
    v = torch.randn(graph.num_nodes, 1, dtype=torch.float64, generator=generator)
    v -= graph.project(v)
    v /= torch.linalg.vector_norm(v)
    inside = (v * graph.propagate(v)).sum().item()
    before, rest = torch.zeros_like(v), 0.0
    diagonal: list[float] = []
    off: list[float] = []
    check = 20
    while True:
        # The eigenvalue 1 of the eigenspace moves to a place between the two that are wanted.
        w = graph.propagate(v).sub_(graph.project(v), alpha=1 - inside)
        diagonal.append((v * w).sum().item())
        w.sub_(v, alpha=diagonal[-1]).sub_(before, alpha=rest)
        rest = torch.linalg.vector_norm(w).item()
        if len(diagonal) in (check, steps) or rest < 1e-14:
            found = _Ritz.of(diagonal, off, rest)
            if found.converged or len(diagonal) == steps or rest < 1e-14:
                return found
            check += max(20, check // 10)
        off.append(rest)
        before, v = v, w.div_(rest)


def _factorized_upper(graph: Graph) -> float:
    r"""One minus the inverse of the largest eigenvalue of :math:`(\mathbf I - \mathbf G)^+`.

    Without one node of each component :math:`\mathbf I - \mathbf G` is positive definite, and
    solves for whatever is orthogonal to the eigenspace.
    """
    n = graph.num_nodes
    matrix = _scipy(graph)
    first = np.unique(graph.component.numpy(), return_index=True)[1]
    kept = np.delete(np.arange(n), first)
    factors = _factorize((eye_array(n, format="csr") - matrix)[kept][:, kept])

    def rough(v: Any) -> Any:
        x = torch.from_numpy(np.ascontiguousarray(v).reshape(n, 1))
        return (x - graph.project(x)).numpy()[:, 0]

    def solve(v: Any) -> Any:
        out = np.zeros(n)
        out[kept] = factors.solve(rough(v)[kept])
        return rough(out)

    inverse = LinearOperator((n, n), matvec=solve, dtype=np.float64)
    start = rough(np.random.default_rng(0).standard_normal(n))
    (largest,) = eigsh(inverse, k=1, which="LA", v0=start, tol=1e-9, return_eigenvectors=False)
    return 1 - 1 / float(largest)


def _factorized_lower(graph: Graph, found: _Ritz) -> float:
    r"""Bisection: :math:`\mathbf G - \sigma \mathbf I` is positive definite below its smallest
    eigenvalue alone.
    """
    matrix, eye = _scipy(graph), eye_array(graph.num_nodes, format="csr")

    def is_below(shift: float) -> bool:
        return bool((_factorize(matrix - shift * eye).U.diagonal() > 0).all())

    low, high = found.lower - found.lower_error, found.lower
    if not is_below(low):
        low = -1.0
    while high - low > _PRECISION * (1 + high):
        middle = (low + high) / 2
        low, high = (middle, high) if is_below(middle) else (low, middle)
    return (low + high) / 2


def _factorize(matrix: Any) -> SuperLU:
    """LU of a symmetric matrix with its diagonal for pivots, which keeps their signs."""
    return splu(
        matrix.tocsc(),
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )


def _scipy(graph: Graph) -> csr_array:
    matrix = graph.matrix
    arrays = matrix.values(), matrix.col_indices(), matrix.crow_indices()
    return csr_array(tuple(array.numpy() for array in arrays), shape=matrix.shape)
