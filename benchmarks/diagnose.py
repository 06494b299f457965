"""What it costs to look inside a model while it is trained, as a share of the training.

``fit`` with :class:`graphsct.diagnosis.Watch` and without it in turns, in seconds of the
processor, which other work on the machine does not disturb. Models of ours are trained without
autograd, so a look, which needs it, is dear beside an epoch, and must be rare.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from typing import Any, NamedTuple

import torch

from graphsct import fit
from graphsct.datasets import load
from graphsct.diagnosis import Watch, diagnose
from graphsct.training import ModelConfig, TrainConfig
from graphsct.training.trial import seeded

LIMIT = 0.10


class Case(NamedTuple):
    data: str
    settings: dict[str, Any]
    epochs: int


CASES = {
    "cora gcn-L2 d64": Case("cora", {"depth": 2}, 500),
    "cora gcn-L32 d64": Case("cora", {"depth": 32}, 200),
    "cora gcn-L32 d64 BatchNorm": Case("cora", {"depth": 32, "norm": "BatchNorm"}, 100),
    "texas gcn-L8 d16": Case("texas", {"depth": 8, "hidden": 16}, 1500),
}


def seconds(case: Case, data: Any, options: Any, every: int) -> tuple[float, int]:
    """Time of a run and how often it was looked at; ``every`` is 0 if nobody watches."""
    with seeded(0):
        model = ModelConfig(**case.settings).build(data)
    train = TrainConfig(epochs=case.epochs, patience=case.epochs)
    split = 0 if len(data.splits) > 1 else None
    start = time.process_time()
    if not every:
        fit(model, data, train, split=split, progress=False)
        return time.process_time() - start, 0
    with (
        tempfile.TemporaryDirectory() as folder,
        Watch(model, data, folder, every=every, tensorboard=options.tensorboard) as watch,
    ):
        start = time.process_time()
        fit(model, data, train, split=split, callbacks=[watch], progress=False)
        took = time.process_time() - start
        return took, len(watch.path.read_text().splitlines())


def measure(case: Case, options: Any) -> dict[str, float]:
    data, shares = load(case.data), []
    for _ in range(options.turns):
        free, _ = seconds(case, data, options, 0)
        watched, looks = seconds(case, data, options, options.every)
        shares.append(watched / free - 1)
    model = ModelConfig(**case.settings).build(data)
    start = time.process_time()
    diagnose(model, data, reach=False)
    return {
        "share": statistics.median(shares),
        "looks": looks,
        "epochs": case.epochs,
        "look_ms": 1000 * (time.process_time() - start),
        "epoch_ms": 1000 * free / case.epochs,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=50, help="epochs from look to look, at least")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--tensorboard", action="store_true")
    parser.add_argument("--cases", nargs="*", default=list(CASES), metavar="CASE")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    found = {}
    for name in options.cases:
        found[name] = row = measure(CASES[name], options)
        if not options.json:
            print(
                f"{name:28s} {row['share']:+6.1%} (limit {LIMIT:.0%}) for {row['looks']} looks in "
                f"{row['epochs']} epochs; a look {row['look_ms']:.0f} ms, an epoch "
                f"{row['epoch_ms']:.1f} ms",
                flush=True,
            )
    if options.json:
        print(json.dumps({"limit": LIMIT, "every": options.every, "cases": found}))


if __name__ == "__main__":
    main()
