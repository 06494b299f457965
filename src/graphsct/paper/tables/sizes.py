"""The table of model sizes: parameters, counted in our models."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import torch

from graphsct.datasets.catalog import CATALOG
from graphsct.datasets.load import is_here
from graphsct.pages.tables import Column, Table
from graphsct.paper.cell import Key
from graphsct.paper.keys import key_of
from graphsct.paper.model_times import ModelTime, measure_models, read_models
from graphsct.paper.paper import PaperCell
from graphsct.paper.tables.experiment import PaperExperiment, Request, Root
from graphsct.paper.tables.rows import DATA, PrintedRow, misprints
from graphsct.training.config import ModelConfig

__all__ = ["EXPERIMENTS", "SizeRow", "Sizes"]


@dataclass(frozen=True, kw_only=True)
class SizeRow(PrintedRow):
    """The number of parameters of a model, and its times.

    Args:
        hidden: number of channels
        paper: parameters as printed
        ours: parameters of our model
        difference: ours minus the paper's
        training_seconds: as printed
        inference_milliseconds: as printed
        measured: our times, ``None`` if they were not measured
    """

    hidden: int
    paper: int
    ours: int
    difference: int
    training_seconds: float | None = None
    inference_milliseconds: float | None = None
    measured: ModelTime | None = None


_COLUMNS: tuple[Column[SizeRow], ...] = (
    DATA,
    Column("model", "{model_title:s}{mark:s}", right=False),
    Column("layers", "{depth:d}"),
    Column("channels", "{hidden:d}"),
    Column("parameters, paper", "{paper:,d}"),
    Column("ours", "{ours:,d}"),
    Column("difference", "{difference:,d}"),
    Column("training in s, paper", "{training_seconds:.1f}"),
    Column("training in s, ours", "{measured.training_seconds:.1f}"),
    Column("inference in ms, paper", "{inference_milliseconds:.1f}"),
    Column("inference in ms, ours", "{measured.inference_milliseconds:.1f}"),
)
_NOTE = (
    "The paper measured on a GPU, we on a CPU: one run with our default settings and early "
    "stopping, and one pass over all nodes. Compare a model with SCT to its base."
)


class Sizes(PaperExperiment):
    """One row for each of the paper's models."""

    def build(self, cells: Path, root: Root) -> Table[SizeRow]:
        """Count the parameters, which needs no cells, and add the measured times."""
        printed = self.printed.cells
        times = {(row.key, row.hidden): row for row in read_models(cells)}
        sizes = [cell for cell in printed if cell.quantity == "parameters"]
        rows = []
        for cell in sizes:
            same = (cell.dataset, cell.model, cell.sct)
            others = [c for c in printed if (c.dataset, c.model, c.sct) == same and c is not cell]
            ours, paper = _count(cell), int(cell.value or 0)
            rows.append(
                SizeRow.of(
                    cell,
                    hidden=cell.hidden,
                    paper=paper,
                    ours=ours,
                    difference=ours - paper,
                    measured=times.get(_model(cell)),
                    **{other.quantity: other.value for other in others},
                )
            )
        return self.table(_COLUMNS, rows, (_NOTE, *misprints(sizes)))

    def run(self, request: Request) -> bool:
        """Measure the missing times of models whose data are here, and report each."""
        models = [
            _model(cell)
            for cell in self.printed.cells
            if cell.quantity == "parameters"
            and request.choice.takes(cell.dataset, cell.model, cell.sct, cell.depth)
            and is_here(str(cell.dataset), request.root)
        ]
        for row in measure_models(models, load=request.load, out=request.out):
            request.say(
                f"{row.key.name}: {row.training_seconds:.1f} s of training, "
                f"{row.inference_milliseconds:.1f} ms of inference"
            )
        return True


EXPERIMENTS = (Sizes("sizes"),)


def _model(cell: PaperCell) -> tuple[Key, int]:
    return key_of(cell), cell.hidden or 0


def _count(cell: PaperCell) -> int:
    key = key_of(cell)
    assert cell.depth is not None and cell.hidden is not None
    # On Ogbn-arxiv the paper's counts with SCT include batch norms.
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
