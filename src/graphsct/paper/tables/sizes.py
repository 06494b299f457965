"""The table of model sizes: parameters, counted in models of ours."""

from __future__ import annotations

from types import SimpleNamespace

import torch

from graphsct.datasets.catalog import CATALOG
from graphsct.paper.paper import PaperCell, PaperTable
from graphsct.paper.plan import key_of
from graphsct.paper.tables.accuracy import heading, misprints
from graphsct.paper.tables.table import Column, Table
from graphsct.training.config import ModelConfig

__all__ = ["build"]

_COLUMNS = (
    Column("data", ("{data_title:s}",), right=False),
    Column("model", ("{model_title:s}{mark:s}",), right=False),
    Column("layers", ("{depth:d}",)),
    Column("channels", ("{hidden:d}",)),
    Column("parameters, paper", ("{paper:,d}",)),
    Column("ours", ("{ours:,d}",)),
    Column("difference", ("{difference:,d}",)),
    Column("training in s, paper", ("{training_seconds:.1f}",)),
    Column("inference in ms, paper", ("{inference_milliseconds:.1f}",)),
)


def build(table: PaperTable) -> Table:
    """One row for each of the paper's models."""
    sizes = [cell for cell in table.cells if cell.quantity == "parameters"]
    rows = []
    for cell in sizes:
        ours = _count(cell)
        row = {
            **heading(cell),
            "hidden": cell.hidden,
            "paper": cell.value,
            "ours": ours,
            "difference": ours - int(cell.value or 0),
        }
        for other in table.cells:
            same = (other.dataset, other.model, other.sct) == (cell.dataset, cell.model, cell.sct)
            if same and other is not cell:
                row[other.quantity] = other.value
        rows.append(row)
    notes = (*table.notes, *misprints(sizes))
    return Table(table.title, _COLUMNS, tuple(rows), notes, table)


def _count(cell: PaperCell) -> int:
    key = key_of(cell)
    assert cell.depth is not None and cell.hidden is not None
    # On Ogbn-arxiv the counts of SCT are those of models with batch norms.
    norm = "BatchNorm" if cell.dataset == "arxiv" and cell.sct else None
    config = ModelConfig(key.model, key.control, cell.depth, cell.hidden, norm=norm)
    facts = CATALOG[key.dataset].facts
    shape = SimpleNamespace(
        num_features=facts.features,
        num_classes=facts.classes,
        graph=SimpleNamespace(num_components=facts.components),
    )
    with torch.device("meta"):  # shapes without values
        return sum(weight.numel() for weight in config.build(shape).parameters())
