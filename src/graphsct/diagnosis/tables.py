"""Tables of a diagnosis and of trained runs, the same on a terminal and on a page."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from graphsct.diagnosis.advice import title
from graphsct.diagnosis.measure import LayerReport
from graphsct.diagnosis.words import tried
from graphsct.pages.tables import Column, Field, Table
from graphsct.training.compare import Comparison
from graphsct.training.metrics import METRICS, Metric
from graphsct.training.run import Run
from graphsct.training.seeds import Results
from graphsct.training.words import name_seeds

if TYPE_CHECKING:
    from graphsct.diagnosis.diagnosis import Diagnosis

__all__ = [
    "LayerRow",
    "ResultRow",
    "SeedRow",
    "comparison_table",
    "effect_table",
    "layer_table",
    "long_layer_table",
    "middle_reach",
    "seed_table",
    "short_layer_table",
]


class Middle(NamedTuple):
    """The range of ``s`` that control could reach, and the position of the layer in it."""

    low: float
    high: float
    position: float | None


def middle_reach(layer: LayerReport) -> Middle | None:
    """Return the range of control, as medians of the live dimensions."""
    dead = set(layer.dead)
    live = [number for number in range(layer.channels) if number not in dead]
    if layer.reach is None or not live:
        return None
    lower, upper = layer.reach.lower, layer.reach.upper
    return Middle(
        statistics.median(lower[number] for number in live),
        statistics.median(upper[number] for number in live),
        layer.reach.position,
    )


@dataclass(frozen=True)
class LayerRow:
    """A layer.

    Args:
        number: from 1 on
        state: its findings, or ``ok``
        layer: its measures
    """

    number: int
    state: str
    layer: LayerReport

    @property
    def quartiles(self) -> str | None:
        """Quartiles of the smoothness of live dimensions, ``None`` if all are dead."""
        values = self.layer.quartiles
        return None if values is None else " ".join(f"{value:.3f}" for value in values)

    @property
    def dead(self) -> int:
        """Number of dead dimensions."""
        return len(self.layer.dead)


def _state(row: LayerRow) -> Field:
    return Field(row.state) if row.state == "ok" else Field(row.state, "worse")


def _reach(row: LayerRow) -> str:
    reach = middle_reach(row.layer)
    if reach is None:
        return "–"
    position = "" if reach.position is None else f", {reach.position:.0%}"
    return f"{reach.low:.2f} to {reach.high:.2f}{position}"


_LAYERS: tuple[Column[LayerRow], ...] = (
    Column("layer", "{number:d}", right=False),
    Column("name", "{layer.name:s}", right=False),
    Column("kind", "{layer.kind:s}", right=False),
    Column("state", _state, right=False),
    Column("s, quartiles", ("{quartiles:s}", "–")),
    Column("dead", "{dead:d} of {layer.channels:d}"),
    Column("effective rank", "{layer.effective_rank:.2f}"),
    Column("rank of contrast", "{layer.contrast_rank:.2f}"),
    Column("contrast", "{layer.contrast:.3g}"),
    Column("distance", "{layer.distance:.3g}"),
    Column("distance over norm", "{layer.relative_distance:.3g}"),
    Column("energy", "{layer.dirichlet_energy:.3g}"),
    Column("normalized energy", "{layer.normalized_dirichlet_energy:.3g}"),
    Column("norm", "{layer.norm:.3g}"),
    Column("gradient", "{layer.gradient_norm:.3g}"),
    Column("range of s, position in it", _reach),
)


def layer_table(found: Diagnosis, heading: str = "") -> Table[LayerRow]:
    """Return all measures of all layers."""
    return Table(_titled("Layers", heading), _LAYERS, _layer_rows(found), _wanted(found))


def _wanted(found: Diagnosis) -> tuple[str, ...]:
    """The note on the smoothness to want, where the range of control was measured."""
    reached = any(layer.reach is not None for layer in found.layers)
    return (f"wanted smoothness: {found.wanted}",) if reached and found.wanted else ()


def _reachable(found: Diagnosis) -> tuple[str, ...]:
    """The range of control of all layers, where the table has no column for it."""
    reaches = [layer.reach for layer in found.layers if layer.reach is not None]
    if not reaches:
        return ()
    lows = [min(reach.lower) for reach in reaches]
    places = [reach.position for reach in reaches if reach.position is not None]
    stands = f"; the layers stand {_span(places, '.0%')} of the way to 1" if places else ""
    return (f"reach: the least s that control could reach is {_span(lows, '.2f')}{stands}",)


def _span(values: list[float], spec: str) -> str:
    low, high = format(min(values), spec), format(max(values), spec)
    return low if low == high else f"{low} to {high}"


def _layer_rows(found: Diagnosis) -> tuple[LayerRow, ...]:
    return tuple(
        LayerRow(number, state, layer)
        for number, (layer, state) in enumerate(zip(found.layers, found.states, strict=True), 1)
    )


def _share(value: float) -> str:
    return f"{value:.0e}" if value < 0.01 else f"{value:.2f}"


def _least_reach(row: LayerRow) -> str:
    reach = row.layer.reach
    if reach is None:
        return "-"
    lowest = f"{min(reach.lower):.2f}"
    return lowest if reach.position is None else f"{lowest} {reach.position:4.0%}"


def _short_name(row: LayerRow) -> Field:
    name = row.layer.name
    return Field(name if len(name) <= _NAME else f"…{name[1 - _NAME :]}", long=name)


_NAME = 10  # letters of a name in the short table, its end if it is longer
_TERMINAL_STATE: Column[LayerRow] = Column(
    "state",
    lambda row: Field(row.state.replace(", ", "\n"), "" if row.state == "ok" else "worse", sign=""),
    right=False,
)
_LONG: tuple[Column[LayerRow], ...] = (
    Column("", "{number:d}"),
    Column("layer", "{layer.name:s}", right=False),
    Column("s, quartiles", ("{quartiles:s}", "-")),
    Column("dead", "{dead:d}/{layer.channels:d}"),
    Column("rank", "{layer.effective_rank:.1f} ({layer.contrast_rank:.1f})"),
    Column("con-\ntrast", lambda row: _share(row.layer.contrast)),
    Column("dis-\ntance", lambda row: _share(row.layer.relative_distance)),
    Column("energy", "{layer.normalized_dirichlet_energy:.0e}"),
    Column("norm", "{layer.norm:.0e}"),
    Column("gra-\ndient", "{layer.gradient_norm:.0e}"),
    Column("reach", _least_reach),
    _TERMINAL_STATE,
)
_SHORT: tuple[Column[LayerRow], ...] = (
    Column("", "{number:d}"),
    Column("layer", _short_name, right=False),
    Column("s", ("{layer.quartiles[1]:.3f}", "-")),
    Column("dead", "{dead:d}/{layer.channels:d}"),
    Column("rank", "{layer.contrast_rank:.1f}"),
    Column("con-\ntrast", lambda row: _share(row.layer.contrast)),
    Column("norm", "{layer.norm:.0e}"),
    Column("gra-\ndient", "{layer.gradient_norm:.0e}"),
    _TERMINAL_STATE,
)


def long_layer_table(found: Diagnosis) -> Table[LayerRow]:
    """Return the measures that fit on a wide terminal."""
    notes = (
        "s: normalized smoothness of the live dimensions; rank: effective rank and, in brackets, "
        "effective rank of the part that tells nodes apart; contrast: share of the norm that tells "
        "nodes apart; distance: share outside the eigenspace; energy: normalized; gradient: of "
        f"{found.target}; reach: the least s that control could reach, and the position of the "
        "layer between it and 1",
        *_wanted(found),
    )
    return Table("Layers", _LONG, _layer_rows(found), notes)


def short_layer_table(found: Diagnosis) -> Table[LayerRow]:
    """Return the measures on which the verdicts rest; they fit into 80 columns."""
    notes = (
        "s: median normalized smoothness of the live dimensions; rank: effective rank of the part "
        "that tells nodes apart; contrast: its share of the norm; gradient: of "
        f"{found.target}",
        *_reachable(found),
        *_wanted(found),
    )
    return Table("Layers", _SHORT, _layer_rows(found), notes)


@dataclass(frozen=True)
class ResultRow:
    """Results over all seeds, as text.

    Args:
        name: the control or the remedy
        test: test score, mean ± standard deviation
        validation: validation score, mean ± standard deviation
        difference: paired difference of the test score from the model as it is
        epoch: mean of the selected epochs
        seconds: mean time of a run
    """

    name: str
    test: str
    validation: str = ""
    difference: str = ""
    epoch: str = ""
    seconds: str = ""


def _result_columns(
    first: str, metric: Metric, *others: Column[ResultRow]
) -> tuple[Column[ResultRow], ...]:
    """The name, the scores, and other columns."""
    return (
        Column(first, "{name:s}", right=False),
        Column(f"test {metric.heading}", "{test:s}"),
        Column(f"validation{', %' * metric.percent}", "{validation:s}"),
        *others,
    )


def effect_table(found: Diagnosis) -> Table[ResultRow] | None:
    """Return the effects of remedies, the model as it is first; ``None`` if none was tried."""
    if not found.effects:
        return None
    as_it_is, *others = found.effects
    show = as_it_is.metric.show
    rows = [ResultRow(as_it_is.name, show(as_it_is.test), show(as_it_is.val))]
    rows += [
        ResultRow(title(e.name), show(e.test), show(e.val), show(e.differences, sign="+"))
        for e in others
    ]
    difference = Column[ResultRow]("difference, paired", "{difference:s}")
    columns = _result_columns("remedy", as_it_is.metric, difference)
    return Table(tried(found).rstrip(":"), columns, tuple(rows))


def comparison_table(found: Comparison) -> Table[ResultRow]:
    """Return the results with and without control, and their paired difference."""
    metric = found.results.metric
    rows = [_result(part) for part in found.parts]
    if found.differences:
        difference = metric.show(found.differences, sign="+")
        rows.append(ResultRow("difference, paired", difference))
    columns = _result_columns(
        "control",
        metric,
        Column("best epoch", "{epoch:s}"),
        Column("s per run", "{seconds:s}"),
    )
    return Table("Mean ± standard deviation over the seeds", columns, tuple(rows), _seeds(found))


def _seeds(found: Comparison) -> tuple[str, ...]:
    """The seeds behind each row, if Ctrl-C left different ones with and without control."""
    seeds = [f"{part.model.control or 'none'} {name_seeds(part.counted)}" for part in found.parts]
    if len({tuple(run.config.seed for run in part.counted) for part in found.parts}) == 1:
        return ()
    if found.pairs:
        seeds.append(f"difference {name_seeds(run for run, _ in found.pairs)}")
    return (f"seeds that count: {'; '.join(seeds)}",)


def _result(results: Results) -> ResultRow:
    runs = results.counted
    return ResultRow(
        results.model.control or "none",
        results.metric.show([run.test_score for run in runs]),
        results.metric.show([run.val_score for run in runs]),
        epoch=f"{statistics.fmean(run.best_epoch for run in runs):.0f}",
        seconds=f"{statistics.fmean(run.seconds for run in runs):.1f}",
    )


@dataclass(frozen=True)
class SeedRow:
    """A run and its split, ``None`` if the data have a single one."""

    run: Run
    split: int | None


_SEEDS: tuple[Column[SeedRow], ...] = (
    Column(
        "seed", lambda row: f"{row.run.config.seed}{', interrupted' * row.run.interrupted}", False
    ),
    Column("split", "{split:d}"),
    Column("test", lambda row: METRICS[row.run.metric].show([row.run.test_score])),
    Column("validation", lambda row: METRICS[row.run.metric].show([row.run.val_score])),
    Column("validation loss", "{run.val_loss:.4g}"),
    Column("epoch", "{run.best_epoch:d}"),
    Column("of", "{run.epochs:d}"),
    Column("seconds", "{run.seconds:.1f}"),
)


def seed_table(results: Results, heading: str = "") -> Table[SeedRow]:
    """Return every run."""
    rows = tuple(SeedRow(*pair) for pair in zip(results.runs, results.splits, strict=True))
    several = rows[0].split is not None
    columns = tuple(column for column in _SEEDS if several or column.title != "split")
    return Table(_titled(f"Every seed, {results.metric.heading}", heading), columns, rows)


def _titled(title: str, heading: str) -> str:
    return f"{title}, {heading}" if heading else title
