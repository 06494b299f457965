"""The table of learned terms, which is ours and not in the paper."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphsct.errors import ExperimentError
from graphsct.pages.tables import Column, Table
from graphsct.paper.cell import Cell
from graphsct.paper.keys import Choice
from graphsct.paper.paper import MODELS, TITLES
from graphsct.paper.probed import INSTEAD, NETWORKS, FeatureMeasures, LayerTerm, Probed
from graphsct.paper.tables.experiment import Experiment, Request, Root
from graphsct.paper.tables.rows import DATA, MODEL
from graphsct.paper.term import Term, measure_terms
from graphsct.training.significance import compare_pairs

__all__ = ["EXPERIMENTS", "Change", "FeatureMedians", "LearnedTerm", "TermRow"]

_TITLES = {"with_term": "with the term", "removed": "term removed", "base": "trained without"}
_SEEDS = 3


@dataclass(frozen=True, kw_only=True)
class Change:
    """The effect of a change of the model on the test nodes.

    Args:
        mean: mean change of the accuracy, in points
        low: lower end of its 95% confidence interval, ``None`` for a single run
        high: upper end
        p: two-sided
        changed: share of the test nodes with another class, in percent
    """

    mean: float
    low: float | None
    high: float | None
    p: float | None
    changed: float


@dataclass(frozen=True)
class FeatureMedians:
    """Medians of the features.

    Args:
        dead: dead dimensions, in percent
        smoothness: normalized smoothness of the live dimensions, ``None`` if all are dead
        effective_rank: effective rank
        distance: distance to the eigenspace
    """

    dead: float
    smoothness: float | None
    effective_rank: float | None
    distance: float | None


@dataclass(frozen=True, kw_only=True)
class _Head:
    """The cell whose term was measured."""

    dataset: str
    model: str
    control: str | None
    depth: int | None
    activation: str | None
    sct: bool
    cell: str
    data_title: str
    model_title: str
    our_depth: int
    our_hidden: int


@dataclass(frozen=True, kw_only=True)
class _Measures(_Head):
    """Medians of a term, ``None`` where they are not known.

    Args:
        size: norm of the term over that of the features it is added to, in percent
        dimensions: how many dimensions the term uses
        weights: root mean square of its weights
        arrives: norm of its effect in the next layer's coordinates over its own norm
        cosine: cosine of that effect with the next layer's term
    """

    size: float | None
    dimensions: float | None
    weights: float | None
    arrives: float | None
    cosine: float | None


@dataclass(frozen=True, kw_only=True)
class TermRow(_Measures):
    """The term of one cell, medians over layers and runs.

    Args:
        n: number of runs
        ours: mean test accuracy, in percent
        reach: about the most that Adam can have moved a weight
        removed: change without the term
        frozen: change with its mean over passes with dropout
        plain: change with its mean over all nodes
        shuffled: change with its dimensions shuffled
        base: change to the model that was trained without the term
        features: medians of the features, by network
    """

    n: int
    ours: float
    reach: float
    removed: Change
    frozen: Change
    plain: Change
    shuffled: Change
    base: Change
    features: dict[str, FeatureMedians]


@dataclass(frozen=True, kw_only=True)
class _FeatureRow(_Head, FeatureMedians):
    """The features of one network."""

    network_title: str


@dataclass(frozen=True, kw_only=True)
class _LayerRow(_Measures):
    """The term of one layer, medians over runs, with the features of all networks."""

    layer: int
    with_term: FeatureMedians
    removed: FeatureMedians
    base: FeatureMedians


_HEAD: tuple[Column[Any], ...] = (DATA, MODEL, Column("layers", "{our_depth:d}"))


def _change(name: str) -> tuple[str, ...]:
    mean = f"{{{name}.mean:+z.1f}}"
    return f"{mean} [{{{name}.low:+z.1f}}, {{{name}.high:+z.1f}}]", mean


_COLUMNS: tuple[Column[TermRow], ...] = (
    *_HEAD,
    Column("n", "{n:d}"),
    Column("size of the term, %", "{size:.1f}"),
    Column("dimensions that use it", "{dimensions:.1f} of {our_hidden:d}"),
    Column("its weights", "{weights:.2g}"),
    Column("Adam’s reach", "{reach:.2g}"),
    Column("test accuracy, %", "{ours:.1f}"),
    Column("removed", _change("removed")),
    Column("frozen", _change("frozen")),
    Column("plain bias", _change("plain")),
    Column("shuffled", _change("shuffled")),
    Column("trained without", _change("base")),
    Column("removed: other class, %", "{removed.changed:.1f}"),
    Column("trained without: other class, %", "{base.changed:.1f}"),
    Column("cosine with next", "{cosine:+.2f}"),
)
_NOTES = (
    "n runs of each cell were trained with the settings found for the term, and n without the term "
    "from the same first weights. Validation accuracy selected the epoch.",
    "size of the term: its norm over that of the features it is added to. dimensions that use it: "
    "1 if all others are zero, all of them if their sizes are equal. its weights: their root mean "
    "square; they start at zero. All are medians over layers and runs. Adam’s reach: learning rate "
    "times epochs up to the selected one, about the most that a weight can have moved.",
    "removed, frozen, plain bias, shuffled: the change of the test accuracy, in points, when the "
    "trained term is replaced by nothing; by its mean over passes with dropout; by its mean over "
    "all nodes, one constant per dimension; by itself with shuffled dimensions (mean of ten). "
    "Nothing is trained again. trained without: the change to the model without the term. In "
    "brackets, the 95% confidence interval of the pairs.",
    "other class: the share of test nodes whose predicted class changes.",
    "cosine with next: the cosine between the change that a term causes in the next layer’s "
    "eigenspace coordinates and the term that the next layer adds there, the median over layers "
    "and runs; -1 if the next layer undoes the change, 1 if it adds more of the same.",
)
_FEATURES: tuple[Column[_FeatureRow], ...] = (
    *_HEAD,
    Column("network", "{network_title:s}", right=False),
    Column("dead dimensions, %", "{dead:.0f}"),
    Column("median s of the others", ("{smoothness:.3f}", "none is left")),
    Column("effective rank", "{effective_rank:.1f}"),
    Column("distance to the eigenspace", "{distance:.4g}"),
)
_LAYERS: tuple[Column[_LayerRow], ...] = (
    *_HEAD,
    Column("layer", "{layer:d}"),
    Column("size of the term, %", "{size:.1f}"),
    Column("dimensions that use it", "{dimensions:.1f}"),
    Column("its weights", "{weights:.2g}"),
    Column("arrives in next", "{arrives:.2f}x"),
    Column("cosine with next", "{cosine:+.2f}"),
    *(
        Column(f"{what}, {title}", f"{{{network}.{measure}:{digits}}}")
        for what, measure, digits in (
            ("median s", "smoothness", ".3f"),
            ("rank", "effective_rank", ".1f"),
            ("distance", "distance", ".4g"),
        )
        for network, title in _TITLES.items()
    ),
)
_BY_LAYER = (
    "arrives in next: the size of the change that the term causes in the next layer’s coordinates, "
    "over the size of the term.",
)


class LearnedTerm(Experiment):
    """One row for each term that was measured, then its features, then its layers."""

    def build(self, cells: Path, root: Root) -> Table[TermRow]:
        """Build the table, and note which cells have changed their settings since."""
        ours = Cell.read_all(cells)
        terms = sorted(Term.read_all(cells).values(), key=_place)
        old = [t.key.name for t in terms if t.key in ours and ours[t.key].settings != t.settings]
        notes = [
            *_NOTES,
            *(f"The settings of {name} have changed since its term was measured." for name in old),
        ]
        if not terms:
            notes.append("No term has been measured yet; 'graphsct reproduce term' does it.")
        sections = ("dataset", "model")
        return Table(
            "The effect of the learned term (ours, not in the paper)",
            _COLUMNS,
            tuple(map(_row, terms)),
            tuple(notes),
            _parts(terms, sections) if terms else (),
            sections,
        )

    def run(self, request: Request) -> bool:
        """Measure the missing terms, and report on each."""
        cells = [
            cell
            for key, cell in {**Cell.read_all(), **Cell.read_all(request.out)}.items()
            if key.control
            and not cell.borrowed
            and request.choice.takes(key.dataset, key.model, True, key.depth)
        ]
        if not cells:
            raise ExperimentError(
                "these choices leave no cell with SCT whose settings are known; run some "
                "first, for instance with 'graphsct reproduce table1 --trials 20'"
            )
        good = True
        terms = measure_terms(
            cells, request.seeds or _SEEDS, load=request.load, out=request.out, work=request.work
        )
        for number, measured in enumerate(terms, start=1):
            what = "measured" if measured.stored else f"failed: {measured.reason}"
            request.say(f"[{number}/{len(cells)}] {measured.key.name}: {what}")
            good = good and measured.stored is not None
        return good

    def nothing_left(self, choice: Choice, cells: Path) -> ExperimentError:
        """Return the error for a choice of cells without a measured term."""
        return ExperimentError(
            f"no term of such cells has been measured in {cells}; 'graphsct reproduce {self.name}' "
            "measures it"
        )


EXPERIMENTS = (LearnedTerm("term"),)


def _place(term: Term) -> tuple[int, ...]:
    datasets, models = list(TITLES), list(MODELS)
    key = term.key
    return datasets.index(key.dataset), models.index(key.model), term.settings.model.depth or 0


def _parts(terms: list[Term], sections: tuple[str, ...]) -> tuple[Table[Any], ...]:
    features = tuple(row for term in terms for row in _feature_rows(term))
    layers = tuple(row for term in terms for row in _layer_rows(term))
    title = "The features, medians over layers and runs"
    return (
        Table(title, _FEATURES, features, sections=sections),
        Table("Layer by layer, medians over runs", _LAYERS, layers, _BY_LAYER, sections=sections),
    )


def _head(term: Term) -> dict[str, Any]:
    key, model = term.key, term.settings.model
    return {
        **key._asdict(),
        "sct": True,
        "cell": key.name,
        "data_title": TITLES[key.dataset],
        "model_title": f"{MODELS[key.model]}-SCT",
        "our_depth": model.depth,
        "our_hidden": model.hidden,
    }


def _measures(layers: Sequence[LayerTerm]) -> dict[str, Any]:
    size = _median(layer.size for layer in layers)
    names = ("dimensions", "weights", "arrives", "cosine")
    return {
        "size": None if size is None else 100 * size,
        **{name: _median(getattr(layer, name) for layer in layers) for name in names},
    }


def _row(term: Term) -> TermRow:
    runs = term.runs
    epochs = statistics.median(run.best_epoch.with_term for run in runs)
    probed = [run.probed for run in runs]
    changes: dict[str, Any] = {name: _compare(probed, name) for name in INSTEAD}
    return TermRow(
        **_head(term),
        **_measures(term.layers),
        n=len(runs),
        ours=100 * statistics.fmean(run.accuracy.with_term for run in probed),
        reach=term.settings.train.learning_rate * epochs,
        **changes,
        features={name: _features(term, term.layers, name) for name in NETWORKS},
    )


def _compare(runs: Sequence[Probed], name: str) -> Change:
    """Compare the accuracy of a changed model with that of the trained one."""
    accuracies = [
        [100 * getattr(run.accuracy, each) for run in runs] for each in (name, "with_term")
    ]
    found = compare_pairs(*accuracies)
    return Change(
        mean=statistics.fmean(accuracies[0]) - statistics.fmean(accuracies[1]),
        low=None if found is None else found.low,
        high=None if found is None else found.high,
        p=None if found is None else found.p,
        changed=100 * statistics.fmean(getattr(run.changed, name) for run in runs),
    )


def _feature_rows(term: Term) -> Iterable[_FeatureRow]:
    for network in NETWORKS:
        features = _features(term, term.layers, network)
        yield _FeatureRow(**_head(term), **vars(features), network_title=_TITLES[network])


def _layer_rows(term: Term) -> Iterable[_LayerRow]:
    for own in zip(*(run.probed.layers for run in term.runs), strict=True):
        features: dict[str, Any] = {name: _features(term, own, name) for name in NETWORKS}
        yield _LayerRow(**_head(term), **_measures(own), layer=own[0].layer, **features)


def _features(term: Term, layers: Sequence[LayerTerm], network: str) -> FeatureMedians:
    measures: list[FeatureMeasures] = [getattr(layer, network) for layer in layers]
    dead, *others = map(_median, zip(*measures, strict=True))
    share = 100 * (dead or 0) / (term.settings.model.hidden or 1)
    return FeatureMedians(share, *others)


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None
