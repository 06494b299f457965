"""How often the findings are right, as measured on models whose faults are known."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

from graphsct.records import Record

__all__ = ["ErrorRate", "ErrorRates", "describe_rate", "read_rates"]


@dataclass(frozen=True)
class ErrorRate(Record):
    """How often a finding is right.

    Args:
        found: number of models that have the fault, and in which it was found
        faulty: number of models that have it
        clear: number of models without it, in which it was not found
        sound: number of models without it
    """

    found: int
    faulty: int
    clear: int
    sound: int

    @property
    def sensitivity(self) -> float | None:
        """Share of the faulty models in which it was found."""
        return self.found / self.faulty if self.faulty else None

    @property
    def specificity(self) -> float | None:
        """Share of the sound models in which it was not found."""
        return self.clear / self.sound if self.sound else None

    @property
    def text(self) -> str:
        """The rates in a sentence.

        Example:
            >>> ErrorRate(19, 20, 98, 100).text
            'found in 19 of 20 (95 %) models that have it and in 2 of 100 (2 %) models that ...'
        """
        wrong, parts = self.sound - self.clear, list[str]()
        if self.faulty:
            parts.append(f"{_share(self.found, self.faulty)} models that have it")
        if self.sound:
            parts.append(f"{_share(wrong, self.sound)} models that do not have it")
        return f"found in {' and in '.join(parts)}" if parts else "not measured"


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({100 * part / whole:.0f} %)"


@dataclass(frozen=True)
class ErrorRates(Record):
    """The rates of all findings, measured by ``benchmarks/verdicts.py``.

    Args:
        models: number of models, all of them unseen when the limits were chosen
        findings: by kind, where the truth is known by construction
        works: rates of *does not work*, where the truth is the test score
        causes: number of right causes and of all
    """

    models: int
    findings: dict[str, ErrorRate]
    works: ErrorRate
    causes: tuple[int, int] = field(default=(0, 0))


@cache
def read_rates() -> ErrorRates:
    """The rates that were measured for this version."""
    text = files("graphsct.diagnosis").joinpath("rates.json").read_text(encoding="utf-8")
    return ErrorRates.from_json(text)


def describe_rate(kind: str) -> str:
    """How often a finding is right, in a sentence."""
    rate = read_rates().findings.get(kind)
    return "not measured" if rate is None else rate.text
