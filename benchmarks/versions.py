"""Epochs, or ten whole runs, of two versions of graphsct, side by side.

``python benchmarks/versions.py OLD`` compares the ``src`` folder of another checkout, such as one
made by ``git worktree add OLD REVISION``, with that of this one, on the cases of ``graphsct
bench``.
Each version runs in a process of its own; they take turns, so that both see the same machine.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

HERE = Path(__file__).parents[1]


def serve() -> None:
    """Make the engines that are asked for, and time their epochs."""
    import warnings

    warnings.filterwarnings("ignore")
    import torch

    import graphsct
    from graphsct.datasets import load
    from graphsct.training import ModelConfig, TrainConfig

    names = "training.bench", "training.timing", "bench"  # the newest version first
    name = next(name for name in names if find_spec(f"graphsct.{name}"))
    bench = import_module(f"graphsct.{name}")

    def many(case: Any, control: bool, epochs: int) -> Callable[[], object]:
        """Ten runs at once, from the models to the test accuracies."""
        data, kind = load(case.data), {"gcn": "pooled", "gcnii": "gated"}[case.model]
        settings = dict(model=case.model, depth=case.layers, hidden=case.width)
        config = ModelConfig(**settings, control=kind if control else None)
        configs = [TrainConfig(epochs=epochs, seed=seed) for seed in range(10)]
        splits = [0 if len(data.splits) > 1 else None] * 10

        def run() -> object:
            models = [config.build(data) for _ in configs]
            return graphsct.fit_many(models, data, configs, splits=splits)

        return run

    job: Any = None
    for line in sys.stdin:
        order = json.loads(line)
        if "case" in order:
            torch.set_num_threads(order["threads"])
            torch.manual_seed(0)
            case = bench.Case(*order["case"])
            if order["many"]:
                job = many(case, order["control"], order["many"])
            else:
                engine = bench.make_engine(case, load(case.data), order["control"])

                def job(engine: Any = engine) -> None:
                    engine.descend()
                    engine.validate()

            answer = 0.0
        else:
            started = time.perf_counter()
            for _ in range(order["times"]):
                job()
            answer = (time.perf_counter() - started) / order["times"]
        print(json.dumps(answer), flush=True)


class Version:
    """A process that runs one version."""

    def __init__(self, source: Path) -> None:
        environment = os.environ | {"PYTHONPATH": str(source)}
        self._process = subprocess.Popen(
            [sys.executable, __file__, "--serve"],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, **order: Any) -> float:
        """Send an order, and wait for the answer."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None
        stdin.write(json.dumps(order) + "\n")
        stdin.flush()
        return float(json.loads(stdout.readline()))

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def compare(versions: list[Version], case: list[Any], control: bool, settings: Any) -> list[float]:
    """Median seconds of each version."""
    for version in versions:
        version.ask(case=case, control=control, threads=settings.threads, many=settings.many)
    once = max(version.ask(times=1 if settings.many else 3) for version in versions)
    times = max(1, round(0.05 / once))
    turns = max(5, round(settings.seconds / (2 * times * once)))
    seen: list[list[float]] = [[] for _ in versions]
    for turn in range(turns):
        for i in [0, 1] if turn % 2 else [1, 0]:
            seen[i].append(versions[i].ask(times=times))
    return [statistics.median(own) for own in seen]


def main() -> None:
    """Compare all cases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old", type=Path, nargs="?", help="another checkout")
    parser.add_argument("--cases", default="", help="only those whose name contains this")
    parser.add_argument("--seconds", type=float, default=10.0, help="of each case")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument(
        "--many",
        type=int,
        nargs="?",
        const=50,
        metavar="EPOCHS",
        help="ten whole runs by fit_many, 50 epochs each unless given",
    )
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    settings = parser.parse_args()
    if settings.serve:
        serve()
        return
    from graphsct.training.bench import CASES

    versions = [Version(settings.old.resolve() / "src"), Version(HERE / "src")]
    ratios = []
    for case in CASES:
        for control in (False, True):
            name = f"{case}{' with control' if control else ''}"
            if settings.cases in name:
                old, new = compare(versions, list(case), control, settings)
                ratios.append(new / old)
                print(f"{name:36} {1e3 * old:9.3f} ms {1e3 * new:9.3f} ms {new / old:6.3f}")
                sys.stdout.flush()
    for version in versions:
        version.close()
    mean = statistics.geometric_mean(ratios)
    print(f"new / old: geometric mean {mean:.3f}, largest {max(ratios):.3f}, {len(ratios)} cases")


if __name__ == "__main__":
    main()
