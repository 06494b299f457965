"""The graph on a page: facts, degrees and components."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from graphsct.diagnosis.card import GraphCard
from graphsct.plotting.interactive import BLUE, Drawn, Figure, layout, log_axis

__all__ = ["CardView", "card_view"]


class CardView(NamedTuple):
    """Facts by name, and figures of degrees and components."""

    facts: dict[str, str]
    figures: list[Drawn]


def card_view(card: GraphCard) -> CardView:
    """Return a card as a page shows it; components are drawn if their sizes differ."""
    drawn = [
        _counts("Neighbours of a node", "neighbours", "nodes", card.degrees),
        _counts("Nodes of a component", "nodes", "components", card.sizes),
    ]
    return CardView(_facts(card), drawn if len(card.sizes) > 1 else drawn[:1])


def _facts(card: GraphCard) -> dict[str, str]:
    low, high, largest = card.degrees[0][0], card.max_degree, card.largest_component
    facts = {
        "nodes": f"{card.nodes:,}",
        "edges": f"{card.edges:,}",
        "connected components": f"{card.components:,}",
        "nodes in the largest": f"{largest:,} ({largest / card.nodes:.0%})",
        "nodes without a neighbour": f"{card.isolated:,}",
        "neighbours of a node": f"{low:,} to {high:,}, mean {card.mean_degree:.1f}, median "
        f"{card.median_degree:g}",
    }
    unknown = "unknown without labels" if card.edges else "no edges"
    shown = unknown if card.homophily is None else f"{card.homophily:.2f}"
    return facts | {"edges inside a class (homophily)": shown}


def _counts(title: str, what: str, of: str, pairs: Sequence[tuple[int, int]]) -> Drawn:
    """Draw how often each size occurs, on logarithmic axes; zeros are among the facts."""
    shown = [(value, count) for value, count in pairs if value]
    figure = {
        "data": [
            {
                "type": "scatter",
                "mode": "markers",
                "x": [value for value, _ in shown],
                "y": [count for _, count in shown],
                "marker": {"color": BLUE, "size": 8, "opacity": 0.8},
                "hovertemplate": f"{what}: %{{x:,}}<br>{of}: %{{y:,}}<extra></extra>",
            }
        ],
        "layout": layout(
            260,
            legend=False,
            hovermode="closest",
            xaxis=_axis([value for value, _ in shown], what),
            yaxis=_axis([count for _, count in shown], of),
        ),
    }
    low, high = pairs[0][0], pairs[-1][0]
    return Drawn(title, figure, f"Number of {of} by number of {what}, from {low:,} to {high:,}")


def _axis(counts: Sequence[int], title: str) -> Figure:
    """Return a logarithmic axis, with a tick at each of a few numbers and nowhere else."""
    axis = log_axis(counts, title={"text": title})
    if len(few := sorted(set(counts))) < 4:
        axis |= {"tickvals": few, "ticktext": [f"{one:,}" for one in few]}
    return axis
