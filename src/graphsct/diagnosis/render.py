"""A diagnosis on a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from graphsct.diagnosis.advice import title
from graphsct.diagnosis.rates import describe_rate, read_rates
from graphsct.diagnosis.tables import effect_table, long_layer_table, short_layer_table
from graphsct.diagnosis.words import MEANINGS, size, trained

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions

    from graphsct.diagnosis.diagnosis import Diagnosis

__all__ = ["explanations", "render"]

_WIDEST = 1000


def render(found: Diagnosis, console: Console, options: ConsoleOptions) -> Iterator[Any]:
    """Yield the verdict, a table of all layers, advice, and the effects of remedies.

    The table of layers has fewer columns where the full table does not fit.
    """
    from rich.text import Text

    yield Text.assemble((f"{found.model} on {found.data}", "bold"), f": {size(found)}")
    if found.run is not None:
        yield Text(trained(found.run))
    for line in found.verdict.splitlines():
        yield Text(line, style=_style(found, line))
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
            yield Text.assemble(("  " + advice.title, "bold"), f": {advice.why}")
            yield Text(f"      {advice.change}", style="cyan")
            yield Text(f"      evidence: {advice.evidence}", style="dim")
    if effects is not None:
        yield Text(f"\n{effects.title}:", style="bold")
        yield effects.to_rich()
    for name, reason in found.untried.items():
        yield Text(f"not tried: {title(name)}: {reason}", style="dim")


def explanations(found: Diagnosis) -> Iterator[Any]:
    """Yield the meaning of each finding and how often it is right."""
    from rich.text import Text

    yield Text("\nHow to read the findings:", style="bold")
    for finding in found.findings:
        yield Text.assemble(("  " + finding.kind, "bold"), f": {MEANINGS[finding.kind]}")
        yield Text(f"      {describe_rate(finding.kind)}", style="dim")
    rates = read_rates()
    yield Text.assemble(
        ("  does not work", "bold"),
        f": {rates.works.text}; all rates were measured on {rates.models} models that had "
        "no part in the choice of the limits",
    )


def _style(found: Diagnosis, line: str) -> str:
    good = line.startswith(("The model works", "The model does better", "no over-smoothing"))
    return "bold green" if good and found.works is not False else "bold red"
