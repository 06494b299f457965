"""Which criterion for the best epoch gives the better test score: validation loss or metric?

``python benchmarks/criterion.py`` trains models with default settings on several data sets. Both
criteria select from the same runs, so that nothing else differs. Each line is written when its runs
are over; lines that are there already are not computed again.
"""

import argparse
import json
import statistics
from pathlib import Path
from typing import Any

import graphsct
from graphsct.datasets import load
from graphsct.training import ModelConfig, TrainConfig
from graphsct.training.seeds import build_seeds, split_of

RULES = ("val_loss", "val_score")
DATA = ("cora", "citeseer", "texas", "wisconsin", "cornell", "chameleon", "pubmed")
MODELS = [("gcn", None), ("gcn", "pooled"), ("gcnii", None), ("egnn", None)]
DEPTHS = (2, 4, 8, 16)


def measure(name: str, config: ModelConfig, seeds: int) -> dict[str, Any]:
    """The mean test score by each criterion, and the difference seed by seed."""
    data = load(name)
    models = [
        model for _ in RULES for model in build_seeds(lambda: config.build(data), range(seeds))
    ]
    configs = [TrainConfig(select=rule, seed=seed) for rule in RULES for seed in range(seeds)]
    splits = [split_of(data, config.seed) for config in configs]
    runs = graphsct.fit_many(models, data, configs, splits=splits)
    tests = [[run.test_score for run in runs if run.config.select == rule] for rule in RULES]
    gains = [b - a for a, b in zip(*tests, strict=True)]
    return {
        "data": name,
        "model": config.model,
        "control": config.control,
        "depth": config.depth,
        **{rule: statistics.fmean(own) for rule, own in zip(RULES, tests, strict=True)},
        "gain": statistics.fmean(gains),
        "gain_std": statistics.stdev(gains),
    }


def main() -> None:
    """Measure all cases, and sum up."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("results/criterion.jsonl"))
    parser.add_argument("--seeds", type=int, default=10)
    settings = parser.parse_args()
    settings.out.parent.mkdir(parents=True, exist_ok=True)
    settings.out.touch()
    rows = [json.loads(line) for line in settings.out.read_text().splitlines()]
    there = {(row["data"], row["model"], row["control"], row["depth"]) for row in rows}
    for name in DATA:
        for depth in DEPTHS:
            for model, control in MODELS:
                if (name, model, control, depth) in there:
                    continue
                config = ModelConfig(model=model, control=control, depth=depth)
                rows.append(measure(name, config, settings.seeds))
                with settings.out.open("a") as file:
                    file.write(json.dumps(rows[-1]) + "\n")
                print(json.dumps(rows[-1]), flush=True)
    gains = [row["gain"] for row in rows]
    error = statistics.stdev(gains) / len(gains) ** 0.5
    better = sum(gain > 0 for gain in gains)
    print(
        f"by metric instead of loss: {100 * statistics.fmean(gains):+.2f} ± {100 * error:.2f} "
        f"points in the mean of {len(gains)} cases, better in {better}"
    )


if __name__ == "__main__":
    main()
