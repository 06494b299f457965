"""What changes a measure although it changes nothing that a classifier could use."""

from __future__ import annotations

from graphsct.smoothness.axioms import MEASURES, Axiom

__all__ = ["weakness_table"]

#: What fools a measure for which an axiom does not hold.
_TRICKS = {
    "larger features": Axiom.SCALE_INVARIANT,
    "an added constant": Axiom.SHIFT_INVARIANT,
    "other axes": Axiom.ROTATION_INVARIANT,
    "dead dimensions": Axiom.DEAD_INVARIANT,
    "copied dimensions": Axiom.COPY_INVARIANT,
}
#: Where a measure may be zero: if it is zero there, and if it is positive elsewhere.
_ZEROS = {
    "the eigenspace": (Axiom.ZERO_IF_SMOOTH, Axiom.POSITIVE_IF_ROUGH),
    "constants": (Axiom.ZERO_IF_CONSTANT, Axiom.POSITIVE_IF_VARIED),
}


def weakness_table() -> str:
    """What fools which measure, by the axioms in ``MEASURES``, as a Markdown table."""
    lines = [("Measure", "Zero on", *_TRICKS), ("---",) * (2 + len(_TRICKS))]
    for name, (_, axioms) in sorted(MEASURES.items()):
        link = f"[`{name}`][graphsct.smoothness.{name.partition('(')[0]}]"
        fooled = ("–" if axiom in axioms else "fooled" for axiom in _TRICKS.values())
        lines.append((link, _zeros(axioms), *fooled))
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _zeros(axioms: frozenset[Axiom]) -> str:
    places = [place for place, (zero, _) in _ZEROS.items() if zero in axioms]
    exact = any({zero, positive} <= axioms for zero, positive in _ZEROS.values())
    return ", ".join(places + ["more"] * (not exact)) if places else "–"
