"""The measurement behind the defaults of graphsct.nn, as reported in docs/choices.md.

    python benchmarks/choices.py run --data FOLDER --out results.jsonl
    python benchmarks/choices.py table --out results.jsonl

FOLDER is the root of torch_geometric.datasets.Planetoid. Runs that are already in the file are
left out, so a stopped measurement goes on where it was.
"""

from __future__ import annotations

import argparse
import copy
import json
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch_geometric.datasets import Planetoid

from graphsct import Graph
from graphsct.nn import GCN, GCNII, SmoothnessControl

EPOCHS, PATIENCE, LEARNING_RATE, DENSE_DECAY, DROPOUT = 200, 50, 0.01, 5e-4, 0.5


@dataclass(frozen=True)
class Run:
    """One training: everything that decides its result but the code."""

    variant: str
    dataset: str
    model: str
    layers: int
    seed: int
    control: str | None = None
    init: str = "identity"
    conv_decay: float = 0.0
    conv_dropout: float = DROPOUT
    normalize: bool = False
    width: int = 16


def input_reading(model: Any) -> None:
    """The control reads the input of its layer, not the convolution's output."""
    for i, conv in enumerate(model.convs):
        model.convs[i] = ReadsInput(conv)


class ReadsInput(torch.nn.Module):
    def __init__(self, conv: Any) -> None:
        super().__init__()
        self.control: SmoothnessControl = conv.control
        conv.control = None
        self.conv = conv

    def forward(self, x: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        *_, graph = args
        x_0 = kwargs.get("x_0", args[0])
        out: Tensor = self.conv(x, *args, **kwargs) + self.control(x, graph, x_0)
        return out


def random_control(model: Any) -> None:
    """The control's matrices start by Glorot, not at zero."""
    for conv in model.convs:
        for parameter in conv.control.parameters():
            if parameter.dim() == 2:
                torch.nn.init.xavier_uniform_(parameter)


def softmax_over_components(model: Any) -> None:
    """The gate is a softmax over the components, not over the channels."""
    for conv in model.convs:
        conv.control.coefficients = GatedOverComponents(conv.control.coefficients)


class GatedOverComponents(torch.nn.Module):
    needs_initial = True

    def __init__(self, gated: Any) -> None:
        super().__init__()
        self.linear, self.beta = gated.linear, gated.beta

    def forward(self, pooled: Tensor, initial: Tensor) -> Tensor:
        mixed: Tensor = self.linear(torch.lerp(pooled, initial, self.beta))
        return torch.softmax(pooled, dim=0) * mixed


def linear_input(model: Any) -> None:
    """No activation after the input layer."""
    model.activations[0] = torch.nn.Identity()


VARIANTS: dict[str, tuple[Callable[[Any], None], ...]] = {
    "base": (),
    "reads input": (input_reading,),
    "random control": (random_control,),
    "softmax over components": (softmax_over_components,),
    "linear input": (linear_input,),
}


def plan(dataset: str, seeds: int) -> Iterator[Run]:
    """All runs on one data set."""
    small = dataset != "PubMed"
    for seed in range(seeds):
        for layers in (2, 16):
            gcn = partial(Run, dataset=dataset, model="GCN", layers=layers, seed=seed)
            gcnii = partial(gcn, model="GCNII", init="uniform")
            yield from (
                gcn(variant, normalize=normalize, conv_dropout=rate)
                for variant, rate in (("base", 0.5), ("base", 0.0), ("linear input", 0.5))
                for normalize in ((False, True) if small else (False,))
                if small or layers == 2 or variant == "base"
            )
            yield from (
                gcn(variant, control="pooled", conv_dropout=rate)
                for variant in ("base", "reads input", "random control")
                for rate in ((0.5, 0.0) if small else (0.0,))
                if small or layers == 2 or variant != "random control"
            )
            if small or layers == 2:
                yield gcnii("base")
                yield gcnii("base", conv_dropout=0.0)
                yield gcnii("base", control="gated_full")
                yield from (
                    gcnii(variant, control="gated")
                    for variant in (
                        "base",
                        "reads input",
                        "random control",
                        "softmax over components",
                    )
                )
        for layers in (2, 16, 32) if small else (16,):
            yield from (
                Run("base", dataset, "GCN", layers, seed, None, init, decay, rate)
                for init in ("glorot", "identity", *(("uniform", "orthogonal") if small else ()))
                for decay, rate in (
                    ((0.0, 0.5), (5e-4, 0.5), (0.0, 0.0)) if small else ((0.0, 0.0),)
                )
            )
        if small:
            yield Run("base", dataset, "GCN", 32, seed, "pooled", conv_dropout=0.0)
            yield from (
                Run("base", dataset, "GCN", 16, seed, None, conv_dropout=rate, width=64)
                for rate in (0.5, 0.0)
            )


def train(run: Run, data: Any, graph: Graph) -> dict[str, float]:
    """Full batch Adam; the epoch with the best validation accuracy gives the test accuracy."""
    torch.manual_seed(run.seed)
    x = data.x / data.x.sum(1, keepdim=True).clamp_min(1e-12) if run.normalize else data.x
    x = x.to_sparse_csr()
    make: Any = {"GCN": GCN, "GCNII": GCNII}[run.model]
    model = make(
        x.shape[1],
        run.width,
        int(data.y.max()) + 1,
        run.layers,
        control=run.control,
        num_components=graph.num_components,
        dropout=DROPOUT,
        conv_dropout=run.conv_dropout,
        init=run.init,
    )
    for change in VARIANTS[run.variant]:
        change(model)
    groups = model.param_groups(conv_weight_decay=run.conv_decay, dense_weight_decay=DENSE_DECAY)
    optimizer = torch.optim.Adam(groups, lr=LEARNING_RATE)
    best, since, epoch = (-1.0, 0.0), 0, 0
    while epoch < EPOCHS and since < PATIENCE:
        model.train()
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x, graph)[data.train_mask], data.y[data.train_mask])
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        model.eval()
        with torch.no_grad():
            right = (model(x, graph).argmax(1) == data.y).double()
        accuracy = right[data.val_mask].mean().item(), right[data.test_mask].mean().item()
        epoch, since = epoch + 1, since + 1
        if accuracy[0] > best[0]:
            best, since = accuracy, 0
    return {"valid": best[0], "test": best[1], "epochs": epoch}


