r"""What can be said of a measure :math:`f` of features, whatever the graph."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import TypeVar

__all__ = ["MEASURES", "Axiom", "satisfies"]


class Axiom(Enum):
    r"""A property of a measure; :math:`\mathbf O` is any orthogonal matrix."""

    NON_NEGATIVE = r"f(X) >= 0"
    ZERO_IF_SMOOTH = r"f(X) = 0 for X in the eigenspace"
    ONE_IF_SMOOTH = r"f(X) = 1 for X in the eigenspace"
    SCALE_INVARIANT = r"f(c X) = f(X) for c != 0"
    HOMOGENEOUS = r"f(c X) = |c| f(X)"
    QUADRATIC = r"f(c X) = c^2 f(X)"
    ROTATION_INVARIANT = r"f(X O) = f(X)"
    TRIANGLE_INEQUALITY = r"f(X + Y) <= f(X) + f(Y)"


#: The measures by name, each with the axioms that hold for it. A shared test checks them.
MEASURES: dict[str, tuple[Callable[..., object], frozenset[Axiom]]] = {}

Function = TypeVar("Function", bound=Callable[..., object])


def satisfies(*axioms: Axiom) -> Callable[[Function], Function]:
    """List the axioms of a measure, and register it."""

    def register(function: Function) -> Function:
        MEASURES[function.__name__] = function, frozenset(axioms)
        return function

    return register
