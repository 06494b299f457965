"""The findings of a report; every number in them is counted."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from graphsct.pages.tables import Table
from graphsct.paper.cell import DEEP
from graphsct.paper.paper import find_table
from graphsct.paper.report.drawings import Drawing
from graphsct.paper.report.findings import (
    Agreement,
    ControlEffect,
    ReportFinding,
    agreement,
    by_loss,
    chosen,
    effect,
    exact,
    missing,
)
from graphsct.paper.report.term_findings import term_findings
from graphsct.paper.tables.authors import AuthorRow
from graphsct.paper.tables.replays import ReplayRow
from graphsct.paper.tables.rows import AccuracyRow

__all__ = ["overview"]

#: Channels up to which a network is called narrow.
_NARROW = 16


def overview(tables: Mapping[str, Table[Any]], drawings: Sequence[Drawing]) -> list[ReportFinding]:
    """Findings, the most important first.

    Args:
        tables: all tables by their plain names
        drawings: all figures
    """
    return [
        _gains("Does SCT help on the citation sets?", "depth", tables["depth"]),
        _gains("Does SCT help EGNN with SReLU?", "srelu", tables["srelu"]),
        _gains("Does SCT help on the heterophilic sets?", "heterophilic", tables["heterophilic"]),
        *term_findings(tables["term"]),
        *_reached(tables["depth"]),
        *_best(tables["depth"]),
        *_rules(tables["depth"]),
        *_protocol(tables["replay"]),
        *_more_search(tables["replay"]),
        *_authors(tables["authors"]),
        *(_CLAIMS[d.number](d.digest) for d in drawings if d.digest is not None),
        _counts(tables),
        *_rest(tables),
    ]


def _gains(question: str, name: str, table: Table[AccuracyRow]) -> ReportFinding:
    found = effect(table.rows)
    printed = (
        f"The paper (table {find_table(name).number}) prints a gain in {found.printed_up} of "
        f"{found.printed} pairs."
    )
    if not found.pairs:
        return ReportFinding(question, "Not known yet", f"{printed} We ran none of them.")
    return ReportFinding(
        question,
        f"In {found.helps} of {found.pairs} pairs",
        f"{printed} {_effect(found)}{_widths(table.rows)}",
        (("helps", found.helps), ("unclear", found.unclear), ("hurts", found.hurts)),
    )


def _effect(found: ControlEffect) -> str:
    assert found.best is not None and found.worst is not None
    fair = "all" if found.fair == found.pairs else found.fair
    return (
        f"We ran {found.pairs} of them, {fair} tuned with one budget for both sides: SCT helps in "
        f"{found.helps}, hurts in {found.hurts}, and in {found.unclear} no difference can be shown "
        "(at 5 %, Holm's correction). Pair by pair, the 95 % interval is above zero in "
        f"{found.above} and below in {found.below}. The mean gain is {found.mean:+z.1f} points; "
        f"the paper's is {found.paper_mean:+z.1f} for the same pairs. Our gains range from "
        f"{_pair(found.worst)} to {_pair(found.best)}."
    )


def _widths(rows: Sequence[AccuracyRow]) -> str:
    """Count where SCT helps or hurts, by width; empty if there is one width or no such cell."""
    groups: dict[str, list[AccuracyRow]] = {}
    for row in rows:
        if row.gain:
            limit = row.our_limit or math.inf
            kind = f"at most {_NARROW} channels" if limit <= _NARROW else "more channels"
            groups.setdefault(kind, []).append(row)
    counted = {kind: effect(group) for kind, group in groups.items()}
    if len(counted) < 2 or not any(part.helps + part.hurts for part in counted.values()):
        return ""
    parts = (
        f"with {kind} SCT helps in {part.helps} and hurts in {part.hurts} of {part.pairs} pairs, "
        f"with a mean gain of {part.mean:+z.1f} points"
        for kind, part in counted.items()
    )
    return f" Split by the largest width in the search, {'; '.join(parts)}."


def _pair(row: AccuracyRow) -> str:
    layers = f" with {row.depth} layers" if row.depth else ""
    gain = row.gain
    assert gain is not None
    return (
        f"{gain.mean:+z.1f} [{gain.low:+z.1f}, {gain.high:+z.1f}] "
        f"({row.model_title}{layers} on {row.data_title})"
    )


def _reached(table: Table[AccuracyRow]) -> Iterator[ReportFinding]:
    """Whether the paper's accuracies are reached, with SCT and without."""
    found = agreement(table.rows)
    if not found.cells:
        return
    parts = {
        "With SCT": agreement(row for row in table.rows if row.sct),
        "Without SCT": agreement(row for row in table.rows if not row.sct),
        "Without SCT, at 16 and 32 layers": agreement(
            row for row in table.rows if not row.sct and (row.depth or 0) >= DEEP
        ),
    }
    yield ReportFinding(
        "Do we reach the paper's accuracies?",
        f"In {found.above + found.agrees} of {found.cells} cells",
        "This is where we are above the paper or agree with it.",
        (("above", found.above), ("agrees", found.agrees), ("below", found.below)),
        tuple(f"{name}, {_agreement(part)}." for name, part in parts.items() if part.cells),
    )


