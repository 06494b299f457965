r"""The paper's own protocol, replayed.

The paper tunes each cell with 200 trials of one run, takes the trial with the least validation
loss, and prints its test accuracy, in its table by depth the better *test* accuracy of two
activations. One such number says little: another 200 trials would print another one. So we draw
trials at random from the search space, train each once, and resample them with replacement. The
numbers from all samples show what the protocol could have printed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from graphsct.paper.cell import Stored
from graphsct.records import Record

__all__ = ["TRIALS", "Printed", "Replay", "ReplayTrial", "expected_best", "lead_changes"]

#: Trials of the paper's search.
TRIALS = 200
_TIMES = 10_000
#: The activations of which the paper prints the better one.
_COMPARED = ("leaky_relu", "relu")


@dataclass(frozen=True)
class ReplayTrial(Record):
    """A trial: one run with settings drawn at random, at the epoch of its least validation loss.

    Args:
        activation: name of the activation
        val_loss: validation loss
        val_score: validation accuracy
        test_score: test accuracy
    """

    activation: str
    val_loss: float
    val_score: float
    test_score: float


class Printed(NamedTuple):
    """The test accuracy that the protocol prints, in percent, over many replays.

    Args:
        mean: its mean
        low: its 5 % quantile
        high: its 95 % quantile
    """

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, draws: np.ndarray) -> Printed:
        """Mean and quantiles of the numbers of many replays."""
        low, high = np.quantile(draws, [0.05, 0.95])
        return cls(float(draws.mean()), float(low), float(high))

    def place(self, value: float) -> str:
        """Where a number lies: ``inside`` the quantiles, ``above`` or ``below``."""
        if value > self.high:
            return "above"
        return "below" if value < self.low else "inside"


@dataclass(frozen=True)
class Replay(Stored):
    """The trials of a cell.

    Args:
        key: key of the cell
        trials: the trials that did not diverge
        diverged: number of trials that diverged
        command: command that draws and trains them
    """

    subfolder = "replays"
    kind = "replay"

    trials: tuple[ReplayTrial, ...] = ()
    diverged: int = 0
    command: str = ""

    @property
    def drawn(self) -> int:
        """How many trials were drawn."""
        return len(self.trials) + self.diverged

    def with_activation(self, name: str | None) -> Replay:
        """Keep the trials with this activation, or all if ``name`` is ``None``."""
        own = (trial for trial in self.trials if name in (None, trial.activation))
        return replace(self, trials=tuple(own))

    def printed(self, *, better: bool = False, trials: int = TRIALS) -> Printed:
        """What the protocol prints.

        Args:
            better: take the better test accuracy of ReLU and leaky ReLU, each with its own trials,
                as the paper's table by depth does
            trials: number of trials in each replay, but never more than were made: with more draws
                than trials, nearly every replay would have the same best trial
        """
        return Printed.of(self.draws(better=better, trials=trials))

    def draws(self, *, better: bool = False, trials: int = TRIALS, seed: int = 0) -> np.ndarray:
        """The numbers of many replays; two cells need different seeds for independent draws."""
        random = np.random.default_rng(seed)
        groups = [self.with_activation(name).trials for name in _COMPARED] if better else []
        parts = [group for group in groups if group] or [self.trials]
        tests = [_tests(part, min(trials, len(part)), random) for part in parts]
        best: np.ndarray = np.stack(tests).max(axis=0)
        return best


def _tests(trials: Sequence[ReplayTrial], number: int, random: np.random.Generator) -> np.ndarray:
    """For each of many draws, the test accuracy of the trial with the least validation loss."""
    order = sorted(trials, key=lambda trial: trial.val_loss)
    # The best of some draws with replacement is the one with the smallest rank.
    ranks = random.integers(len(order), size=(_TIMES, number)).min(axis=1)
    tests: np.ndarray = np.array([100 * trial.test_score for trial in order])[ranks]
    return tests


def expected_best(values: Sequence[float]) -> list[float]:
    r"""The expected maximum of 1, 2, ... draws with replacement (`Dodge et al., 2019
    <https://arxiv.org/abs/1909.03004>`_):

    .. math::
        \mathbb E \max = \sum_{i=1}^N v_{(i)} \Big(\big(\tfrac i N\big)^n -
        \big(\tfrac{i - 1} N\big)^n\Big)

    Args:
        values: such as validation accuracies, one per trial

    Example:
        >>> expected_best([0.0, 1.0])
        [0.5, 0.75]
    """
    ordered, count = np.sort(np.asarray(values, dtype=float)), len(values)
    share = np.arange(count + 1) / count
    return [float(ordered @ np.diff(share**draws)) for draws in range(1, count + 1)]


def lead_changes(one: Sequence[float], other: Sequence[float]) -> list[int]:
    """The numbers of trials, from 1, at which the lead passes from one curve to the other.

    Example:
        >>> lead_changes([1.0, 2.0, 2.5], [0.5, 2.1, 2.2])
        [2, 3]
    """
    signs = np.sign(np.subtract(one[: len(other)], other[: len(one)]))
    leads = [(number, sign) for number, sign in enumerate(signs, start=1) if sign]
    return [after[0] for before, after in pairwise(leads) if after[1] != before[1]]
