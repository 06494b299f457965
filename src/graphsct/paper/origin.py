"""The origin of a cell's settings: the search that found them, and its budget."""

from __future__ import annotations

from dataclasses import dataclass

from graphsct.records import Record

__all__ = ["Allowed", "Origin"]


@dataclass(frozen=True, kw_only=True)
class Allowed(Record, sparse=True, strict=True):
    """The budget of a search.

    Args:
        trials: number of trials
        seconds: time after which no further trial starts, ``None`` without a limit
        max_hidden: maximum number of channels to try, ``None`` for all widths of the search space;
            0, in files from before there was a choice, means the same
        finalists: number of finalists, ``None`` in files from before there were finals
        space: version of the search space, ``None`` in files from before it contained the
            published settings
    """

    trials: int
    seconds: float | None
    max_hidden: int | None = 0
    finalists: int | None = None
    space: int | None = None

    @property
    def limit(self) -> int | None:
        """The maximum number of channels to try, ``None`` for all widths of the search space."""
        return self.max_hidden or None

    def covers(self, other: Allowed) -> bool:
        """Whether this budget is at least as large as another one in every respect."""
        limits = ((self.seconds, other.seconds), (self.limit, other.limit))
        return (
            self.trials >= other.trials
            and (self.finalists or 0) >= (other.finalists or 0)
            and (self.space or 1) >= (other.space or 1)
            and all(own is None or (more is not None and more <= own) for own, more in limits)
        )


@dataclass(frozen=True, kw_only=True)
class Origin(Record, sparse=True, strict=True):
    """The search that found the settings of a cell; files may lack what was not stored yet.

    Args:
        trials: number of trials that are over
        pruned: number of trials that were given up early
        failed: number of trials that diverged
        allowed: its budget
        seed: seed of the search
        runs: number of runs of a trial
        finalists: number of the best trials that got more runs
        select: the rule that selected the epoch of each run
        score: score of the settings on the validation nodes
        seconds: duration of training
        after: names of the cells whose settings were tried first
        command: command that repeats the search
        of: name of the cell that was searched, if its settings are used with another activation
    """

    trials: int
    pruned: int
    failed: int
    allowed: Allowed
    seed: int
    runs: int
    finalists: int | None = None
    select: str
    score: float
    seconds: float
    after: tuple[str, ...] | None = None
    command: str
    of: str | None = None
