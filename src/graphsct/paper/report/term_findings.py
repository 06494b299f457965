"""Findings about the learned term; every number in them is computed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from graphsct.pages.tables import Table
from graphsct.paper.report.findings import ReportFinding
from graphsct.paper.tables.learned_term import Change, TermRow
from graphsct.training.significance import LEVEL, holm, interval

__all__ = ["term_findings"]


def term_findings(table: Table[TermRow]) -> Iterator[ReportFinding]:
    """Yield the findings: the gain of the term with all else equal, its size, its use, its undoing
    by the next layer and its effect on smoothness. Each cell counts once.
    """
    rows = table.rows
    if rows:
        yield _equal(rows)
        yield _size(rows)
        yield _use(rows)
        yield _undoing(rows)
        yield _smoothness(rows)


def _equal(rows: Sequence[TermRow]) -> ReportFinding:
    bases = [row.base for row in rows]
    tested = [(change.mean, change.p) for change in bases if change.p is not None]
    adjusted = holm([p for _, p in tested])
    sure = [mean for (mean, _), p in zip(tested, adjusted, strict=True) if p < LEVEL]
    helps, hurts = sum(mean < 0 for mean in sure), sum(mean > 0 for mean in sure)
    unclear = len(rows) - helps - hurts
    runs = [row.n for row in rows]
    return ReportFinding(
        "Does SCT help if all else is equal?",
        f"In {helps} of {len(rows)} cells",
        "A search finds different settings for a model and for its base, so their accuracies may "
        "differ for other reasons than the term. So we trained cells with SCT again with "
        "the term and without it, from the same first weights and with the settings that were "
        f"found for the term, which favours it: {_span(runs, 'd')} runs each. SCT helps in "
        f"{helps}, hurts in {hurts}, and in {unclear} no difference can be shown (at 5 %, "
        "pairs of runs, Holm's correction). Pair by pair, the 95 % interval of the gain is "
        f"above zero in {sum(map(_falls, bases))} and below in {sum(map(_rises, bases))}. "
        "On average over the cells, accuracy differs by "
        f"{_average(bases)} points without the term, and "
        f"{_nodes(bases)} of the test nodes get another class.",
        (("helps", helps), ("unclear", unclear), ("hurts", hurts)),
    )


def _size(rows: Sequence[TermRow]) -> ReportFinding:
    carry = [100 * r.dimensions / r.our_hidden for r in rows if r.dimensions is not None]
    moved = [100 * r.weights / r.reach for r in rows if r.reach and r.weights is not None]
    return ReportFinding(
        "How large is the learned term?",
        f"{_span(_known(row.size for row in rows), '.1f')} % of the features it is added to",
        "These are medians over layers and runs of "
        f"{len(rows)} cells, {sum(row.n for row in rows)} runs. "
        f"{_range(carry, '.0f')} of the dimensions use the term. Its weights start at zero; by the "
        f"selected epoch they have moved {_range(moved, '.1f').lower()} of the distance that Adam "
        "could have moved them.",
    )


def _use(rows: Sequence[TermRow]) -> ReportFinding:
    removed, plain = [row.removed for row in rows], [row.plain for row in rows]
    felt = [sum(_rises(each) or _falls(each) for each in side) for side in (removed, plain)]
    return ReportFinding(
        "Does a trained model need the term?",
        f"Removing it has an effect in {felt[0]} of {len(rows)} cells",
        "There is an effect if the 95 % interval of the change in test accuracy excludes zero. On "
        f"average over the cells, removing the term changes accuracy by {_average(removed)} points "
        f"and the class of {_nodes(removed)} of the test nodes. A plain bias in its place, one "
        f"constant per dimension, changes accuracy by {_average(plain)} points, with an effect in "
        f"{felt[1]} cells; shuffling the term’s dimensions changes it by "
        f"{_average(row.shuffled for row in rows)} points.",
    )


def _undoing(rows: Sequence[TermRow]) -> ReportFinding:
    turns = _known(row.cosine for row in rows)
    return ReportFinding(
        "Does the next layer undo the term?",
        f"In {sum(turn < 0 for turn in turns)} of {len(turns)} cells",
        "In these cells the term of a layer changes the next layer’s eigenspace coordinates in one "
        "direction, and the next layer’s own term points against it: their cosine is negative. "
        f"Over all cells the cosine is {_span(turns, '+.2f')}.",
    )


def _smoothness(rows: Sequence[TermRow]) -> ReportFinding:
    return ReportFinding(
        "Does the term change how smooth features are?",
        f"By {_span(_moves(rows, 'smoothness'), '+.3f')}",
        "This is the difference in normalized smoothness between features with the term and "
        "without it, at the same weights: medians over all layers, runs and live dimensions. The "
        f"effective rank differs by {_span(_moves(rows, 'effective_rank'), '+.1f')}.",
    )


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _moves(rows: Sequence[TermRow], measure: str) -> list[float]:
    """How much larger a measure of the features is with the term."""
    pairs = [[getattr(row.features[n], measure) for n in ("with_term", "removed")] for row in rows]
    return [one - other for one, other in pairs if None not in (one, other)]


def _span(values: Sequence[float], digits: str) -> str:
    if not values:
        return "unknown"
    least, most = f"{min(values):{digits}}", f"{max(values):{digits}}"
    return least if least == most else f"{least} to {most}"


def _range(shares: Sequence[float], digits: str) -> str:
    """Shares in percent, at the beginning of a sentence."""
    least, _, most = _span(shares, digits).partition(" to ")
    return f"Between {least} % and {most} %" if most else f"{least} %"


def _rises(change: Change) -> bool:
    return change.low is not None and change.low > 0


def _falls(change: Change) -> bool:
    return change.high is not None and change.high < 0


def _average(changes: Iterable[Change]) -> str:
    means = [change.mean for change in changes]
    mean, bounds = sum(means) / len(means), interval(means)
    within = "" if bounds is None else f" [{bounds[0]:+z.1f}, {bounds[1]:+z.1f}]"
    return f"{mean:+z.1f}{within}"


def _nodes(changes: Sequence[Change]) -> str:
    return f"{sum(change.changed for change in changes) / len(changes):.1f} %"