def _agreement(found: Agreement) -> str:
    return (
        f"ours are above the paper's in {found.above}, agree in {found.agrees} and are below in "
        f"{found.below} of {found.cells} cells (our mean is below in {found.means_below}); the "
        f"mean difference is {found.mean:+z.1f} points"
    )


def _best(table: Table[AccuracyRow]) -> Iterator[ReportFinding]:
    """The model with SCT that validation selects, for each data set."""
    parts = []
    reached = 0
    ran = [row for row in table.rows if row.verdict is not None]
    for title in dict.fromkeys(row.data_title for row in ran if row.sct):
        here = [row for row in ran if row.data_title == title]
        own = [row for row in table.rows if row.data_title == title and row.sct]
        printed = max(row.right or row.paper for row in own)
        taken = chosen(here, sct=True)
        assert taken is not None
        others = {
            "without SCT": chosen(here, sct=False),
            "with SCT by validation loss": chosen(
                [row for row in by_loss(table) if row.data_title == title], sct=True
            ),
        }
        text = f"{title}: {_taken(taken)}; the paper's best has {printed:.1f}"
        text += "".join(f"; {name} {_taken(row)}" for name, row in others.items() if row)
        parts.append(f"{text}.")
        reached += taken.ours is not None and taken.ours >= printed
    if parts:
        yield ReportFinding(
            "How good is the best model with SCT?",
            f"As good as the paper's on {reached} of {len(parts)} sets",
            "Mean validation accuracy selects model and depth; validation accuracy selects the "
            "epoch, and in the last number validation loss.",
            items=tuple(parts),
        )


def _taken(row: AccuracyRow) -> str:
    return f"{row.ours:.1f} ± {row.std:.1f} ({row.model_title}, {row.depth} layers)"


def _rules(table: Table[AccuracyRow]) -> Iterator[ReportFinding]:
    """Whether the rule that selects the epoch decides the verdict."""
    others = {row.cell: row.gain for row in by_loss(table) if row.gain}
    pairs = [(row.gain, others[row.cell]) for row in table.rows if row.gain and row.cell in others]
    if not pairs:
        return
    changed = sum(one.verdict != other.verdict for one, other in pairs)
    yield ReportFinding(
        "Does it matter which rule selects the epoch?",
        f"In {changed} of {len(pairs)} deep pairs",
        "This many verdicts change when validation loss instead of validation accuracy selects the "
        "epoch.",
    )


def _protocol(table: Table[ReplayRow]) -> Iterator[ReportFinding]:
    """How much of the printed gain comes from the way in which the paper tunes and selects."""
    known = [row for row in table.rows if row.protocol is not None]
    pairs = [
        (row.paper_gain, row.gain, row.same_gain)
        for row in known
        if row.paper_gain is not None and row.gain is not None and row.same_gain is not None
    ]
    if not pairs:
        return
    inside = sum(row.place == "inside" for row in known)
    paper = statistics.fmean(printed for printed, _, _ in pairs)
    ours = statistics.fmean(gain.mean for _, gain, _ in pairs)
    same = statistics.fmean(gain.mean for _, _, gain in pairs)
    yield ReportFinding(
        "How much of the printed gain is the protocol's?",
        f"{ours:+z.1f} of {paper:+z.1f} points",
        f"Where we drew trials as the paper does (pairs: {len(pairs)}), its protocol (200 "
        "trials of one run, least validation loss, with SCT the better test accuracy of two "
        f"activations) prints a mean gain of {ours:+z.1f} points with our models; the paper prints "
        f"{paper:+z.1f}. Without the choice of the activation by test accuracy it would be "
        f"{same:+z.1f}. {inside} of {len(known)} numbers of the paper lie between the 5 % and "
        "95 % quantiles of what the protocol prints.",
    )


