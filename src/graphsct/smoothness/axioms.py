r"""What can be said of a measure :math:`f` of features, whatever the graph."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import TypeVar

__all__ = ["MEASURES", "Axiom", "satisfies"]


class Axiom(Enum):
    r"""A property of a measure, of its mean if it has one value per dimension.

    :math:`\mathbf O` is any orthogonal matrix, :math:`\mathbf P` any permutation and
    :math:`\mathbf 1 \mathbf c^\top` has the same row at every node.
    """

    NON_NEGATIVE = r"f(X) >= 0"
    ZERO_IF_SMOOTH = r"f(X) = 0 for X in the eigenspace"
    ZERO_IF_CONSTANT = r"f(1 c^T) = 0"
    POSITIVE_IF_ROUGH = r"f(X) > 0 for X outside the eigenspace"
    POSITIVE_IF_VARIED = r"f(X) > 0 for X that differs inside a component"
    ONE_IF_SMOOTH = r"f(X) = 1 for X in the eigenspace"
    SCALE_INVARIANT = r"f(c X) = f(X) for c != 0"
    HOMOGENEOUS = r"f(c X) = |c| f(X)"
    QUADRATIC = r"f(c X) = c^2 f(X)"
    SHIFT_INVARIANT = r"f(X + 1 c^T) = f(X)"
    ROTATION_INVARIANT = r"f(X O) = f(X)"
    PERMUTATION_INVARIANT = r"f(P X) = f(X), the graph renumbered likewise"
    DEAD_INVARIANT = r"f([X 0]) = f(X)"
    COPY_INVARIANT = r"f([X X]) = f(X)"
    TRIANGLE_INEQUALITY = r"f(X + Y) <= f(X) + f(Y)"


#: The measures by name, each with the axioms that hold for it. A shared test checks that these
#: hold, and finds a counterexample to every other.
MEASURES: dict[str, tuple[Callable[..., object], frozenset[Axiom]]] = {}

Function = TypeVar("Function", bound=Callable[..., object])


def satisfies(*axioms: Axiom, name: str | None = None) -> Callable[[Function], Function]:
    """List all axioms of a measure, and register it, under its own name unless told another."""

    def register(function: Function) -> Function:
        MEASURES[name or function.__name__] = function, frozenset(axioms)
        return function

    return register
