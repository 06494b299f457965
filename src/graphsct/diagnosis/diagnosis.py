"""The result of a diagnosis: measures of every layer, the verdict and advice."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphsct.diagnosis.advice import Advice
from graphsct.diagnosis.card import GraphCard
from graphsct.diagnosis.cause import Cause
from graphsct.diagnosis.changes import ChangeRow, change_table
from graphsct.diagnosis.effect import Effect
from graphsct.diagnosis.influence import Influence
from graphsct.diagnosis.measure import InputReport, LayerReport
from graphsct.diagnosis.scalars import layer_columns, scalars
from graphsct.diagnosis.standing import Standing
from graphsct.diagnosis.tables import short_layer_table
from graphsct.diagnosis.verdict import FAILURES, Evidence, Finding, Thresholds, judge
from graphsct.diagnosis.words import size, verdict_lines
from graphsct.extras import require
from graphsct.files import write_text
from graphsct.pages.tables import Table
from graphsct.records import Record
from graphsct.remedies.wanted import suggestion
from graphsct.training.run import Run, versions

if TYPE_CHECKING:
    from pandas import DataFrame
    from rich.console import Console, ConsoleOptions, RenderResult

__all__ = ["NARROW", "WIDTH", "Diagnosis"]

#: Columns of text that the short table of layers needs.
NARROW = 80
#: Columns of text that the long one needs.
WIDTH = 118

_KEYS = (
    "model",
    "data",
    "graph",
    "directions",
    "target",
    "entry",
    "room",
    "healthy",
    "works",
    "verdict",
    "findings",
    "cause",
    "standing",
    "influence",
    "wanted",
    "advice",
    "layers",
    "thresholds",
    "run",
    "effects",
    "untried",
    "versions",
)


@dataclass(frozen=True)
class Diagnosis(Record, keys=_KEYS):
    """The diagnosis of a model on some data. Print it, show it in a notebook, or use
    :meth:`to_dict` or :meth:`save_html`.

    ``Diagnosis.from_json(found.to_json())`` equals ``found``, except that the runs of ``effects``
    have no history.

    Args:
        model: class of the model
        data: name of the data
        graph: size, components, degrees and homophily of the graph
        directions: number of directions that the task needs, one less than there are classes;
            ``None`` without labels
        target: description of the value whose gradients are measured
        entry: the input of the first layer
        room: share of the directions in which the nodes of a component can differ
        layers: in the order of their calls
        findings: problems of the whole model, then problems of layers, the gravest first
        advice: remedies to try
        standing: how well it does its task, ``None`` without labels of validation nodes
        influence: of nodes by their distance, if it was measured
        cause: the cause of failure by experiment, see :func:`~graphsct.diagnosis.find_cause`
        thresholds: limits of the verdicts
        run: record of its training, if it was trained for this diagnosis
        effects: effects of remedies, see :func:`~graphsct.diagnosis.try_remedies`
        untried: remedies that could not be applied, and why
        versions: versions of the software
    """

    model: str
    data: str
    graph: GraphCard
    directions: int | None
    target: str
    entry: InputReport
    room: float
    layers: tuple[LayerReport, ...]
    findings: tuple[Finding, ...]
    advice: tuple[Advice, ...]
    standing: Standing | None = None
    influence: Influence | None = None
    cause: Cause | None = None
    thresholds: Thresholds = field(default_factory=Thresholds)
    run: Run | None = None
    effects: tuple[Effect, ...] = ()
    untried: dict[str, str] = field(default_factory=dict)
    versions: dict[str, Any] = field(default_factory=versions)

    @property
    def healthy(self) -> bool:
        """Whether nothing was found, and the model is known to do its task."""
        return not self.findings and self.standing is not None

    @property
    def works(self) -> bool | None:
        """Whether it does its task; ``None`` without labels to tell."""
        if self.standing is None:
            return None
        return not any(finding.kind in FAILURES for finding in self.findings)

    @property
    def inside(self) -> tuple[Finding, ...]:
        """The findings of layers."""
        return tuple(finding for finding in self.findings if finding.layers)

    @property
    def states(self) -> tuple[str, ...]:
        """The findings of each layer, ``ok`` if there are none."""
        numbers = range(1, len(self.layers) + 1)
        found = ([f.kind for f in self.findings if number in f.layers] for number in numbers)
        return tuple(", ".join(kinds) or "ok" for kinds in found)

    @property
    def wanted(self) -> str | None:
        """The wanted smoothness that the stored experiment suggests for graphs of this homophily,
        with the evidence; ``None`` if the experiment has no such graph.
        """
        return suggestion(self.graph.homophily, len(self.layers))

    @property
    def verdict(self) -> str:
        """The verdict in words: a line on whether the model works, then one per finding."""
        return "\n".join(verdict_lines(self))

    def judged(self, thresholds: Thresholds) -> Diagnosis:
        """The same diagnosis with findings by other thresholds."""
        evidence = Evidence(
            self.layers,
            self.entry,
            self.graph.nodes,
            self.room,
            self.directions,
            self.standing,
            self.influence,
        )
        return replace(self, findings=judge(evidence, thresholds), thresholds=thresholds)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, each layer with its number and its state."""
        values = super().to_dict()
        if self.run is not None:
            values["run"]["history"] = [epoch._asdict() for epoch in self.run.history]
        pairs = zip(self.states, values["layers"], strict=True)
        values["layers"] = [
            {"number": number, "state": state, **layer}
            for number, (state, layer) in enumerate(pairs, 1)
        ]
        return values

    def scalars(self) -> dict[str, float]:
        """All numbers by name, such as ``smoothness/01 convs.0``, for a logger of curves.

        Measures that a layer does not have, such as the smoothness of a dead layer, are left out.
        """
        return scalars(self)

    def to_frame(self) -> DataFrame:
        """All measures as a data frame with one row per layer; needs the extra ``frame``."""
        pandas = require("pandas", "frame")
        frame: DataFrame = pandas.DataFrame(layer_columns(self)).set_index("layer")
        return frame

    def compare(self, other: Diagnosis) -> Table[ChangeRow]:
        """The measures of each layer here and in another diagnosis, after a change of the model.

        Args:
            other: the diagnosis after the change; layers are matched by their numbers
        """
        return change_table(self, other)

    def save_html(self, path: str | os.PathLike[str]) -> None:
        """Write the diagnosis as one HTML page that needs no network.

        Its figures are drawn with Plotly, which the extra ``report`` installs.
        """
        from graphsct.diagnosis.page import page

        write_text(Path(path), page(self))

    def _repr_html_(self) -> str:
        from graphsct.pages import render

        return render(
            "notebook.html",
            title=f"{self.model} on {self.data}: {size(self)}",
            lines=self.verdict.splitlines(),
            table=short_layer_table(self),
        )

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from graphsct.diagnosis.render import render

        yield from render(self, console, options)

    def __str__(self) -> str:
        from rich.console import Console

        console = Console(width=WIDTH, color_system=None)
        with console.capture() as capture:
            console.print(self)
        return capture.get().rstrip()
