"""What the learned term does, in words; every number in them is computed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from graphsct.paper.report.findings import Finding
from graphsct.paper.tables import Row, Table
from graphsct.paper.tables.significance import LEVEL, holm, interval

__all__ = ["term_findings"]


def term_findings(table: Table) -> Iterator[Finding]:
    """Whether the learned term helps all else equal, is small, used, undone or felt in the
    features; each cell counts once.
    """
    rows = table.rows
    if rows:
        yield _equal(rows)
        yield _size(rows)
        yield _use(rows)
        yield _undoing(rows)
        yield _smoothness(rows)


def _equal(rows: Sequence[Row]) -> Finding:
    without = [row["base"] for row in rows if row["base"]["p"] is not None]
    adjusted = holm([change["p"] for change in without])
    sure = [change["mean"] for change, p in zip(without, adjusted, strict=True) if p < LEVEL]
    helps, hurts = sum(mean < 0 for mean in sure), sum(mean > 0 for mean in sure)
    unclear = len(rows) - helps - hurts
    runs = [row["n"] for row in rows]
    return Finding(
        "Does SCT help if all else is equal?",
        f"In {helps} of {len(rows)} cells",
        "What a search finds for a model and for its base differs, and so may their accuracies "
        "without the term’s doing. So cells with SCT were trained again with the term and without "
        "it, from the same first weights and in the settings that were found for the term, which "
        f"favours it: {_span(runs, 'd')} runs each. SCT helps in {helps}, "
        f"hurts in {hurts}, and in {unclear} no difference can be shown (at 5 %, "
        "pairs of runs, Holm's correction). Taken one by one, the 95 % interval of the gain is "
        f"above zero in {sum(map(_falls, without))} and below in {sum(map(_rises, without))}. "
        "The model without it is "
        f"{_average(rows, 'base')} points from the one with it, on average over the cells, and "
        f"{_nodes(rows, 'base')} of the test nodes get another class.",
        (("helps", helps), ("unclear", unclear), ("hurts", hurts)),
    )


def _size(rows: Sequence[Row]) -> Finding:
    carry = [100 * r["dimensions"] / r["our_hidden"] for r in rows if r["dimensions"] is not None]
    moved = [100 * row["weights"] / row["reach"] for row in rows if row["reach"]]
    return Finding(
        "How large is the learned term?",
        f"{_span(_known(rows, 'size'), '.1f')} % of what it is added to",
        f"Medians over layers and runs of {len(rows)} cells, {sum(row['n'] for row in rows)} runs. "
        f"Of the feature dimensions, {_span(carry, '.0f')} % carry it. Its weights start at zero, "
        f"and when the epoch is chosen they have gone {_span(moved, '.1f')} % of the way that Adam "
        "can have moved them.",
    )


def _use(rows: Sequence[Row]) -> Finding:
    felt = {name: sum(_differs(row[name]) for row in rows) for name in ("removed", "plain")}
    return Finding(
        "Does a trained model need the term?",
        f"Taking it out is felt in {felt['removed']} of {len(rows)} cells",
        "Felt: the 95 % interval of the change in test accuracy excludes zero. On average over the "
        f"cells accuracy changes by {_average(rows, 'removed')} points, and "
        f"{_nodes(rows, 'removed')} of the test nodes get another class. With a plain bias in its "
        f"place, one constant a dimension, it changes by {_average(rows, 'plain')}, felt in "
        f"{felt['plain']}; with the term’s dimensions shuffled, by {_average(rows, 'shuffled')}.",
    )


def _undoing(rows: Sequence[Row]) -> Finding:
    turns = _known(rows, "cosine")
    return Finding(
        "Does the next layer undo the term?",
        f"In {sum(turn < 0 for turn in turns)} of {len(turns)} cells",
        "So many have a negative cosine between what a term changes in the next layer’s eigenspace "
        f"coordinates and the term that is added there; it is {_span(turns, '+.2f')}.",
    )


def _smoothness(rows: Sequence[Row]) -> Finding:
    return Finding(
        "Does the term change how smooth features are?",
        f"By {_span(_moves(rows, 'smoothness'), '+.3f')}",
        "So much larger is the normalized smoothness with the term than with it taken out, at the "
        "same weights: medians over all layers, runs and dimensions that are not dead. The "
        f"effective rank is larger by {_span(_moves(rows, 'effective_rank'), '+.1f')}.",
    )


def _known(rows: Sequence[Row], name: str) -> list[float]:
    return [row[name] for row in rows if row[name] is not None]


def _moves(rows: Sequence[Row], measure: str) -> list[float]:
    """How much larger a measure of the features is with the term."""
    pairs = [[row["features"][n][measure] for n in ("with_term", "removed")] for row in rows]
    return [one - other for one, other in pairs if None not in (one, other)]


def _span(values: Sequence[float], digits: str) -> str:
    if not values:
        return "unknown"
    least, most = f"{min(values):{digits}}", f"{max(values):{digits}}"
    return least if least == most else f"{least} to {most}"


def _differs(change: Row) -> bool:
    return _rises(change) or _falls(change)


def _rises(change: Row) -> bool:
    return change["low"] is not None and bool(change["low"] > 0)


def _falls(change: Row) -> bool:
    return change["high"] is not None and bool(change["high"] < 0)


def _average(rows: Sequence[Row], name: str) -> str:
    means = [row[name]["mean"] for row in rows]
    mean, bounds = sum(means) / len(means), interval(means)
    within = "" if bounds is None else f" [{bounds[0]:+z.1f}, {bounds[1]:+z.1f}]"
    return f"{mean:+z.1f}{within}"


def _nodes(rows: Sequence[Row], name: str) -> str:
    return f"{sum(row[name]['changed'] for row in rows) / len(rows):.1f} %"
