"""The table of the paper's protocol replayed: the numbers that it could have printed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from graphsct.errors import ExperimentError
from graphsct.pages.tables import Column, Field, Table
from graphsct.paper.cell import Key
from graphsct.paper.keys import Choice, base_of, key_of
from graphsct.paper.paper import PaperCell, find_table
from graphsct.paper.random_trials import replay_cells
from graphsct.paper.replay import TRIALS, Printed, Replay, expected_best, lead_changes
from graphsct.paper.tables.experiment import Experiment, Request, Root
from graphsct.paper.tables.rows import DATA, MODEL, PrintedRow

__all__ = ["EXPERIMENTS", "ReplayRow", "Replays", "protocol_of"]

_DEPTHS = (2, 4)
_DATA = ("cora", "citeseer")


@dataclass(frozen=True, kw_only=True)
class ReplayRow(PrintedRow):
    """A number of the paper, and those that its protocol could have printed, in percent.

    Args:
        paper: as printed
        drawn: trials of ours, 0 if the cell was not replayed
        protocol: what the protocol prints, ``None`` if the cell was not replayed
        place: ``inside``, ``above`` or ``below``: where the paper's number lies
        paper_gain: the printed gain of SCT
        gain: the gain that the protocol prints
        same_gain: the gain that it would print with one search on each side, without the better of
            two activations
        lead_changes: numbers of trials at which the other side takes the lead in the expected
            validation accuracy, of a row with SCT
        expected: expected validation accuracy of the best of 1, 2, ... trials
    """

    paper: float
    drawn: int
    protocol: Printed | None
    place: str | None
    paper_gain: float | None
    gain: Printed | None
    same_gain: Printed | None
    lead_changes: tuple[int, ...] | None
    expected: tuple[float, ...]


_BAND = "{{{0}.mean:{1}}} [{{{0}.low:{1}}}, {{{0}.high:{1}}}]"
_COLUMNS: tuple[Column[ReplayRow], ...] = (
    DATA,
    MODEL,
    Column("layers", "{depth:d}"),
    Column("trials", "{drawn:d}"),
    Column("paper", "{paper:.1f}{mark:s}"),
    Column("the protocol prints", (_BAND.format("protocol", ".1f"), "not run")),
    Column("the paper's number is", "{place:s}", right=False),
    Column("SCT gains, paper", "{paper_gain:+z.1f}"),
    Column("SCT gains, the protocol prints", _BAND.format("gain", "+z.1f")),
    Column("by one search on each side", _BAND.format("same_gain", "+z.1f")),
    Column("lead changes at", lambda row: Field(_changes(row)), right=False),
)
_NOTES = (
    f"The paper tunes each cell with {TRIALS} trials of one run, takes the one with the least "
    "validation loss and prints its test accuracy; with SCT, it prints the better test accuracy "
    "of ReLU and leaky ReLU.",
    f"We drew {TRIALS} trials at random for each cell, from the paper's grid and our choices where "
    "it has none, and trained each once. We then resampled them many times, with replacement; for "
    "one activation, a sample has as many trials as were drawn with it.",
    "by one search on each side: the same gain if all trials with SCT were one search, so that no "
    "test accuracy selects the activation.",
    "lead changes at: the numbers of trials at which the expected validation accuracy of the best "
    "trial becomes larger on the other side; at the end of a curve the best trial is nearly always "
    "the same one.",
    "the protocol prints: the mean of the resulting numbers, and their 5% and 95% quantiles.",
)


class Replays(Experiment):
    """One row for each of the paper's cells in which a run takes seconds."""

    def build(self, cells: Path, root: Root) -> Table[ReplayRow]:
        """Build the table; cells that were not replayed say so."""
        replays = Replay.read_all(cells)
        rows = tuple(_row(cell, replays) for cell in _cells())
        return Table(
            "The paper's protocol, replayed (ours, not in the paper), accuracy, %",
            _COLUMNS,
            rows,
            _NOTES,
            sections=("dataset", "model"),
        )

    def run(self, request: Request) -> bool:
        """Draw and train the missing trials, and report on each cell."""
        keys = [
            key_of(cell)
            for cell in _cells()
            if request.choice.takes(cell.dataset, cell.model, cell.sct, cell.depth)
        ]
        good = True
        found = replay_cells(
            keys,
            load=request.load,
            out=request.out,
            work=request.work,
            trials=request.trials or TRIALS,
        )
        for number, outcome in enumerate(found, start=1):
            what = outcome.reason and f"failed: {outcome.reason}"
            if outcome.stored is not None:
                printed = outcome.stored.printed(better=outcome.key.control is not None)
                what = f"{printed.mean:.1f} [{printed.low:.1f}, {printed.high:.1f}]"
            request.say(f"[{number}/{len(keys)}] {outcome.key.name}: {what}")
            good = good and outcome.stored is not None
        return good

    def nothing_left(self, choice: Choice, cells: Path) -> ExperimentError:
        """Return the error for a choice without any cell."""
        depths = " and ".join(map(str, _DEPTHS))
        return ExperimentError(
            f"these choices leave no cell that is replayed; choose {' or '.join(_DATA)} and depths "
            f"{depths}"
        )


EXPERIMENTS = (Replays("replay"),)


def protocol_of(key: Key, replays: Mapping[Key, Replay]) -> Printed | None:
    """What the protocol prints for a cell; ``None`` before it has all its trials.

    A cell with a fixed activation uses the trials of the cell whose activation was drawn.
    """
    replay = replays.get(key)
    if replay is None and key.activation is not None:
        replay = replays.get(key._replace(activation=None))
    if replay is None or replay.drawn < TRIALS:
        return None
    return replay.with_activation(key.activation).printed(better=_better(key))


def _better(key: Key) -> bool:
    """Whether the paper prints the better of two activations."""
    return key.control is not None and key.activation is None


def _cells() -> list[PaperCell]:
    return [
        cell
        for cell in find_table("depth").cells
        if cell.dataset in _DATA and cell.depth in _DEPTHS
    ]


def _row(cell: PaperCell, replays: Mapping[Key, Replay]) -> ReplayRow:
    key, paper = key_of(cell), float(cell.value or 0)
    replay, printed = replays.get(key), protocol_of(key, replays)
    base = base_of(key)
    paper_gain = gain = same_gain = None
    changes: tuple[int, ...] | None = None
    if cell.sct:
        paper_gain = paper - next(float(c.value or 0) for c in _cells() if key_of(c) == base)
        if printed is not None and protocol_of(base, replays) is not None:
            own, others = replays[key], replays[base].draws(seed=1)
            gain = Printed.of(own.draws(better=_better(key)) - others)
            same_gain = Printed.of(own.draws() - others)
            changes = tuple(lead_changes(_expected(own), _expected(replays[base])))
    return ReplayRow.of(
        cell,
        paper=paper,
        drawn=0 if replay is None else replay.drawn,
        protocol=printed,
        place=None if printed is None else printed.place(paper),
        paper_gain=paper_gain,
        gain=gain,
        same_gain=same_gain,
        lead_changes=changes,
        expected=() if replay is None else tuple(_expected(replay)),
    )


def _expected(replay: Replay) -> list[float]:
    return expected_best([100 * trial.val_score for trial in replay.trials])


def _changes(row: ReplayRow) -> str:
    if row.lead_changes is None:
        return ""
    return ", ".join(map(str, row.lead_changes)) or "never"
