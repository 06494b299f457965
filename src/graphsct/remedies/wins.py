"""Is there a control that wins? Controls against none in deep networks, at equal budget.

The rules, fixed before the deep cells were run: a control wins if it is better than no control in
two thirds of the deep cells, which are all data sets and models below with 16, 32 and 64 layers.
Better in a cell means a larger mean of the test scores and p below 0.01, by a paired t-test of runs
with the same seed, adjusted by Holm's method for all deep cells of all controls together. A cell
that was not run or that diverged counts as no gain. The question is open while cells that were not
run can still decide it.

There are two such experiments. *Tuned*: the 8 settings of :mod:`graphsct.remedies.budget`, of which
validation chooses one. *Untuned*: the first of these settings, without any choice.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path

from graphsct.extras import stored_results
from graphsct.pages.tables import Column, Field, Table
from graphsct.remedies import REMEDIES
from graphsct.remedies.board_cell import BoardCell, BoardKey, data_title
from graphsct.remedies.budget import EPOCHS, budget_of
from graphsct.remedies.leaderboard import fits
from graphsct.remedies.rivals import Contest, contests
from graphsct.training.scored_run import ScoredRun

__all__ = [
    "CONTROLS",
    "DATA",
    "DEPTHS",
    "LEVEL",
    "MODELS",
    "UNTUNED",
    "ControlWins",
    "planned",
    "read_untuned",
    "win_counts",
    "win_table",
]

DATA = (
    "cora",
    "citeseer",
    "pubmed",
    "chameleon_filtered",
    "squirrel_filtered",
    "actor",
    "minesweeper",
)
MODELS = ("gcn", "gcnii")
DEPTHS = (16, 32, 64)
CONTROLS = ("normalized", "target", "sct_pooled", "sct_gated", "bias", "batch_norm")
#: The significance level, the allowed rate of errors of the first kind.
LEVEL = 0.01

#: The stored runs of the untuned experiment, in the folder of the leaderboard.
UNTUNED = "untuned.csv"


@dataclass(frozen=True)
class ControlWins:
    """How often a control is better than none.

    Args:
        control: name of the remedy
        planned: number of deep cells
        contests: those that were run, with p adjusted for all controls
        failed: the depths of cells in which it diverged
    """

    control: str
    planned: int
    contests: tuple[Contest, ...] = ()
    failed: tuple[int, ...] = ()

    @property
    def title(self) -> str:
        """The title of the remedy."""
        return REMEDIES[self.control].title

    def count(self, verdict: str, depth: int | None = None) -> int:
        """How many cells have a verdict, ``better``, ``level`` or ``worse``, at a depth or all."""
        return sum(
            _verdict(each) == verdict for each in self.contests if _at(each.cell.key.depth, depth)
        )

    def run(self, depth: int | None = None) -> int:
        """How many cells were run, at a depth or all."""
        tested = sum(_at(each.cell.key.depth, depth) for each in self.contests)
        return tested + sum(_at(each, depth) for each in self.failed)

    @property
    def verdict(self) -> str:
        """``wins``, ``does not win``, or ``open`` while cells that were not run can decide."""
        better, left = self.count("better"), self.planned - self.run()
        if 3 * better >= 2 * self.planned:
            return "wins"
        return "open" if 3 * (better + left) >= 2 * self.planned else "does not win"


def _at(depth: int, wanted: int | None) -> bool:
    return wanted is None or depth == wanted


def _verdict(contest: Contest) -> str:
    """The verdict at the level of this question."""
    return contest.verdict if contest.p < LEVEL else "level"


def planned(control: str) -> list[BoardKey]:
    """The deep cells of a control.

    Example:
        >>> len(planned("target"))
        42
    """
    own = [model for model in MODELS if fits(REMEDIES[control], model)]
    return [BoardKey(*place, control) for place in product(DATA, own, DEPTHS)]


def win_counts(cells: Sequence[BoardCell]) -> list[ControlWins]:
    """Compare every control with none, in the deep cells among these.

    Args:
        cells: cells of a leaderboard, or those of :func:`read_untuned`
    """
    wanted = {key for control in CONTROLS for key in planned(control)}
    bases = {key._replace(remedy="none") for key in wanted}
    deep = [cell for cell in cells if cell.key in wanted | bases]
    found = contests(deep, "none")
    tried = {each.cell.key for each in found}
    return [
        ControlWins(
            control,
            len(planned(control)),
            tuple(each for each in found if each.cell.key.remedy == control),
            tuple(
                cell.key.depth
                for cell in deep
                if cell.key.remedy == control and cell.failure is not None and cell.key not in tried
            ),
        )
        for control in CONTROLS
    ]


def win_table(cells: Sequence[BoardCell], title: str) -> Table[ControlWins]:
    """How often each control is better than none, by depth, and whether it wins.

    Args:
        cells: as for :func:`win_counts`
        title: the heading
    """
    rows = win_counts(cells)
    columns: tuple[Column[ControlWins], ...] = (
        Column("control", "{title:s}", right=False),
        *(Column(f"{depth} layers", partial(_counts, depth=depth)) for depth in DEPTHS),
        Column("all", _counts),
        Column("not run", lambda row: f"{row.planned - row.run()} of {row.planned}"),
        Column("verdict", _shown, right=False),
    )
    notes = (
        "the four counts are cells in which the control is better than none / no difference is "
        "shown / the control is worse / it diverged",
        f"better and worse: paired t-test of runs with the same seed, p below {LEVEL} after Holm's "
        f"correction for all {sum(len(row.contests) for row in rows)} comparisons",
        f"a control wins if it is better in two thirds of its deep cells: {len(DATA)} data sets "
        f"({', '.join(map(data_title, DATA))}), GCN and GCNII, "
        f"{', '.join(map(str, DEPTHS))} layers",
    )
    return Table(title, columns, tuple(rows), notes)


def _counts(row: ControlWins, depth: int | None = None) -> str:
    if not row.run(depth):
        return "not run"
    failed = sum(_at(each, depth) for each in row.failed)
    shown = [row.count(verdict, depth) for verdict in ("better", "level", "worse")]
    return " / ".join(map(str, [*shown, failed]))


def _shown(row: ControlWins) -> Field:
    kinds = {"wins": "better", "does not win": "level", "open": "missing"}
    return Field(row.verdict, kinds[row.verdict])


def read_untuned(path: Path | None = None) -> list[BoardCell]:
    """The cells of the untuned experiment; none if there are no stored runs.

    Args:
        path: a file of ``benchmarks/untuned.py report``; defaults to the stored one
    """
    path = path or stored_results("remedies") / UNTUNED
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    runs: dict[BoardKey, dict[int, tuple[str, ScoredRun | None]]] = {}
    for row in rows:
        key = BoardKey(row["data"], row["model"], int(row["depth"]), row["remedy"])
        runs.setdefault(key, {})[int(row["seed"])] = row["metric"], _scored(row)
    return list(_untuned_cells(runs))


def _scored(row: dict[str, str]) -> ScoredRun | None:
    """The run of a line, ``None`` if it diverged."""
    if not row["test_score"]:
        return None
    return ScoredRun(
        row["select"],
        int(row["seed"]),
        int(row["split"]) if row["split"] else None,
        float(row["test_score"]),
        float(row["val_score"]),
        float(row["val_loss"]),
        int(row["best_epoch"]),
        int(row["epochs"]),
    )


def _untuned_cells(
    runs: dict[BoardKey, dict[int, tuple[str, ScoredRun | None]]],
) -> Iterator[BoardCell]:
    """A cell for each network, with the seeds that the network without control has as well."""
    for key, own in runs.items():
        base = runs.get(key._replace(remedy="none"), {})
        seeds = sorted(own.keys() & base.keys())
        if not seeds:
            continue
        found = [own[seed][1] for seed in seeds]
        setting = budget_of(REMEDIES[key.remedy])[0]
        failed = any(run is None for run in found)
        yield BoardCell(
            key,
            len(seeds),
            EPOCHS,
            own[seeds[0]][0],
            (),
            setting,
            () if failed else tuple(run for run in found if run is not None),
            failure="the weights diverged" if failed else None,
        )
