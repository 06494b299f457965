"""Epochs of a GCN with norms, connections and controls, as ratios to those of the plain GCN.

``python benchmarks/options.py`` trains 32 layers of 64 channels on Cora by the engine and by
autograd; all take turns in one process. A dash is a model that the engine leaves to autograd.
"""

import argparse
import warnings
from collections.abc import Callable
from typing import Any

import torch

from graphsct import nn
from graphsct.datasets import load
from graphsct.training import TrainConfig
from graphsct.training.autograd import Autograd
from graphsct.training.backend import EngineBackend, choose_backend
from graphsct.training.data import SplitData
from graphsct.training.timing import alternate

OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "batch norm": dict(norm="BatchNorm"),
    "residual": dict(residual=True),
    "batch norm and residual": dict(norm="BatchNorm", residual=True),
    "pair norm": dict(norm="PairNorm"),
    "layer norm": dict(norm="LayerNorm"),
    "mean subtraction": dict(norm="MeanSubtractionNorm"),
    "layers concatenated": dict(jumping="cat"),
    "largest of all layers": dict(jumping="max"),
    "silu": dict(activation="silu"),
    "edge dropout": dict(edge_dropout=0.2),
    "normalized": dict(control="normalized"),
    "normalized, mixed": dict(control="normalized", control_options={"mix": 0.0}),
    "target": dict(control="target"),
    "target, learned": dict(control="target", control_options={"source": "learned"}),
    "target, read": dict(control="target", control_options={"source": "read"}),
}
BACKENDS = {"engine": EngineBackend, "autograd": Autograd}


def epoch(kind: Any, data: Any, options: dict[str, Any], layers: int) -> Callable[[], Any] | None:
    """One epoch by a backend, if it takes the model."""
    torch.manual_seed(0)
    model = nn.GCN(data.num_features, 64, data.num_classes, layers, dropout=0.5, **options)
    own = SplitData.of(data, model=model)
    if kind is EngineBackend and choose_backend(model, own) is not kind:
        return None
    backend = kind([model], [own], [TrainConfig()])
    return lambda: (backend.descend(), backend.validate())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default="cora")
    parser.add_argument("--layers", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", nargs="*", choices=[*OPTIONS], default=[*OPTIONS])
    settings = parser.parse_args()
    torch.set_num_threads(settings.threads)
    warnings.filterwarnings("ignore", message="Sparse")
    data, names = load(settings.data), list(dict.fromkeys(["plain", *settings.only]))
    jobs = {
        (name, backend): job
        for name in names
        for backend, kind in BACKENDS.items()
        if (job := epoch(kind, data, OPTIONS[name], settings.layers)) is not None
    }
    times = dict(zip(jobs, alternate([*jobs.values()], settings.seconds, repeats=200), strict=True))
    print(f"{'':26} engine, ms  ratio  autograd, ms  ratio")
    for name in names:
        print(f"{name:26}", end="")
        for backend, width in (("engine", 11), ("autograd", 14)):
            plain, own = times["plain", backend], times.get((name, backend))
            cells = ("-", "-") if own is None else (f"{1e3 * own:.1f}", f"{own / plain:.2f}")
            print(f"{cells[0]:>{width}} {cells[1]:>6}", end="")
        print()


if __name__ == "__main__":
    main()