def measure(data_root: Path, out: Path, datasets: list[str], seeds: int, minutes: float) -> None:
    """Train all runs that are not in ``out`` yet, until the time is up."""
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    stop = time.monotonic() + 60 * minutes
    done = {json.dumps(entry["run"]) for entry in _read(out)}
    for dataset in datasets:
        data = Planetoid(str(data_root), dataset)[0]
        graph = Graph.from_data(data)
        for run in plan(dataset, seeds):
            if json.dumps(asdict(run)) in done or time.monotonic() > stop:
                continue
            done.add(json.dumps(asdict(run)))
            result = train(run, copy.copy(data), graph)
            with out.open("a") as file:
                file.write(json.dumps({"run": asdict(run), **result}) + "\n")


def table(out: Path) -> str:
    """Mean and standard deviation of the test accuracy over seeds, as Markdown."""
    cells: dict[tuple[Any, ...], list[float]] = defaultdict(list)
    for entry in _read(out):
        run = entry["run"]
        del run["seed"]
        cells[tuple(run.values())].append(100 * entry["test"])
    lines = [
        "| variant | data | model | layers | control | init | decay | conv dropout "
        "| normalized | width | test | n |",
        "|" + "---|" * 12,
    ]
    for key, values in sorted(cells.items(), key=str):
        spread = statistics.stdev(values) if len(values) > 1 else 0.0
        shown = " | ".join(str(part) for part in key)
        lines.append(f"| {shown} | {statistics.mean(values):.1f} ± {spread:.1f} | {len(values)} |")
    return "\n".join(lines)


def _read(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=["run", "table"])
    parser.add_argument("--data", type=Path, default=Path("data/Planetoid"))
    parser.add_argument("--out", type=Path, default=Path("results/choices.jsonl"))
    parser.add_argument("--datasets", nargs="+", default=["Cora", "CiteSeer", "PubMed"])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--minutes", type=float, default=600)
    given = parser.parse_args()
    if given.command == "run":
        measure(given.data, given.out, given.datasets, given.seeds, given.minutes)
    else:
        print(table(given.out))


if __name__ == "__main__":
    main()
