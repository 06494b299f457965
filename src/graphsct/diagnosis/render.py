"""A diagnosis on a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from graphsct.diagnosis.tables import effect_table, long_layer_table, short_layer_table
from graphsct.diagnosis.words import size, trained

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions

    from graphsct.diagnosis.diagnosis import Diagnosis

__all__ = ["render"]

_WIDEST = 1000


def render(found: Diagnosis, console: Console, options: ConsoleOptions) -> Iterator[Any]:
    """Yield the verdict, a table of all layers, advice, and the effects of remedies.

    The table of layers has fewer columns if all of them do not fit.
    """
    from rich.text import Text

    yield Text.assemble((f"{found.model} on {found.data}", "bold"), f": {size(found)}")
    if found.run is not None:
        yield Text(trained(found.run))
    for line in found.verdict.splitlines():
        yield Text(line, style="bold green" if found.healthy else "bold red")
    yield Text()
    layers, effects = long_layer_table(found), effect_table(found)
    whole = console.measure(layers.to_rich(), options=options.update(width=_WIDEST)).maximum
    if whole > options.max_width:
        layers = short_layer_table(found)
    yield layers.to_rich()
    for note in layers.notes:
        yield Text(note, style="dim")
    if found.advice:
        yield Text("\nWhat to try:", style="bold")
        for advice in found.advice:
            yield Text.assemble(("  " + advice.name, "bold"), f": {advice.why}")
            yield Text(f"      {advice.change}", style="cyan")
    if effects is not None:
        yield Text(f"\n{effects.title}:", style="bold")
        yield effects.to_rich()
    for name, reason in found.untried.items():
        yield Text(f"not tried: {name}: {reason}", style="dim")
