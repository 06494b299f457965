"""Which measure goes with test accuracy: the study of docs/study.md.

    python benchmarks/study.py --runs verdicts.jsonl

reads the models of ``benchmarks/verdicts.py`` in which no fault was built, and writes the table and
the figure of the page. Each model is one point: a measure of its last hidden layer, and its test
score from 0 for guessing to 1 for the best model on its data.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from page import fill
from scipy import stats

from graphsct.plotting.style import BLUE, GREY, ORANGE, styled

DOCS = Path(__file__).parents[1] / "docs"
REPEATS = 500
MEASURES: dict[str, Callable[[dict[str, Any]], float]] = {
    "effective rank": lambda layer: layer["effective_rank"],
    "numerical rank": lambda layer: layer["numerical_rank"],
    "rank of contrast": lambda layer: layer["contrast_rank"],
    "contrast": lambda layer: layer["contrast"],
    "mean average distance": lambda layer: layer["mean_average_distance"],
    "normalized Dirichlet energy": lambda layer: layer["normalized_dirichlet_energy"],
    "Dirichlet energy": lambda layer: layer["dirichlet_energy"],
    "distance to the eigenspace": lambda layer: layer["distance"],
    "distance over norm": lambda layer: layer["relative_distance"],
    "smoothness s, median": lambda layer: (layer["quartiles"] or [1, 1, 1])[1],
    "over-correlation": lambda layer: layer["correlation"],
    "gradient norm": lambda layer: layer["gradient_norm"],
}

Sample = list[dict[str, Any]]


def read(path: Path) -> Sample:
    """The models without a fault, with their scores."""
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for row in rows:
        row["skill"] = (row["test"] - row["guess"]) / (1 - row["guess"])
    best: dict[str, float] = {}
    for row in rows:
        best[row["case"]["data"]] = max(best.get(row["case"]["data"], 0.0), row["skill"])
    found = []
    for row in rows:
        case = row["case"]
        if case["fault"] in ("none", "deep") and case["architecture"] != "appnp":
            layer = row["diagnosis"]["layers"][-1]
            own = {name: of(layer) for name, of in MEASURES.items()}
            own |= {"score": row["skill"] / best[case["data"]], "depth": case["depth"]}
            found.append(own | {"data": case["data"], "architecture": case["architecture"]})
    return found


def between(sample: Sample, name: str) -> float:
    """The rank correlation over all models, with data sets made alike: mean over the sets."""
    return _mean(sample, name, lambda row: row["data"])


def within(sample: Sample, name: str) -> float:
    """The same among models of equal depth on the same data."""
    return _mean(sample, name, lambda row: (row["data"], row["depth"]))


def _mean(sample: Sample, name: str, key: Callable[[dict[str, Any]], Any]) -> float:
    groups: dict[Any, Sample] = {}
    for row in sample:
        groups.setdefault(key(row), []).append(row)
    found, sizes = [], []
    for rows in groups.values():
        values, scores = ([row[of] for row in rows] for of in (name, "score"))
        if len(rows) >= 4 and len(set(values)) > 1 and len(set(scores)) > 1:
            found.append(stats.spearmanr(values, scores).statistic)
            sizes.append(len(rows))
    return float(np.average(found, weights=sizes)) if found else float("nan")


def interval(sample: Sample, name: str, of: Callable[[Sample, str], float]) -> tuple[float, float]:
    """The 95 % interval by drawing architectures anew, since their models are alike."""
    random = np.random.default_rng(0)
    kinds = sorted({row["architecture"] for row in sample})
    own = {kind: [row for row in sample if row["architecture"] == kind] for kind in kinds}
    drawn = []
    for _ in range(REPEATS):
        picked = random.choice(kinds, len(kinds))
        drawn.append(of([row for kind in picked for row in own[kind]], name))
    low, high = np.nanpercentile(drawn, [2.5, 97.5])
    return float(low), float(high)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=Path, default=Path("results/verdicts.jsonl"))
    sample = read(parser.parse_args().runs)
    found = {
        name: [(of(sample, name), *interval(sample, name, of)) for of in (between, within)]
        for name in MEASURES
    }
    order = sorted(found, key=lambda name: -abs(found[name][0][0]))
    lines = [
        "| measure of the last hidden layer | all depths | equal depth |",
        "| --- | --- | --- |",
    ]
    for name in order:
        cells = [f"{mean:+.2f} ({low:+.2f} to {high:+.2f})" for mean, low, high in found[name]]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    sets = len({row["data"] for row in sample})
    lines += ["", f"{len(sample)} models on {sets} graphs."]
    table = "\n".join(lines)
    print(table)
    fill(DOCS / "study.md", {"study": table})
    draw(sample, found, order)


def draw(sample: Sample, found: dict[str, Any], order: list[str]) -> None:
    """Draw the correlations, and the scores against two of the measures."""
    from matplotlib.figure import Figure

    with styled():
        canvas = Figure(figsize=(14, 6.4), layout="constrained")
        left, *others = canvas.subplots(1, 3, width_ratios=[1, 1.2, 1.2])
        for shift, part, colour, label in (
            (0.14, 0, BLUE, "all depths"),
            (-0.14, 1, ORANGE, "equal depth"),
        ):
            places = [len(order) - 1 - i + shift for i in range(len(order))]
            means = [found[name][part][0] for name in order]
            lows, highs = ([found[name][part][i] for name in order] for i in (1, 2))
            left.hlines(places, lows, highs, color=colour, linewidth=2)
            left.plot(means, places, "o" if part == 0 else "s", color=colour, label=label)
        left.axvline(0, color=GREY, linewidth=1)
        left.set_yticks(range(len(order)), order[::-1])
        left.set(xlim=(-1, 1), xlabel="rank correlation with the score", title="Correlation")
        for axes, name in zip(others, ("rank of contrast", "contrast"), strict=True):
            for depth, colour, mark in (
                (2, BLUE, "o"),
                (4, BLUE, "s"),
                (16, ORANGE, "^"),
                (32, GREY, "v"),
            ):
                own = [row for row in sample if row["depth"] == depth]
                axes.plot(
                    [row[name] for row in own],
                    [row["score"] for row in own],
                    mark,
                    color=colour,
                    alpha=0.6,
                    label=f"{depth} layers",
                )
            axes.set(xscale="log", xlabel=name, title=name.capitalize())
        others[0].set_ylabel("test score, 1 for the best on its data")
        handles = [*left.get_legend_handles_labels()[0], *others[0].get_legend_handles_labels()[0]]
        canvas.legend(handles=handles, loc="outside lower center", ncols=6, fontsize=11.5)
        canvas.savefig(DOCS / "images/study.png", dpi=110)


if __name__ == "__main__":
    main()
