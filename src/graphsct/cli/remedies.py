"""``graphsct remedies``: what people do against over-smoothing."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from graphsct.cli import options
from graphsct.cli.output import print_json, print_table

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="What people do against over-smoothing: list, describe and compare it.",
    epilog=options.examples(
        ("All remedies", "graphsct remedies list"),
        ("One of them, with the line to write", "graphsct remedies show pair_norm"),
    ),
)

Json = Annotated[bool, options.as_json()]


def _names() -> list[str]:
    from graphsct.remedies import REMEDIES

    return list(REMEDIES)


@app.command(
    "list",
    epilog=options.examples(
        ("All remedies", "graphsct remedies list"),
        ("As JSON", "graphsct remedies list --json"),
    ),
)
def list_(as_json: Json = False) -> None:
    """List the remedies, the papers they come from and the models they fit."""
    from graphsct.pages.tables import Column, Table
    from graphsct.remedies import FAMILIES, REMEDIES, Remedy

    if as_json:
        print_json({"remedies": [remedy.to_dict() for remedy in REMEDIES.values()]})
        return
    columns: tuple[Column[Remedy], ...] = (
        Column("name", "{name:s}", right=False),
        Column("family", "{family:s}", right=False),
        Column("number", _number, right=False),
        Column("fits", _fits, right=False),
        Column("source", "{source:s}", right=False),
    )
    notes = [f"{family}: change {what}" for family, what in FAMILIES.items()]
    notes.append(
        "any: also models of PyTorch Geometric and your own, as far as the parts are there"
    )
    rows = tuple(REMEDIES.values())
    print_table(Table("Remedies", columns, rows, tuple(notes), sections=("family",)))


def _number(remedy: Any) -> str:
    if remedy.number is None:
        return ""
    return f"{remedy.number.name} {' or '.join(f'{value:g}' for value in remedy.number.choices)}"


def _fits(remedy: Any) -> str:
    return ", ".join([*remedy.models, *(["any"] if remedy.applies else [])])


@app.command(
    epilog=options.examples(
        ("What PairNorm claims, and the line to write", "graphsct remedies show pair_norm"),
        ("As JSON", "graphsct remedies show drop_edge --json"),
    )
)
def show(
    name: Annotated[
        str,
        typer.Argument(
            help="A remedy of 'graphsct remedies list'.", autocompletion=options.among(_names)
        ),
    ],
    as_json: Json = False,
) -> None:
    """Describe a remedy: what it claims, what it changes, and the line to write."""
    from graphsct.errors import ExperimentError
    from graphsct.names import pick
    from graphsct.remedies import FAMILIES, REMEDIES

    remedy = pick(REMEDIES, name, "remedy", ExperimentError)
    if as_json:
        print_json(remedy.to_dict())
        return
    lines = {
        "source": f"{remedy.source}, {remedy.link}",
        "claim": remedy.claim,
        "changes": FAMILIES[remedy.family],
        "write": remedy.line,
        "number": _number(remedy) or "none",
        "fits": _fits(remedy),
    }
    typer.echo(f"{remedy.title}\n")
    for label, text in lines.items():
        typer.echo(f"  {label:10} {text}")
