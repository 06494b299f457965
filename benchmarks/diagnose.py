"""What it costs to look inside a model while it is trained, as a share of the training.

Each case is trained once under :class:`graphsct.diagnosis.Watch`. Everything that would not happen
without it is timed, from the question whether to look to the last byte written, in seconds of the
processor, which other work on the machine hardly disturbs. Models of ours are trained without
autograd, so a look, which needs it, is dear beside an epoch, and must be rare.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from typing import Any, NamedTuple

import torch

from graphsct import fit
from graphsct.datasets import load
from graphsct.diagnosis import Watch
from graphsct.training import Epoch, ModelConfig, TrainConfig
from graphsct.training.seeding import seeded

LIMIT = 0.10


class Case(NamedTuple):
    data: str
    settings: dict[str, Any]
    epochs: int


CASES = {
    "cora gcn-L2 d64": Case("cora", {"depth": 2}, 500),
    "cora gcn-L32 d64": Case("cora", {"depth": 32}, 300),
    "cora gcn-L8 d64 BatchNorm": Case("cora", {"depth": 8, "norm": "BatchNorm"}, 200),
    "texas gcn-L8 d16": Case("texas", {"depth": 8, "hidden": 16}, 1500),
}


class TimedWatch(Watch):
    """Adds up the time that it takes, with that in which ``fit`` brings the weights."""

    seconds = 0.0
    begin = 0.0

    def looks(self, record: Epoch) -> bool:
        self.begin = time.process_time()
        return super().looks(record)

    def __call__(self, record: Epoch) -> None:
        super().__call__(record)
        self.seconds += time.process_time() - self.begin


def measure(case: Case, options: Any) -> dict[str, float]:
    data = load(case.data)
    with seeded(0):
        model = ModelConfig(**case.settings).build(data)
    train = TrainConfig(epochs=case.epochs, patience=case.epochs)
    split = 0 if len(data.splits) > 1 else None
    more: dict[str, Any] = {"every": options.every, "tensorboard": options.tensorboard}
    if options.share is not None:
        more["share"] = options.share
    with tempfile.TemporaryDirectory() as folder, TimedWatch(model, data, folder, **more) as watch:
        start = time.process_time()
        fit(model, data, train, split=split, callbacks=[watch], progress=False)
        training = time.process_time() - start - watch.seconds
        looks = len(watch.path.read_text().splitlines())
    return {
        "share": watch.seconds / training,
        "looks": looks,
        "epochs": case.epochs,
        "look_ms": 1000 * watch.seconds / looks,
        "epoch_ms": 1000 * training / case.epochs,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=50, help="epochs from look to look, at least")
    parser.add_argument("--share", type=float, help="of the time, inf to look in any case")
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
                f"{name:26s} {row['share']:6.1%} (limit {LIMIT:.0%}) for {row['looks']} looks in "
                f"{row['epochs']} epochs; a look {row['look_ms']:.0f} ms, an epoch "
                f"{row['epoch_ms']:.1f} ms",
                flush=True,
            )
    if options.json:
        print(json.dumps({"limit": LIMIT, "every": options.every, "cases": found}))


if __name__ == "__main__":
    main()
