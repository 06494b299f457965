"""What it costs to look inside a model while it is trained, as a share of the training.

``fit`` with :class:`graphsct.diagnosis.Watch` and without it in turns, and how many epochs one
look takes. Models of ours are trained without autograd, so a look, which needs it, is dear beside
an epoch; it must be rare enough.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from typing import Any

import torch

from graphsct import fit
from graphsct.datasets import load
from graphsct.diagnosis import Watch, diagnose
from graphsct.training import ModelConfig, TrainConfig
from graphsct.training.trial import seeded

LIMIT = 0.10
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "cora gcn-L32 d64": ("cora", {"depth": 32}),
    "cora gcn-L2 d64": ("cora", {"depth": 2}),
    "cora gcnii-L32 d64 batch norm": ("cora", {"model": "gcnii", "depth": 32, "norm": "BatchNorm"}),
    "texas gcn-L8 d16": ("texas", {"depth": 8, "hidden": 16}),
}


def seconds(config: ModelConfig, data: Any, epochs: int, every: int, tensorboard: bool) -> float:
    """Time of a run; ``every`` is 0 for one that nobody watches."""
    with seeded(0):
        model = config.build(data)
    train = TrainConfig(epochs=epochs, patience=epochs)
    split = 0 if len(data.splits) > 1 else None
    if not every:
        return fit(model, data, train, split=split, progress=False).seconds
    with (
        tempfile.TemporaryDirectory() as folder,
        Watch(model, data, folder, every=every, tensorboard=tensorboard) as watch,
    ):
        return fit(model, data, train, split=split, callbacks=[watch], progress=False).seconds


def measure(name: str, settings: dict[str, Any], options: Any) -> dict[str, float]:
    data, config = load(name), ModelConfig(**settings)
    shares = []
    for _ in range(options.turns):
        free = seconds(config, data, options.epochs, 0, False)
        watched = seconds(config, data, options.epochs, options.every, options.tensorboard)
        shares.append(watched / free - 1)
    model = config.build(data)
    diagnose(model, data, reach=False)
    start = time.perf_counter()
    diagnose(model, data, reach=False)
    look = time.perf_counter() - start
    return {
        "share": statistics.median(shares),
        "look_ms": 1000 * look,
        "epoch_ms": 1000 * free / options.epochs,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=200)
    parser.add_argument("--every", type=int, default=50, help="epochs from look to look")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--tensorboard", action="store_true")
    parser.add_argument("--cases", nargs="*", default=list(CASES), metavar="CASE")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    found = {case: measure(*CASES[case], options) for case in options.cases}
    if options.json:
        print(json.dumps({"limit": LIMIT, "every": options.every, "cases": found}))
        return
    for case, row in found.items():
        print(
            f"{case:32s} {row['share']:+6.1%} with a look every {options.every} epochs (limit "
            f"{LIMIT:.0%}); a look {row['look_ms']:.0f} ms, an epoch {row['epoch_ms']:.1f} ms"
        )


if __name__ == "__main__":
    main()
