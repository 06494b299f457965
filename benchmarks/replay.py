"""What number does the paper's protocol print: 200 trials, least validation loss, one run?

``python benchmarks/replay.py run`` draws settings at random from the search space of each cell and
trains each once. Every batch of trials is written when it is over, and not computed again.
``report`` prints the test accuracies that the protocol could have printed: mean, 5 % and 95 %.
"""

import argparse
import json
import random
from functools import partial
from pathlib import Path
from typing import Any

import graphsct
from graphsct.datasets import load
from graphsct.errors import DivergedError
from graphsct.paper.cell import Key
from graphsct.paper.keys import base_of, control_of, key_of
from graphsct.paper.paper import find_table
from graphsct.paper.replay import TRIALS, Replay, ReplayTrial
from graphsct.search.space import configs, space
from graphsct.search.task import Task
from graphsct.training.seeds import build_seeds

CELLS = [
    (data, model, depth)
    for depth in (2, 4)
    for data in ("cora", "citeseer")
    for model in ("gcn", "gcnii", "egnn")
]
AT_ONCE = 20


def keys() -> list[Key]:
    """All cells, each base before its cell with SCT."""
    found = []
    for data, model, depth in CELLS:
        base = base_of(Key(data, model, None, depth))
        found += [base, base._replace(control=control_of(model), activation=None)]
    return found


def paper_grid(model: str) -> dict[str, tuple[float, ...]]:
    """The values that the paper's search tries, by the names of our settings."""
    own = [cell for cell in find_table("grid").cells if cell.model in (None, model)]
    renamed = {"alpha": "c_min"} if model == "egnn" else {}
    return {renamed.get(str(cell.quantity), str(cell.quantity)): cell.values for cell in own}


def draw(key: Key, number: int) -> dict[str, Any]:
    """The settings of a trial, drawn at random from the paper's grid and what it leaves open."""
    choices = {**space(Task(*key, select="val_loss"))}
    for name, values in paper_grid(key.model).items():
        if name in choices:
            choices[name] = tuple(value for value in choices[name] if value in values)
    chance = random.Random(f"{key.name} {number}")
    return {name: chance.choice(these) for name, these in choices.items()}


def train(key: Key, numbers: range) -> list[dict[str, Any]]:
    """The results of some trials; those that diverge have none."""
    task, rows = Task(*key, select="val_loss"), []
    for normalize in (False, True):
        own = [(n, draw(key, n)) for n in numbers if draw(key, n)["normalize"] is normalize]
        data = load(key.dataset, normalize=normalize)
        settings = [configs(task, made, epochs=1500, patience=100, seed=n) for n, made in own]
        for (number, made), score in zip(own, fit(settings, data), strict=True):
            rows.append({"number": number, "activation": made["activation"], **(score or {})})
    return sorted(rows, key=lambda row: row["number"])


def fit(settings: list[Any], data: Any) -> list[dict[str, float] | None]:
    """Train once with each, all together, or one by one if one of them diverges."""
    if not settings:
        return []
    models = [
        build_seeds(partial(model.build, data), [config.seed])[0] for model, config in settings
    ]
    try:
        runs = graphsct.fit_many(models, data, [config for _, config in settings])
    except DivergedError:
        if len(settings) == 1:
            return [None]
        return [score for one in settings for score in fit([one], data)]
    names = ("val_loss", "val_score", "test_score")
    return [{name: getattr(run, name) for name in names} for run in runs]


def run(folder: Path, trials: int) -> None:
    """Train the missing trials of all cells."""
    folder.mkdir(parents=True, exist_ok=True)
    for key in keys():
        path = folder / f"{key.name}.jsonl"
        path.touch()
        done = len(path.read_text().splitlines())
        for start in range(done, trials, AT_ONCE):
            rows = train(key, range(start, min(trials, start + AT_ONCE)))
            with path.open("a") as file:
                file.write("".join(json.dumps(row) + "\n" for row in rows))
            print(key.name, start + len(rows), flush=True)


def report(folder: Path, trials: int) -> None:
    """Print what the protocol prints in each finished cell, beside the paper's number."""
    paper = {key_of(cell)._replace(activation=None): cell for cell in find_table("depth").cells}
    for key in keys():
        path = folder / f"{key.name}.jsonl"
        rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
        if len(rows) < trials:
            print(f"{key.name}: {len(rows)} of {trials} trials")
            continue
        own = tuple(ReplayTrial.from_dict(row) for row in rows if "test_score" in row)
        found = Replay(key, own).printed(better=key.control is not None, trials=trials)
        number = float(paper[key._replace(activation=None)].value or 0)
        inside = "inside" if found.has(number) else "outside"
        print(
            f"{key.name}: {found.mean:.1f} [{found.low:.1f}, {found.high:.1f}], {number} {inside}"
        )


def main() -> None:
    """Run, or report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("run", "report"))
    parser.add_argument("--out", type=Path, default=Path("results/replay"))
    parser.add_argument("--trials", type=int, default=TRIALS)
    settings = parser.parse_args()
    {"run": run, "report": report}[settings.what](settings.out, settings.trials)


if __name__ == "__main__":
    main()
