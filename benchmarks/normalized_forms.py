r"""Which form of the control `normalized` helps where depth hurts and costs nothing elsewhere?

    python benchmarks/normalized_forms.py run --out results/forms.jsonl [--part choose confirm]
    python benchmarks/normalized_forms.py report --out results/forms.jsonl

The rules, fixed before the first run. All networks are GCNs with the first setting of the
leaderboard's budget (learning rate 0.01, dropout 0.5, weight decay 0.0005, width 64, Glorot's
weights, at most 200 epochs, patience 100, the epoch of the best validation accuracy). Every form
in :data:`FORMS` is trained on the boards of :data:`SHALLOW`, where depth does not hurt, with seeds
0 to 2. A form costs nothing if its mean validation accuracy is at most :data:`COST` points below
that of the network without control on each of them. Only such forms are trained on the boards of
:data:`DEEP`. The chosen form is the one with the largest mean validation accuracy over these
boards, of those that are nowhere below the network without control. A form that a board rules out
is not trained on the next, but for the present one. Test scores are stored and choose nothing. The
chosen form, the present one and none are then trained with seeds 0 to 4 on the boards of
:data:`CONFIRM`, which had no part in the choice; their test scores count. After the choice we added
those of :data:`IDENTITY`, which showed that the chosen form costs several points where the weights
start at the identity and 8 layers do not hurt. So :data:`THIRD` was added, forms that act on a
channel only where its rough part is small; four of them had been tried before by one seed on three
boards.

No form of the first round costs nothing: the best, with a mix from 0, misses by 0.1 points on Cora
with two layers. :data:`SECOND` has the forms that were added after the validation scores of the
first round on the shallow boards had been seen, for two reasons: features of size 1 drown the plain
ones in a mix, and a strength that grows with depth may begin at 0. The rules are the same.
:data:`TARGETS` are the sources of the wanted smoothness, trained on all boards of the choice.

The first command writes a line for each run and repeats neither those lines nor the stored runs.
The second one stores the runs in graphsct-results and writes the tables of docs/smoothness.md.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from page import fill, folded
from runs import add_lines, read_lines, read_stored, store
from torch import Tensor

from graphsct.datasets import csbm, load
from graphsct.datasets.catalog import CATALOG
from graphsct.errors import DivergedError
from graphsct.extras import stored_results
from graphsct.graph import Graph
from graphsct.graph.cache import graph_of
from graphsct.nn.model import Model
from graphsct.nn.normalized import EPSILON, unit_eigenvectors
from graphsct.remedies import REMEDIES
from graphsct.remedies.budget import BudgetSetting, base_model, budget_of
from graphsct.training.many import fit_many
from graphsct.training.seeds import build_seeds, split_of
from graphsct.training.significance import compare_pairs

PAGE = Path(__file__).parents[1] / "docs/smoothness.md"
SHALLOW = (("csbm-0.5", 2), ("cora", 2), ("cora", 4))
DEEP = (("csbm-0.3", 8), ("csbm-0.5", 8), ("cora", 16), ("cora", 32))
CONFIRM = (
    *(("citeseer", depth) for depth in (2, 16)),
    *(("chameleon_filtered", depth) for depth in (2, 16)),
    *(("pubmed", depth) for depth in (2, 16)),
)
#: Networks whose weights start at the identity, added after the choice.
IDENTITY = tuple(("cora+identity", depth) for depth in (8, 16, 32))
CHOOSING, CONFIRMING = range(3), range(5)
#: Points of validation accuracy that a form may cost; the error of a mean of three seeds.
COST = 1.5
STORED = "forms.csv"
KEYS = ("data", "depth", "form", "seed")


class Part(torch.nn.Module):
    r"""Forms that the library does not have, in the notation of
    :class:`~graphsct.nn.normalized.Normalized`.

    Args:
        channels: number of channels
        one_scale: one size of the rough part for all channels, by its mean square over them
        smooth: what is added to the rough part: ``set``, a multiple of the eigenvectors; ``kept``,
            the smooth part, divided by the size of the rough one; ``sized``, the smooth part,
            divided by a size of its own. Or ``floor``: the smooth part stays as it is, and the
            rough one is stretched to gamma times its size, where it is smaller
        least: the least root mean square of the output over all channels, with ``floor``
        gamma: where the factor of the rough part starts
        beta: where that of the smooth part starts
        fixed: names of factors that are not learned
        own_size: multiply by the root mean square of the features, so that their size is kept
        mix: where the mix starts, if there is one
        pooled: number of components, for SCT's pooled term beside it
    """

    needs_initial, needs_components, in_eigenspace = False, False, False
    gamma: Tensor
    beta: Tensor

    def __init__(
        self,
        channels: int,
        *,
        one_scale: bool = False,
        smooth: str = "set",
        gamma: float = 1.0,
        beta: float | None = 0.5,
        fixed: Sequence[str] = (),
        own_size: bool = False,
        mix: float | None = None,
        pooled: int | None = None,
        least: float = 0.0,
    ) -> None:
        super().__init__()
        self.one_scale, self.smooth, self.own_size = one_scale, smooth, own_size
        self.least = least
        for name, start in (("gamma", gamma), ("beta", gamma if beta is None else beta)):
            factor = torch.full((channels,), start)
            if name in fixed:
                self.register_buffer(name, factor)
            else:
                setattr(self, name, torch.nn.Parameter(factor))
        self.mix = None if mix is None else torch.nn.Parameter(torch.tensor(mix))
        self.weight = self.bias = None
        if pooled is not None:
            self.weight = torch.nn.Parameter(torch.zeros(pooled, channels))
            self.bias = torch.nn.Parameter(torch.zeros(channels))

    def forward(self, x: Tensor, graph: Graph) -> Tensor:
        smooth = graph.unpool(graph.pool(x))
        rough = x - smooth
        if self.smooth == "floor":
            return self._floor(rough, smooth) - x
        size = self._size(rough)
        own = unit_eigenvectors(graph)
        if self.smooth != "set":
            own = smooth / (size if self.smooth == "kept" else self._size(smooth))
        out = self.gamma * rough / size + self.beta * own
        if self.own_size:
            out = out * (x.square().mean() + EPSILON**2).sqrt()
        if self.weight is not None and self.bias is not None:
            out = out + graph.unpool(self.bias + self.weight * graph.pool(out))
        return out - x if self.mix is None else self.mix * (out - x)

    def _floor(self, rough: Tensor, smooth: Tensor) -> Tensor:
        sizes = ((each.square().mean(0) + EPSILON**2).sqrt() for each in (smooth, rough))
        out = smooth + rough * (self.gamma * torch.div(*sizes)).clamp_min(1)
        whole = (out.square().mean() + EPSILON**2).sqrt()
        return out * (self.least / whole).clamp_min(1)

    def _size(self, x: Tensor) -> Tensor:
        square = x.square().mean(0, keepdim=True)
        return ((square.mean() if self.one_scale else square) + EPSILON).sqrt()


@dataclass(frozen=True)
class Form:
    """A control for every layer.

    Args:
        text: what is special about it
        control: its kind in the library
        options: the kind's options
        part: options of :class:`Part`, which takes the place of the library's coefficients
        rising: start the mix of layer l at l / (l + 8), a strength that grows with depth
        pooled: SCT's pooled term beside it
        dropout: rate of dropout in the place of the budget's
        first: the first layer that has the control
        step: from there on every such layer has it
    """

    text: str
    control: str | None = "normalized"
    options: dict[str, Any] = field(default_factory=dict)
    part: dict[str, Any] | None = None
    rising: bool = False
    pooled: bool = False
    dropout: float | None = None
    first: int = 1
    step: int = 1

    def build(self, data: Any, depth: int, init: str, setting: BudgetSetting) -> Model:
        """A network with this control."""
        base = base_model("gcn", depth, self.dropout or setting.dropout)
        base = replace(base, init=init)
        own: dict[str, Any] = {**base.options}
        if self.control is not None:
            own["control_options"] = {"first": self.first, **self.options}
        model = replace(base, control=self.control, options=own).build(data)
        assert isinstance(model, Model)
        for layer, conv in enumerate(model.convs, 1):
            control: Any = getattr(conv, "control", None)
            if control is None:
                continue
            if (layer - self.first) % self.step:
                setattr(conv, "control", None)  # noqa: B010, a Module to mypy
            elif self.part is not None:
                part: dict[str, Any] = dict(self.part)
                if self.pooled:
                    part["pooled"] = graph_of(data).num_components
                control.coefficients = Part(control.channels, **part)
            elif self.rising:
                torch.nn.init.constant_(control.coefficients.mix, layer / (layer + 8))
        return model


FORMS = {
    "none": Form("no control", None),
    "present": Form("in all layers: β from 0.5"),
    "one scale": Form("one scale for all channels", part={"one_scale": True}),
    "smooth kept": Form(
        "both parts by the rough one's size", part={"smooth": "kept", "beta": None}
    ),
    "kept, one scale": Form(
        "both parts by the rough one's size, one scale for all channels",
        part={"one_scale": True, "smooth": "kept", "beta": None},
    ),
    "sized, one scale": Form(
        "each part by its own size, one for all channels",
        part={"one_scale": True, "smooth": "sized", "beta": 1.0},
    ),
    "small": Form("γ from 0.1, β from 0.05", part={"gamma": 0.1, "beta": 0.05}),
    "small, one scale": Form(
        "one scale for all channels, γ from 0.1, β from 0.05",
        part={"one_scale": True, "gamma": 0.1, "beta": 0.05},
    ),
    "small, kept, one scale": Form(
        "both parts by the rough one's size, γ from 0.1, one scale",
        part={"one_scale": True, "smooth": "kept", "gamma": 0.1, "beta": None},
    ),
    "mix 0": Form("mix from 0", options={"mix": 0.0}),
    "mix 0.1": Form("mix from 0.1", options={"mix": 0.1}),
    "mix 1": Form("mix from 1", options={"mix": 1.0}),
    "rising": Form("mix of layer l from l / (l + 8)", options={"mix": 0.0}, rising=True),
    "β 0.25": Form("β from 0.25", options={"beta": 0.25}),
    "β 1": Form("β from 1", options={"beta": 1.0}),
    "β fixed": Form("β fixed at 0.5", part={"fixed": ("beta",)}),
    "per component": Form("one scale per component", options={"per_component": True}),
    "with SCT": Form("SCT's pooled term beside it", part={}, pooled=True),
    "dropout 0.8": Form("dropout 0.8 before the dense layers", dropout=0.8),
}
_SIZE = {"one_scale": True, "smooth": "kept", "beta": None, "fixed": ("gamma", "beta")}
SECOND = {
    "size alone": Form("the features at size 1, nothing learned", part=_SIZE),
    "size 0.1": Form("the features at size 0.1, nothing learned", part={**_SIZE, "gamma": 0.1}),
    "own size": Form("at the size of the input, not at 1", part={"own_size": True}),
    "own size, mix 0": Form(
        "at the size of the input, mix from 0", part={"own_size": True, "mix": 0.0}
    ),
    "from layer 5": Form("β from 0.5, from layer 5 on", first=5),
    "from layer 5, β 1": Form("β from 1, from layer 5 on", options={"beta": 1.0}, first=5),
    "from layer 5, size": Form("the features at size 1, from layer 5 on", part=_SIZE, first=5),
    "layers 5, 9, ...": Form("β from 0.5, in layers 5, 9, 13, ...", first=5, step=4),
}
_FLOOR: dict[str, Any] = {"smooth": "floor", "gamma": 1.5, "fixed": ("gamma", "beta")}
THIRD = {
    "floor": Form("rough part at least 1.5 of the smooth one", part=_FLOOR),
    "floor, size": Form("the same, and size at least 0.1", part={**_FLOOR, "least": 0.1}),
    "floor 0.75": Form(
        "rough part at least 0.75 of the smooth one", part={**_FLOOR, "gamma": 0.75}
    ),
}
TARGETS = {
    "t fixed": Form("t = 0.8", "target"),
    "t learned": Form("t learned from 0.8", "target", {"source": "learned"}),
    "t read": Form("t read, from 0.8", "target", {"source": "read"}),
}
ALL = FORMS | SECOND | THIRD | TARGETS


def open_data(name: str) -> Any:
    """A data set, or a graph of the contextual stochastic block model with a given homophily."""
    kind, _, share = name.partition("-")
    return csbm(homophily=float(share), seed=0) if kind == "csbm" else load(name)


def train(board: tuple[str, int], name: str, seeds: Sequence[int]) -> list[dict[str, Any]]:
    """A line for each seed of a form; scores are missing where the weights diverged."""
    (source, _, init), form = board[0].partition("+"), ALL[name]
    data = open_data(source)
    setting = budget_of(REMEDIES["none"])[0]
    models = build_seeds(partial(form.build, data, board[1], init or "glorot", setting), seeds)
    configs = [replace(setting.train(), seed=seed, select="val_score") for seed in seeds]
    start = time.perf_counter()
    try:
        splits = [split_of(data, seed) for seed in seeds]
        runs: list[Any] = list(fit_many(models, data, configs, splits=splits))
    except DivergedError:
        runs = [None] * len(seeds)
    seconds = round((time.perf_counter() - start) / len(seeds), 1)
    return [
        dict(zip(KEYS, (*board, name, seed), strict=True))
        | {"val": run and run.val_score, "test": run and run.test_score, "seconds": seconds}
        for seed, run in zip(seeds, runs, strict=True)
    ]


class Runs:
    """The runs of a file, by board and form."""

    def __init__(self, rows: Iterable[dict[str, Any]]) -> None:
        self.rows = list(rows)

    def scores(self, board: tuple[str, int], form: str, kind: str) -> list[float]:
        """Scores in percent, 0 where the weights diverged, in the order of the seeds."""
        own = {
            row["seed"]: 100 * (row[kind] or 0.0)
            for row in self.rows
            if (row["data"], row["depth"], row["form"]) == (*board, form)
        }
        return [own[seed] for seed in sorted(own)]

    def gain(self, board: tuple[str, int], form: str) -> float | None:
        """Mean validation accuracy above that without control, if both were run."""
        own, base = (self.scores(board, each, "val") for each in (form, "none"))
        return statistics.fmean(own) - statistics.fmean(base) if own and base else None

    def possible(self, form: str) -> bool:
        """Whether no run forbids the choice of a form."""
        limits = dict.fromkeys(SHALLOW, -COST) | dict.fromkeys(DEEP, 0.0)
        gains = {board: self.gain(board, form) for board in limits}
        return all(gain is None or gain >= limits[board] for board, gain in gains.items())

    def chosen(self) -> str | None:
        """The form that the rules choose."""
        found: dict[str, float] = {}
        for form in FORMS | SECOND | THIRD:
            gains = [self.gain(board, form) for board in DEEP]
            known = [gain for gain in gains if gain is not None]
            if form != "none" and self.possible(form) and len(known) == len(DEEP):
                found[form] = statistics.fmean(known)
        return max(found, key=lambda form: found[form], default=None)


def read(path: Path) -> Runs:
    """The stored runs, and those in a file if it exists, which replace stored ones."""
    numbers = {"depth": int, "seed": int, "val": float, "test": float}
    rows = read_stored(stored_results("smoothness") / STORED, numbers) + read_lines(path)
    return Runs(rows)


def run(path: Path, parts: Sequence[str]) -> None:
    """Train what the rules ask for and is not in the file yet."""

    def ensure(board: tuple[str, int], form: str, seeds: Sequence[int]) -> None:
        there = read(path).scores(board, form, "val")
        if left := seeds[len(there) :]:
            rows = train(board, form, left)
            add_lines(path, rows)
            print(*board, form, [row["val"] for row in rows], rows[0]["seconds"], flush=True)

    if "choose" in parts:
        for board in (*SHALLOW, *DEEP):
            for form in FORMS | SECOND | THIRD:
                if form in ("none", "present") or read(path).possible(form):
                    ensure(board, form, CHOOSING)
    if "targets" in parts:
        for board, form in itertools.product((*SHALLOW, *DEEP), TARGETS):
            ensure(board, form, CHOOSING)
    if "confirm" in parts:
        for board in (*IDENTITY, *CONFIRM):
            for form in filter(None, ("none", "present", read(path).chosen())):
                ensure(board, form, CONFIRMING)


def report(path: Path) -> None:
    """Store the runs and write the tables of the page."""
    runs = read(path)
    store(stored_results("smoothness") / STORED, runs.rows, (*KEYS, "val", "test"), KEYS)
    confirmed, forms = _confirmation(runs), _choice(runs)
    print(forms, confirmed, sep="\n\n")
    title = "Mean validation accuracy of every form"
    fill(PAGE, {"confirmed": confirmed, "forms": folded(title, forms)})


def _choice(runs: Runs) -> str:
    """Mean validation accuracy of every form on the boards of the choice."""
    boards, chosen = (*SHALLOW, *DEEP), runs.chosen()
    lines = [
        "| form | " + " | ".join(f"{_title(name)}, {depth}" for name, depth in boards) + " |",
        "|---|" + "---:|" * len(boards),
    ]
    for name, form in ALL.items():
        found = [runs.scores(board, name, "val") for board in boards]
        if any(found):
            text = f"**{form.text}**" if name == chosen else form.text
            lines.append(f"| {text} | {' | '.join(map(_validation, found))} |")
    return "\n".join(lines)


def _validation(scores: list[float]) -> str:
    if 0.0 in scores:
        return "diverged"
    return f"{statistics.fmean(scores):.1f}" if scores else "–"


def _confirmation(runs: Runs) -> str:
    """Test accuracy of the chosen form and of the present one beside none."""
    forms = [form for form in ("present", runs.chosen()) if form is not None]
    lines = [
        "| data | layers | seeds | none | "
        + " | ".join(f"{ALL[form].text} | gain" for form in forms)
        + " |",
        "|---|---:|---:|---:|" + "---:|---:|" * len(forms),
    ]
    for board in (*CONFIRM, *IDENTITY):
        base = runs.scores(board, "none", "test")
        found = [runs.scores(board, form, "test") for form in forms]
        if len(base) > 1 and all(len(own) == len(base) for own in found):
            cells = [f"{_title(board[0])} | {board[1]} | {len(base)} | {_mean(base)}"]
            for own in found:
                gain = compare_pairs(own, base)
                assert gain is not None
                cells.append(f"{_mean(own)} | {gain.mean:+.1f} [{gain.low:+.1f}, {gain.high:+.1f}]")
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _title(name: str) -> str:
    source, _, init = name.partition("+")
    kind, _, share = source.partition("-")
    shown = f"generated {share}" if kind == "csbm" else CATALOG[source].title.partition(" ")[0]
    return f"{shown}, {init}" if init else shown


def _mean(scores: Sequence[float]) -> str:
    return f"{statistics.fmean(scores):.1f} ± {statistics.stdev(scores):.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("action", choices=("run", "report"))
    parser.add_argument("--out", type=Path, default=Path("results/forms.jsonl"))
    parser.add_argument("--part", nargs="*", default=["choose", "confirm", "targets"])
    given = parser.parse_args()
    torch.set_num_threads(1)
    if given.action == "run":
        run(given.out, given.part)
    else:
        report(given.out)


if __name__ == "__main__":
    main()
