"""The measurement behind the defaults of graphsct.nn, as reported in docs/choices.md.

    python benchmarks/choices.py run --data FOLDER --out results.jsonl
    python benchmarks/choices.py table --out results.jsonl

FOLDER is the root of torch_geometric.datasets.Planetoid. Runs that are already in the file are
left out, so a stopped measurement goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from page import folded
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


def plan(dataset: str, seeds: int, control_seeds: int) -> Iterator[Run]:
    """All runs on one data set; the controls, which differ least, get seeds of their own."""
    small = dataset != "PubMed"
    for seed in range(seeds):
        yield from inputs(dataset, seed, (2, 16) if small else (2,))
        yield from starts(dataset, seed, (2, 16, 32) if small else (16,))
    for seed in range(control_seeds):
        yield from controls(dataset, seed)


def inputs(dataset: str, seed: int, depths: tuple[int, ...]) -> Iterator[Run]:
    """Feature scaling, the activation after the input layer and the place of dropout."""
    for layers in depths:
        for normalize in (False, True) if dataset != "PubMed" else (False,):
            for variant, rate in (("base", 0.5), ("base", 0.0), ("linear input", 0.5)):
                yield Run(
                    variant,
                    dataset,
                    "GCN",
                    layers,
                    seed,
                    conv_dropout=rate,
                    normalize=normalize,
                )


def starts(dataset: str, seed: int, depths: tuple[int, ...]) -> Iterator[Run]:
    """The first weights of the convolutions, with and without decay and dropout on them."""
    small = dataset != "PubMed"
    inits = ("glorot", "identity", "uniform", "orthogonal") if small else ("glorot", "identity")
    settings = ((0.0, 0.5), (5e-4, 0.5), (0.0, 0.0)) if small else ((0.0, 0.0),)
    for layers in depths:
        for init in inits:
            for decay, rate in settings:
                yield Run("base", dataset, "GCN", layers, seed, None, init, decay, rate)
    if small:
        for rate in (0.5, 0.0):
            yield Run("base", dataset, "GCN", 16, seed, conv_dropout=rate, width=64)


def controls(dataset: str, seed: int) -> Iterator[Run]:
    """What the controls read, how they start, and the axis of the softmax."""
    small = dataset != "PubMed"
    for layers in (2, 16):
        gcn = partial(Run, dataset=dataset, model="GCN", layers=layers, seed=seed, conv_dropout=0.0)
        yield gcn("base")
        yield gcn("base", control="pooled")
        yield gcn("reads input", control="pooled")
        if small or layers == 2:
            yield gcn("random control", control="pooled")
            gcnii = partial(gcn, model="GCNII", init="uniform", conv_dropout=0.5)
            yield gcnii("base")
            yield gcnii("base", conv_dropout=0.0)
            yield gcnii("base", init="identity")
            yield gcnii("base", control="gated")
            yield gcnii("reads input", control="gated")
            yield gcnii("random control", control="gated")
            yield gcnii("softmax over components", control="gated")
            yield gcnii("base", control="gated_full")
    if small:
        yield gcn("base", layers=32)
        yield gcn("base", layers=32, control="pooled")
        yield gcn("random control", layers=32, control="pooled")


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


def measure(
    data_root: Path, out: Path, datasets: list[str], seeds: int, control_seeds: int
) -> None:
    """Train all runs that are not in ``out`` yet."""
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    out.parent.mkdir(parents=True, exist_ok=True)
    done = {json.dumps(entry["run"]) for entry in _read(out)}
    for dataset in datasets:
        data = Planetoid(str(data_root), dataset)[0]
        graph = Graph.from_data(data)
        for run in plan(dataset, seeds, control_seeds):
            if json.dumps(asdict(run)) in done:
                continue
            done.add(json.dumps(asdict(run)))
            result = train(run, data, graph)
            with out.open("a") as file:
                file.write(json.dumps({"run": asdict(run), **result}) + "\n")


def table(out: Path) -> str:
    """Mean, standard deviation and number of test accuracies, a folded table for each data set."""
    cells: dict[str, dict[tuple[str, ...], dict[int, list[float]]]] = {}
    for entry in _read(out):
        run = Run(**entry["run"])
        row = cells.setdefault(run.dataset, {}).setdefault(_settings(run), {})
        row.setdefault(run.layers, []).append(100 * entry["test"])
    names = [name for name in ("Cora", "CiteSeer", "PubMed") if name in cells]
    return "\n\n".join(folded(f"Test accuracy on {name}", _table(cells[name])) for name in names)


def _table(cells: dict[tuple[str, ...], dict[int, list[float]]]) -> str:
    """A column for each depth."""
    depths = sorted({depth for row in cells.values() for depth in row})
    heads = ["model", "control", "variant", "init", "decay", "conv dropout", "features"]
    lines = [heads + [f"{depth} layers" for depth in depths]]
    lines.append(["---"] * 4 + ["---:"] * 2 + ["---"] + ["---:"] * len(depths))
    for settings, row in sorted(cells.items()):
        lines.append([*settings, *(_cell(row.get(depth, [])) for depth in depths)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _settings(run: Run) -> tuple[str, ...]:
    return (
        run.model,
        run.control or "none",
        run.variant if run.width == Run.width else f"{run.variant}, width {run.width}",
        run.init,
        f"{run.conv_decay:g}",
        f"{run.conv_dropout:g}",
        "rows sum to 1" if run.normalize else "raw",
    )


def _cell(values: list[float]) -> str:
    if not values:
        return ""
    spread = statistics.stdev(values) if len(values) > 1 else 0.0
    return f"{statistics.mean(values):.1f} ± {spread:.1f} ({len(values)})"


def _read(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=["run", "table"])
    parser.add_argument("--data", type=Path, default=Path("data/Planetoid"))
    parser.add_argument("--out", type=Path, default=Path("results/choices.jsonl"))
    parser.add_argument("--datasets", nargs="+", default=["Cora", "CiteSeer", "PubMed"])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--control-seeds", type=int, default=5)
    given = parser.parse_args()
    if given.command == "run":
        measure(given.data, given.out, given.datasets, given.seeds, given.control_seeds)
    else:
        print(table(given.out))


if __name__ == "__main__":
    main()
