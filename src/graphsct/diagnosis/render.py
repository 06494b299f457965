"""A diagnosis on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from graphsct.diagnosis.measure import LayerReport
from graphsct.diagnosis.words import EFFECTS, effect_rows, size, trained, tried

if TYPE_CHECKING:
    from rich.table import Table

    from graphsct.diagnosis.diagnosis import Diagnosis

__all__ = ["render"]

_LEGEND = (
    "s: normalized smoothness of the live dimensions; rank: effective rank and, in brackets, that "
    "of what tells nodes apart; contrast, distance: shares of the norm that tell nodes apart and "
    "that lie outside the eigenspace; energy: normalized; gradient: of {target}; reach: the least "
    "s that control could give, and where the layer stands from there to 1"
)


def render(found: Diagnosis) -> Iterator[Any]:
    """The verdict, what to try, a table with a row for each layer, and what remedies came to."""
    from rich.text import Text

    yield Text.assemble(
        (f"{found.model} on {found.data}", "bold"),
        f": {size(found)}",
    )
    if found.run is not None:
        yield Text(trained(found.run))
    for line in found.verdict.splitlines():
        yield Text(line, style="bold green" if found.healthy else "bold red")
    yield Text()
    yield _layer_table(found)
    yield Text(_LEGEND.format(target=found.target), style="dim")
    if found.advice:
        yield Text("\nWhat to try:", style="bold")
        for advice in found.advice:
            yield Text.assemble(("  " + advice.name, "bold"), f": {advice.why}")
            yield Text(f"      {advice.change}", style="cyan")
    if found.effects:
        yield Text(f"\n{tried(found)}", style="bold")
        yield _effect_table(found)
    for name, reason in found.untried.items():
        yield Text(f"not tried: {name}: {reason}", style="dim")


def _table(columns: Sequence[str], left: Sequence[str]) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    for name in columns:
        table.add_column(name, justify="left" if name in left else "right", no_wrap=True)
    return table


def _layer_table(found: Diagnosis) -> Table:
    names = ("", "layer", "s, quartiles", "dead", "rank", "con-\ntrast", "dis-\ntance", "energy")
    table = _table((*names, "norm", "gra-\ndient", "reach", "state"), left=("layer", "state"))
    for number, (layer, state) in enumerate(zip(found.layers, found.states, strict=True), 1):
        style = None if state == "healthy" else "red"
        table.add_row(str(number), *_row(layer), state, style=style)
    return table


def _row(layer: LayerReport) -> tuple[str, ...]:
    quartiles = layer.quartiles
    return (
        layer.name,
        "-" if quartiles is None else " ".join(f"{value:.3f}" for value in quartiles),
        f"{len(layer.dead)}/{layer.channels}",
        f"{layer.effective_rank:.1f} ({layer.contrast_rank:.1f})",
        _share(layer.contrast),
        _share(layer.relative_distance),
        f"{layer.normalized_dirichlet_energy:.0e}",
        f"{layer.norm:.0e}",
        f"{layer.gradient_norm:.0e}",
        _reach(layer),
    )


def _share(value: float) -> str:
    return f"{value:.0e}" if value < 0.01 else f"{value:.2f}"


def _reach(layer: LayerReport) -> str:
    reach = layer.reach
    if reach is None:
        return "-"
    lowest = f"{min(reach.lower):.2f}"
    return lowest if reach.position is None else f"{lowest} {reach.position:4.0%}"


def _effect_table(found: Diagnosis) -> Table:
    table = _table(EFFECTS, left=EFFECTS[:1])
    for row in effect_rows(found):
        table.add_row(*row)
    return table
