"""The tables of a leaderboard: the best remedy at each depth, all scores, and all costs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from graphsct.nn.blueprint import get_model
from graphsct.pages.tables import Column, Field, Table
from graphsct.remedies import REMEDIES
from graphsct.remedies.board_cell import BoardCell, data_title
from graphsct.remedies.leaderboard import fits
from graphsct.remedies.rivals import contests
from graphsct.training.significance import LEVEL, Difference, adjusted, compare_pairs

__all__ = [
    "NARROW",
    "BestRow",
    "RemedyRow",
    "best_table",
    "boards",
    "cost_table",
    "fitting",
    "score_table",
]


@dataclass(frozen=True)
class BestRow:
    """The best remedy on some data at one depth.

    Args:
        data: name of the data
        model: name of the model
        depth: number of layers
        best: name of the best remedy
        score: test score of the best
        second: name of the second best, ``None`` if it is the only one
        second_score: test score of the second
        difference: best minus second, in runs with the same seed
        p: p value of the difference, adjusted for the number of rows
        not_run: names of remedies without a result
    """

    data: str
    model: str
    depth: int
    best: str
    score: str
    second: str | None = None
    second_score: str = ""
    difference: Difference | None = None
    p: float | None = None
    not_run: tuple[str, ...] = ()


@dataclass(frozen=True)
class RemedyRow:
    """A remedy and its cells by depth."""

    title: str
    family: str
    cells: dict[int, BoardCell]


def boards(cells: Iterable[BoardCell]) -> dict[tuple[str, str], list[BoardCell]]:
    """Cells by the names of their data and model."""
    found: dict[tuple[str, str], list[BoardCell]] = {}
    for cell in cells:
        found.setdefault((cell.key.data, cell.key.model), []).append(cell)
    return found


def best_table(cells: Sequence[BoardCell]) -> Table[BestRow]:
    """The best remedy for each data set and depth, and whether it differs from the second.

    Scores are those at the epoch of the best validation metric. Runs with the same seed are paired,
    and p values are adjusted by Holm's method for the number of rows.
    """
    rows = [
        _best(own, depth)
        for own in boards(cells).values()
        for depth in sorted({cell.key.depth for cell in own if cell.runs})
    ]
    p_values = adjusted({number: row.difference for number, row in enumerate(rows)})
    rows = [replace(row, p=p_values.get(number)) for number, row in enumerate(rows)]
    notes = (
        "test scores at the epoch of the best validation metric, mean ± standard deviation",
        f"differs: paired t-test of runs with the same seed, p below {LEVEL} after Holm's "
        f"correction for {len(p_values)} rows; p is too small rather than too large, since these "
        "scores also chose the best and the second",
    )
    title = "Best remedy for each data set and depth"
    return Table(title, _BEST, tuple(rows), notes, sections=("data", "model"))


def _best(cells: Sequence[BoardCell], depth: int) -> BestRow:
    own = [cell for cell in cells if cell.key.depth == depth and cell.runs]
    data, model = own[0].key[:2]
    ranked = sorted(own, key=lambda cell: cell.mean, reverse=own[0].measure.larger)
    done = {cell.key.remedy for cell in own}
    row = BestRow(
        data,
        model,
        depth,
        ranked[0].key.remedy,
        ranked[0].show(),
        not_run=tuple(name for name in fitting(model) if name not in done),
    )
    if len(ranked) == 1:
        return row
    pair = [cell.scores() for cell in ranked[:2]]
    return replace(
        row,
        second=ranked[1].key.remedy,
        second_score=ranked[1].show(),
        difference=compare_pairs(*pair) if len(pair[0]) == len(pair[1]) else None,
    )


def fitting(model: str) -> tuple[str, ...]:
    """Names of the remedies that fit a model."""
    return tuple(name for name, remedy in REMEDIES.items() if fits(remedy, model))


def score_table(cells: Sequence[BoardCell], select: str) -> Table[RemedyRow]:
    """Test scores of all remedies on one data set, by depth.

    Args:
        cells: cells with one data set and model
        select: the rule that selected the epochs; scores by the validation metric are marked where
            they differ from those without a remedy
    """
    by = "validation loss" if select == "val_loss" else "validation metric"
    verdicts = {}
    if select == "val_score":
        verdicts = {each.cell.key: each.verdict for each in contests(cells, "none")}

    def show(cell: BoardCell) -> Field:
        return Field(cell.show(select), verdicts.get(cell.key, ""))

    return _by_depth(cells, f"Test {cells[0].measure.heading}, epoch by {by}", show)


def cost_table(cells: Sequence[BoardCell]) -> Table[RemedyRow]:
    """The cost of an epoch on one data set, by depth: its duration without a remedy in
    milliseconds, and the processor time with one as a multiple of that without.
    """

    def show(cell: BoardCell) -> Field:
        if cell.key.remedy == "none":
            return Field(f"{1000 * (cell.seconds or 0):.1f} ms")
        if cell.cost is None:
            return Field("not measured", "missing")
        return Field(f"{cell.cost:.1f} ×")

    return _by_depth(cells, "Time per epoch", show)


def _by_depth(
    cells: Sequence[BoardCell], title: str, show: Callable[[BoardCell], Field]
) -> Table[RemedyRow]:
    """A row for each remedy, a column for each depth."""
    depths = sorted({cell.key.depth for cell in cells})
    rows = tuple(
        RemedyRow(
            REMEDIES[name].title,
            REMEDIES[name].family,
            {cell.key.depth: cell for cell in cells if cell.key.remedy == name},
        )
        for name in fitting(cells[0].key.model)
    )
    columns: tuple[Column[RemedyRow], ...] = (
        Column("remedy", "{title:s}", right=False),
        *(Column(f"{depth} layers", partial(_field, depth=depth, show=show)) for depth in depths),
    )
    return Table(title, columns, rows, sections=("family",))


def _field(row: RemedyRow, *, depth: int, show: Callable[[BoardCell], Field]) -> Field:
    cell = row.cells.get(depth)
    if cell is None:
        return Field("not run", "missing")
    return Field("diverged", "worse") if cell.failure is not None else show(cell)


def _verdict(row: BestRow) -> Field:
    if row.p is None:
        return Field("not tested", "missing")
    if row.p < LEVEL:
        return Field("differs", "better")
    return Field("no difference shown", "level")


def _title(name: str | None) -> str:
    return REMEDIES[name].title if name else ""


def _differs(row: BestRow) -> str:
    return "" if row.p is None else "yes" if row.p < LEVEL else "no"


def _gain(row: BestRow) -> str:
    if row.difference is None:
        return ""
    return f"{row.difference.mean:+.2f} [{row.difference.low:+.2f}, {row.difference.high:+.2f}]"


_BEST: tuple[Column[BestRow], ...] = (
    Column("data", lambda row: data_title(row.data), right=False),
    Column("model", lambda row: get_model(row.model).title, right=False),
    Column("layers", "{depth:d}"),
    Column("best", lambda row: _title(row.best), right=False),
    Column("test", "{score:s}"),
    Column("second", lambda row: _title(row.second), right=False),
    Column("test", "{second_score:s}"),
    Column("difference", _gain),
    Column("p (Holm)", "{p:.3f}"),
    Column("verdict", _verdict, right=False),
    Column("not run", lambda row: str(len(row.not_run))),
)

#: Columns of the best remedies with one data set and model, for a terminal.
NARROW: tuple[Column[BestRow], ...] = (
    Column("layers", "{depth:d}"),
    Column("best", "{best:s}", right=False),
    Column("test", "{score:s}"),
    Column("second", "{second:s}", right=False),
    Column("gain", "{difference.mean:+.2f}"),
    Column("p", "{p:.3f}"),
    Column("differs", _differs, right=False),
)
