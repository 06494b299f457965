"""Many runs at once against one after another, and against one run of PyTorch Geometric.

The ten splits of Texas (8 layers, width 16) and 100 seeds of Cora (2 layers, width 64), by
``fit_many`` and by ``fit`` in turns. Then ten seeds of GCN on the seven small cases, by
``fit_many``, against a single run of PyTorch Geometric, without and with control, which neither
selects an epoch nor keeps its weights. All runs take the same number of epochs.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
import warnings
from dataclasses import replace
from typing import Any

import torch

from graphsct import fit, fit_many
from graphsct.datasets import load
from graphsct.training import ModelConfig, TrainConfig
from graphsct.training.bench import CASES, CONFIG, GRAPHS, Case, make_model, open_case
from graphsct.training.peers import PYG, peer_epoch
from graphsct.training.seeding import seeded
from graphsct.training.timing import alternate

LIMITS = {"texas": 5.0, "cora": 2.0}
#: The seven small cases, in which ten seeds are to take no longer than one run of the peer.
SMALL = [case for case in CASES if case.model == "gcn" and case.data not in {"physics", *GRAPHS}]


def build(config: ModelConfig, data: Any, seeds: range) -> list[Any]:
    models = []
    for seed in seeds:
        with seeded(seed):
            models.append(config.build(data))
    return models


def measure(name: str, settings: dict[str, Any], runs: int, epochs: int, turns: int) -> float:
    data, model, seeds = load(name), ModelConfig(**settings), range(runs)
    configs = [TrainConfig(epochs=epochs, patience=epochs, seed=seed) for seed in seeds]
    several = len(data.splits)
    splits = [seed % several if several > 1 else None for seed in seeds]
    ratios = []
    for _ in range(turns):
        models = build(model, data, seeds)
        start = time.perf_counter()
        for built, config, split in zip(models, configs, splits, strict=True):
            fit(built, data, config, split=split, progress=False)
        between = time.perf_counter()
        models = build(model, data, seeds)
        begun = time.perf_counter()
        fit_many(models, data, configs, splits=splits)
        ratios.append((between - start) / (time.perf_counter() - begun))
    return statistics.median(ratios)


def against_pyg(
    case: Case, control: bool, *, seeds: int = 10, seconds: float = 5.0, turns: int = 3
) -> dict[str, Any]:
    """Seconds of some seeds by ``fit_many``, and of one run of PyTorch Geometric in its fastest
    form, of as many epochs as that makes in so many seconds, but from 10 to 200.
    """
    data = open_case(case)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse")
        forms = [peer_epoch(peer, make_model(case, data, control), data, CONFIG) for peer in PYG]
        times = alternate(forms, 0.0, 3)
    epochs = min(max(round(seconds / min(times)), 10), 200)
    configs = [replace(CONFIG, epochs=epochs, patience=epochs, seed=seed) for seed in range(seeds)]
    theirs, ours = [], []
    for _ in range(turns):
        start = time.perf_counter()
        for _ in range(epochs):
            forms[times.index(min(times))]()
        theirs.append(time.perf_counter() - start)
        models = []
        for seed in range(seeds):
            with seeded(seed):
                models.append(make_model(case, data, control))
        start = time.perf_counter()
        fit_many(models, data, configs, splits=[0] * seeds)
        ours.append(time.perf_counter() - start)
    found = statistics.median(ours), statistics.median(theirs)
    return {
        "case": str(case),
        "control": models[0].default_control if control else None,
        "seeds": seeds,
        "epochs": epochs,
        "ours_s": found[0],
        "pyg_s": found[1],
        "ratio": found[0] / found[1],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=100, help="of Cora")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    common = options.epochs, options.turns
    ratios = {}
    for model in ("gcn", "gcnii"):
        for control in (None, "pooled", "gated"):
            texas = {"model": model, "control": control, "depth": 8, "hidden": 16}
            ratios[f"texas {model} {control or '-'}"] = measure("texas", texas, 10, *common)
    cora = {"model": "gcn", "depth": 2, "hidden": 64}
    ratios["cora gcn -"] = measure("cora", cora, options.seeds, *common)
    rows = [against_pyg(case, control) for case in SMALL for control in (False, True)]
    if options.json:
        print(json.dumps({"limits": LIMITS, "ratios": ratios, "ten_seeds": rows}))
        return
    for case, ratio in ratios.items():
        print(f"{case:24s} {ratio:5.2f}x   at least {LIMITS[case.split()[0]]:.1f}x")
    for row in rows:
        name = f"{row['case']} {row['control'] or '-'}"
        print(f"{name:24s} ten seeds in {row['ratio']:.2f} of one run of PyG, at most 1")


if __name__ == "__main__":
    main()