def _more_search(table: Table[ReplayRow]) -> Iterator[ReportFinding]:
    """Whether more trials would change which side is better."""
    pairs = [row for row in table.rows if row.lead_changes is not None and row.protocol]
    crossed = [row for row in pairs if row.lead_changes]
    if pairs:
        where = "; ".join(
            f"{row.model_title} with {row.depth} layers on {row.data_title} at "
            f"{', '.join(map(str, row.lead_changes or ()))}"
            for row in crossed
        )
        yield ReportFinding(
            "Does more search change which side is better?",
            f"In {len(crossed)} of {len(pairs)} pairs",
            "In these pairs the curves of the expected validation accuracy of the best trial "
            "cross, at the numbers of trials given here. " + (f"{where}." if where else ""),
        )


def _authors(table: Table[AuthorRow]) -> Iterator[ReportFinding]:
    """Whether SCT helps at the settings that the authors of its base publish."""
    gains = [row.sct_gain.mean for row in table.rows if row.sct_gain]
    if not gains:
        return
    counts = Counter(row.verdict for row in table.rows)
    biased = [row.bias_gain.mean for row in table.rows if row.bias_gain]
    bias = f", a bias in its place {statistics.fmean(biased):+z.1f}" if biased else ""
    verdicts = ("helps", "unclear", "hurts")
    yield ReportFinding(
        "Does SCT help at the settings of its base's authors?",
        f"In {counts['helps']} of {len(gains)} cells",
        "With published settings nothing is searched, and seeds and first weights are the same. "
        f"SCT gains {statistics.fmean(gains):+z.1f} points on average{bias}.",
        tuple((verdict, counts[verdict]) for verdict in verdicts),
    )


def _smoothness(digest: Table[Any]) -> ReportFinding:
    dead = [row.dead for row in digest.rows]
    return ReportFinding(
        "Do features become smooth in deep layers?",
        f"{_share(digest, 'GCN', 'smooth')}, {_share(digest, 'GCN-SCT', 'smooth')} settings",
        "The paper (figure 3) finds smooth features from layer 14 on in a 32-layer GCN, but not in "
        "GCN-SCT. It does not say how the weights started, so we tried several settings. "
        f"In these layers {min(dead):.0f} to {max(dead):.0f} % of the dimensions are dead, so they "
        "are smooth by definition only.",
    )


def _gradients(digest: Table[Any]) -> ReportFinding:
    names = dict.fromkeys(row.network for row in digest.rows)
    return ReportFinding(
        "Do gradients vanish?",
        f"{_share(digest, 'GCN', 'vanishes')}, {_share(digest, 'GCN-SCT', 'vanishes')} settings",
        "The paper (figure 4) finds that they vanish in GCN and GCN-SCT, and in no other network. "
        "In our runs they vanish in these numbers of settings: "
        + ", ".join(_share(digest, name, "vanishes") for name in names)
        + ".",
    )


_CLAIMS = {3: _smoothness, 4: _gradients}


def _share(digest: Table[Any], name: str, verdict: str) -> str:
    verdicts = [row.verdict for row in digest.rows if row.network == name]
    return f"{name} in {verdicts.count(verdict)} of {len(verdicts)}"


def _counts(tables: Mapping[str, Table[Any]]) -> ReportFinding:
    sizes = tables["sizes"]
    same, printed = exact(sizes), len(sizes.rows)
    text = f"Of {printed} model sizes that the paper prints, {same} equal ours to the digit."
    counted = [row for row in tables["statistics"].rows if row.quantity != "split"]
    known = [row for row in counted if row.ours is not None]
    if known:
        other = [row for row in known if row.ours != row.paper]
        open_ = [row for row in other if not row.why and not row.counts]
        text += (
            f" Of {len(known)} numbers of nodes, edges, features and classes, "
            f"{len(known) - len(other)} equal our counts, {len(other) - len(open_)} are misprints "
            f"or edges counted in another way, and {len(open_)} differ for a reason we do not know."
        )
    return ReportFinding("Are models and data the same?", f"{same} of {printed} models", text)


def _rest(tables: Mapping[str, Table[Any]]) -> Iterator[ReportFinding]:
    found = missing(tables)
    if found:
        yield ReportFinding(
            "What is missing?",
            f"{sum(found.values())} cells",
            "We have no result for these cells: "
            + "; ".join(f"{reason} ({count})" for reason, count in found.items())
            + ".",
        )
