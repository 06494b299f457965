"""Many runs at once against one after another, as ratios.

The ten splits of Texas (8 layers, width 16) and 100 seeds of Cora (2 layers, width 64), by
``fit_many`` and by ``fit`` in turns. All runs take the same number of epochs.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from typing import Any

import torch

from graphsct import fit, fit_many
from graphsct.datasets import load
from graphsct.training import ModelConfig, TrainConfig
from graphsct.training.seeding import seeded

LIMITS = {"texas": 5.0, "cora": 2.0}


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
    if options.json:
        print(json.dumps({"limits": LIMITS, "ratios": ratios}))
        return
    for case, ratio in ratios.items():
        print(f"{case:24s} {ratio:5.2f}x   at least {LIMITS[case.split()[0]]:.1f}x")


if __name__ == "__main__":
    main()
