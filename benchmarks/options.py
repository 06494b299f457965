"""Epochs of a GCN with norms and connections, as ratios to those of the plain GCN.

``python benchmarks/options.py`` trains 32 layers of 64 channels on Cora by the engine and by
autograd; all take turns in one process.
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
from graphsct.training.backend import EngineBackend
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
}


def epoch(kind: Any, data: Any, options: dict[str, Any], layers: int) -> Callable[[], Any]:
    """One epoch by a backend."""
    torch.manual_seed(0)
    model = nn.GCN(data.num_features, 64, data.num_classes, layers, dropout=0.5, **options)
    backend = kind([model], [SplitData.of(data, model=model)], [TrainConfig()])
    return lambda: (backend.descend(), backend.validate())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default="cora")
    parser.add_argument("--layers", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--threads", type=int, default=1)
    settings = parser.parse_args()
    torch.set_num_threads(settings.threads)
    warnings.filterwarnings("ignore", message="Sparse")
    data = load(settings.data)
    jobs = [
        epoch(kind, data, options, settings.layers)
        for options in OPTIONS.values()
        for kind in (EngineBackend, Autograd)
    ]
    times = alternate(jobs, settings.seconds, repeats=200)
    plain = times[0]
    print(f"{'':26} engine, ms  ratio  autograd, ms  ratio")
    for i, name in enumerate(OPTIONS):
        ours, autograd = times[2 * i : 2 * i + 2]
        print(
            f"{name:26} {1e3 * ours:10.1f} {ours / plain:6.2f} {1e3 * autograd:13.1f} "
            f"{autograd / plain:6.2f}"
        )


if __name__ == "__main__":
    main()
