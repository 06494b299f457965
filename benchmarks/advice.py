"""What advice gains: deep models that fail, trained as they are and with each remedy.

    python benchmarks/advice.py run --out advice.jsonl      # resumable, a line per model
    python benchmarks/advice.py report --out advice.jsonl   # src/graphsct/diagnosis/gains.json

Each model is diagnosed, and every remedy that fits it is tried with the same three seeds. The gain
of a remedy is the mean over models of the mean paired difference of the test score, at epochs that
validation chose, with the 95 % interval of Student's t over the models.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import torch
from scipy import stats

from graphsct import datasets, diagnose, fit
from graphsct.diagnosis import try_remedies
from graphsct.diagnosis.advice import Patient, applicable
from graphsct.training import ModelConfig, TrainConfig
from graphsct.training.seeding import seeded
from graphsct.training.seeds import split_of

SEEDS = (0, 1, 2)
DATA = ("cora", "citeseer", "texas", "chameleon_filtered")
MODELS = tuple(
    ModelConfig(model, depth=16, hidden=32, init=init)
    for model, init in (
        ("gcn", "glorot"),
        ("pyg:GCN", None),
        ("gcn", "identity"),
        ("pyg:GraphSAGE", None),
    )
)
GAINS = Path(__file__).parents[1] / "src/graphsct/diagnosis/gains.json"


def examine(name: str, model: ModelConfig) -> dict[str, list[float]]:
    """The differences of each remedy that fits a model, in points."""
    data = datasets.load(name)
    config = TrainConfig(epochs=100, patience=100)
    with seeded(0):
        built = model.build(data)
    split = split_of(data, 0)
    fit(built, data, config, split=split, progress=False)
    found = diagnose(built, data, split=split, influence=False, reach=False)
    patient = Patient(built, found.layers, found.findings, data.graph.num_components)
    found = replace(found, advice=tuple(applicable(patient)))  # also those that may do harm
    tried = try_remedies(found, model, data, config, seeds=SEEDS)
    return {effect.name: [100 * d for d in effect.differences] for effect in tried.effects[1:]}


def report(path: Path) -> None:
    """Store the gains."""
    means = defaultdict(list)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for row in rows:
        for name, differences in row["differences"].items():
            means[name].append(statistics.fmean(differences))
    gains = {}
    for name, values in sorted(means.items()):
        if len(values) > 1:
            mean, error = statistics.fmean(values), stats.sem(values)
            half = float(stats.t.ppf(0.975, len(values) - 1) * error)
            own = {"gain": mean, "low": mean - half, "high": mean + half}
            gains[name] = {key: round(value, 2) for key, value in own.items()}
            gains[name]["models"] = len(values)
    on = "GCN and GraphSAGE of 16 layers, " + ", ".join(
        dict.fromkeys(row["name"].split("-")[0] for row in rows)
    )
    GAINS.write_text(json.dumps({"on": on, "gains": gains}, indent=1) + "\n", encoding="utf-8")
    print(GAINS.read_text())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("run", "report"))
    parser.add_argument("--out", type=Path, default=Path("results/advice.jsonl"))
    options = parser.parse_args()
    if options.what == "report":
        report(options.out)
        return
    torch.set_num_threads(1)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    lines = options.out.read_text().splitlines() if options.out.exists() else []
    done = {json.loads(line)["name"] for line in lines}
    for model in MODELS:
        for data in DATA:
            start = "" if model.init is None else f"-{model.init}"
            name = f"{data}-{model.model}-{model.depth}{start}"
            if name not in done:
                row = {"name": name, "differences": examine(data, model)}
                with options.out.open("a") as file:
                    file.write(json.dumps(row) + "\n")
                print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
