"""What the learned term does: a table of ours, which the paper does not have."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping
from typing import Any

from graphsct.paper.cell import Cell, Key
from graphsct.paper.paper import DATASETS, MODELS
from graphsct.paper.probe import INSTEAD, NETWORKS
from graphsct.paper.tables.significance import compare_pairs
from graphsct.paper.tables.table import Column, Row, Table
from graphsct.paper.term import Term

__all__ = ["build"]

_OWN = ("dimensions", "weights", "arrives", "cosine")
_TITLES = {"with_term": "with the term", "removed": "term removed", "base": "trained without"}
_HEAD = (
    Column("data", ("{data_title:s}",), right=False),
    Column("model", ("{model_title:s}",), right=False),
    Column("layers", ("{our_depth:d}",)),
)


def _change(name: str) -> tuple[str, ...]:
    mean = f"{{{name}[mean]:+z.1f}}"
    return f"{mean} [{{{name}[low]:+z.1f}}, {{{name}[high]:+z.1f}}]", mean


_COLUMNS = (
    *_HEAD,
    Column("n", ("{n:d}",)),
    Column("size of the term, %", ("{size:.1f}",)),
    Column("dimensions that carry it", ("{dimensions:.1f} of {our_hidden:d}",)),
    Column("its weights", ("{weights:.2g}",)),
    Column("Adam’s reach", ("{reach:.2g}",)),
    Column("test accuracy, %", ("{ours:.1f}",)),
    Column("removed", _change("removed")),
    Column("frozen", _change("frozen")),
    Column("plain bias", _change("plain")),
    Column("shuffled", _change("shuffled")),
    Column("trained without", _change("base")),
    Column("removed: other class, %", ("{removed[changed]:.1f}",)),
    Column("trained without: other class, %", ("{base[changed]:.1f}",)),
    Column("cosine with next", ("{cosine:+.2f}",)),
)
_NOTES = (
    "n runs of each cell were trained with its settings, and n without the term from the same "
    "first weights; their settings are those found for the term. Validation accuracy chose the "
    "epoch.",
    "size of the term: its norm over that of what it is added to, the median over layers and runs. "
    "dimensions that carry it: 1 if it is zero in all others, all if it is of one size in each; "
    "the median again. its weights: their root mean square, the median again; they start at zero. "
    "Adam’s reach: learning rate times epochs up to the chosen one, about the most that a weight "
    "can have moved.",
    "removed, frozen, plain bias, shuffled: what test accuracy changes by, in points, when this is "
    "put in place of the trained term: nothing; its mean over passes with dropout; its mean over "
    "all nodes, one constant a dimension; itself with dimensions in another order (mean of ten). "
    "Nothing is trained again. trained without: the same for the model without the term. In "
    "brackets, the 95% confidence interval of the pairs.",
    "other class: share of the test nodes whose class is then another one.",
    "cosine with next: between what a term changes in the next layer’s eigenspace coordinates and "
    "the term that the next layer adds there, the median over layers and runs; -1 if the next "
    "layer takes back what arrives, 1 if it adds more of the same.",
)

_FEATURES = (
    *_HEAD,
    Column("network", ("{network_title:s}",), right=False),
    Column("dead dimensions, %", ("{dead:.0f}",)),
    Column("median s of the others", ("{smoothness:.3f}", "none is left")),
    Column("effective rank", ("{effective_rank:.1f}",)),
    Column("distance to the eigenspace", ("{distance:.4g}",)),
)
_LAYERS = (
    *_HEAD,
    Column("layer", ("{layer:d}",)),
    Column("size of the term, %", ("{size:.1f}",)),
    Column("dimensions that carry it", ("{dimensions:.1f}",)),
    Column("its weights", ("{weights:.2g}",)),
    Column("arrives in next", ("{arrives:.2f}x",)),
    Column("cosine with next", ("{cosine:+.2f}",)),
    *(
        Column(f"{what}, {title}", (f"{{{network}[{measure}]:{digits}}}",))
        for what, measure, digits in (
            ("median s", "smoothness", ".3f"),
            ("rank", "effective_rank", ".1f"),
            ("distance", "distance", ".4g"),
        )
        for network, title in _TITLES.items()
    ),
)
_BY_LAYER = (
    "arrives in next: the size of what the term changes in the next layer’s coordinates, over its "
    "own.",
)


def build(terms: Mapping[Key, Term], cells: Mapping[Key, Cell]) -> Table:
    """One row for each term that was measured, then its features, then its layers.

    Args:
        terms: what was measured
        cells: ours, to say which have other settings by now
    """
    ordered = sorted(terms.values(), key=_place)
    old = [t.key.name for t in ordered if t.key in cells and cells[t.key].settings != t.settings]
    notes = [*_NOTES, *(f"Measured with settings that {name} has no longer." for name in old)]
    if not ordered:
        notes.append("No term has been measured yet; 'graphsct reproduce term' does it.")
    return Table(
        "What the term does (ours, not in the paper)",
        _COLUMNS,
        tuple(_row(term) for term in ordered),
        tuple(notes),
        parts=_parts(ordered) if ordered else (),
    )


def _place(term: Term) -> tuple[int, ...]:
    datasets, models = list(DATASETS), list(MODELS)
    key = term.key
    return datasets.index(key.dataset), models.index(key.model), term.settings.model.depth


def _parts(terms: list[Term]) -> tuple[Table, ...]:
    features = tuple(row for term in terms for row in _feature_rows(term))
    layers = tuple(row for term in terms for row in _layer_rows(term))
    return (
        Table("The features, medians over layers and runs", _FEATURES, features),
        Table("Layer by layer, medians over runs", _LAYERS, layers, _BY_LAYER),
    )


def _head(term: Term) -> Row:
    key, model = term.key, term.settings.model
    return {
        **key._asdict(),
        "sct": True,
        "cell": key.name,
        "data_title": DATASETS[key.dataset],
        "model_title": f"{MODELS[key.model]}-SCT",
        "our_depth": model.depth,
        "our_hidden": model.hidden,
    }


def _row(term: Term) -> Row:
    runs = term.runs
    layers = [layer for run in runs for layer in run["layers"]]
    epochs = _median(run["best_epoch"]["with_term"] for run in runs)
    return {
        **_head(term),
        "n": len(runs),
        "ours": 100 * statistics.fmean(run["accuracy"]["with_term"] for run in runs),
        "size": _percent(_median(layer["size"] for layer in layers)),
        **{name: _median(layer[name] for layer in layers) for name in _OWN},
        "reach": term.settings.train.learning_rate * (epochs or 0),
        **{name: _compare(runs, name) for name in INSTEAD},
        "features": {n: _medians(term, [layer[n] for layer in layers]) for n in NETWORKS},
    }


def _compare(runs: Iterable[dict[str, Any]], name: str) -> dict[str, float | None]:
    """The change of accuracy in points, and the nodes that change, in percent."""
    runs = list(runs)
    accuracies = [
        [100 * float(run["accuracy"][each]) for run in runs] for each in (name, "with_term")
    ]
    found = compare_pairs(*accuracies)
    return {
        "mean": statistics.fmean(accuracies[0]) - statistics.fmean(accuracies[1]),
        "low": None if found is None else found.low,
        "high": None if found is None else found.high,
        "p": None if found is None else found.p,
        "changed": 100 * statistics.fmean(run["changed"][name] for run in runs),
    }


def _feature_rows(term: Term) -> Iterable[Row]:
    for network, medians in _row(term)["features"].items():
        yield {**_head(term), "network_title": _TITLES[network], **medians}


def _layer_rows(term: Term) -> Iterable[Row]:
    for own in zip(*(run["layers"] for run in term.runs), strict=True):
        yield {
            **_head(term),
            "layer": own[0]["layer"],
            "size": _percent(_median(layer["size"] for layer in own)),
            **{name: _median(layer[name] for layer in own) for name in _OWN},
            **{n: _medians(term, [layer[n] for layer in own]) for n in NETWORKS},
        }


def _medians(term: Term, measures: list[dict[str, Any]]) -> Row:
    found: Row = {name: _median(each[name] for each in measures) for name in measures[0]}
    return {**found, "dead": 100 * found["dead"] / term.settings.model.hidden}


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share
