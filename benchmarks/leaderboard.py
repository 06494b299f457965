"""Run the leaderboard in its order, store its cells, and write docs/remedies.md.

    python benchmarks/leaderboard.py run results/remedies [--data citeseer] [--threads 1]
    python benchmarks/leaderboard.py pack results/remedies
    python benchmarks/leaderboard.py time cora

``run`` copies the stored cells into the folder and runs those that are missing, in the order below;
killed, it goes on where it was, and several processes share the cells. ``pack`` puts the cells into
graphsct-results, where it replaces the file of each data set and model in the folder; the others
stay. It also draws docs/images/remedies.png, some remedies of GCN on Cora by depth. ``--costs
missing`` first measures the costs that cells of earlier versions lack, ``--costs all`` those of all
cells. ``time`` prints the processor time of all cells of GCN on a data set by depth: it measures an
epoch without a remedy, and multiplies it by the cost of each stored cell and by its epochs.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from statistics import fmean

import torch

from graphsct.datasets import load
from graphsct.diagnosis import diagnose
from graphsct.files import write_text
from graphsct.plotting.style import BLACK, GREY, styled
from graphsct.remedies import REMEDIES
from graphsct.remedies.board_cell import BoardCell, BoardKey
from graphsct.remedies.board_markdown import PICTURE, markdown
from graphsct.remedies.budget import budget_of
from graphsct.remedies.leaderboard import compare_remedies, cost_of, epoch_seconds, fits
from graphsct.remedies.packed import pack, read_packed
from graphsct.training.significance import interval

DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "remedies.md"
#: The remedies in the picture, one or two of each family.
DRAWN = (
    "none",
    "shallower",
    "gcnii",
    "appnp",
    "jumping_cat",
    "identity",
    "normalized",
    "batch_norm",
    "sct_pooled",
    "drop_edge",
)

#: The remedies that come first on a data set: those of the picture, and three that many papers
#: compare with.
FIRST = (*DRAWN, "pair_norm", "residual", "bias")

#: The remedies that come last: this one compares all pairs of nodes, and a cell takes hours.
LAST = ("contra_norm",)


@dataclass(frozen=True)
class Stage:
    """Cells that are run before those of the next stage.

    Args:
        data: name of the data set
        depths: numbers of layers
        remedies: their names; if there are none, all that fit but :data:`LAST`
        model: name of the model that gets the remedies
    """

    data: str
    depths: tuple[int, ...]
    remedies: tuple[str, ...] = ()
    model: str = "gcn"


#: Small data sets before large ones, shallow networks before deep ones. Cora was begun first.
ORDER = (
    Stage("cora", (2,)),
    Stage("cora", (2, 4, 8, 16, 32), FIRST),
    Stage("chameleon_filtered", (2, 16), FIRST),
    Stage("citeseer", (2, 16), FIRST),
    Stage("cora", (32, 64), FIRST),
    Stage("minesweeper", (2, 16), FIRST),
    Stage("squirrel_filtered", (2, 16), FIRST),
    Stage("actor", (2, 16), FIRST),
    Stage("pubmed", (2, 16), FIRST),
    Stage("cora", (2, 8, 16), model="gcnii"),
    Stage("cora", (2, 8), model="pyg:GAT"),
    Stage("cora", (4, 8, 16, 32, 64)),
    Stage("citeseer", (2, 4, 8, 16, 32, 64)),
    Stage("chameleon_filtered", (2, 4, 8, 16)),
    Stage("minesweeper", (2, 4, 8, 16)),
    Stage("squirrel_filtered", (2, 4, 8, 16)),
    Stage("actor", (2, 4, 8, 16)),
    Stage("pubmed", (2, 4, 8, 16, 32)),
    Stage("cora", (2, 4, 8, 16, 32, 64), LAST),
    Stage("citeseer", (2, 4, 8, 16, 32, 64), LAST),
    Stage("chameleon_filtered", (2, 4, 8, 16), LAST),
    Stage("minesweeper", (2, 4), LAST),  # an array of nodes by nodes per layer
    Stage("squirrel_filtered", (2, 4, 8, 16), LAST),
    Stage("actor", (2, 4, 8, 16), LAST),
)


def run(folder: Path, only: str | None) -> None:
    """Run the missing cells in order."""
    for cell in read_packed():
        if not (folder / f"{cell.key.name}.json").exists():
            cell.write(folder)
    for stage in ORDER:
        if only in (None, stage.data):
            names = stage.remedies or tuple(name for name in REMEDIES if name not in LAST)
            compare_remedies(
                load(stage.data),
                [REMEDIES[name] for name in names if fits(REMEDIES[name], stage.model)],
                stage.depths,
                folder=folder,
                name=stage.data,
                model=stage.model,
                inspect=partial(diagnose, rival=False, influence=False, reach=False),
                say=partial(print, flush=True),
            )


def draw(cells: Sequence[BoardCell]) -> None:
    """Draw the mean test score by depth, with 95 % intervals."""
    from matplotlib import pyplot as plt

    with styled():
        figure, axes = plt.subplots(figsize=(10.5, 5.4), layout="constrained")
        depths = sorted({cell.key.depth for cell in cells})
        colours = (f"C{number}" for number in range(10) if number != 7)  # 7 is a grey
        for name in DRAWN:
            own = sorted((c for c in cells if c.key.remedy == name), key=lambda c: c.key.depth)
            own = [cell for cell in own if cell.runs]
            x, y = [depths.index(cell.key.depth) for cell in own], [cell.mean for cell in own]
            ends = [interval(cell.scores()) or (cell.mean, cell.mean) for cell in own]
            fixed = {"none": (BLACK, "-"), "shallower": (GREY, "--")}
            colour, line = fixed.get(name) or (next(colours), "-")
            axes.plot(x, y, line, color=colour, marker="o", label=REMEDIES[name].title)
            low, high = zip(*ends, strict=True)
            axes.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0)
        axes.set_xticks(range(len(depths)), map(str, depths))
        axes.set(xlabel="layers", ylabel="test accuracy, %", title="GCN on Cora, ten seeds")
        figure.legend(loc="outside right upper")
        figure.savefig(DOCS / PICTURE, dpi=100)


def add_costs(folder: Path, *, again: bool) -> None:
    """Measure costs and write them into the cells."""
    data = cache(load)
    for cell in BoardCell.read_all(folder):
        if cell.chosen is not None and cell.runs and (again or cell.cost is None):
            cost = cost_of(data(cell.key.data), REMEDIES[cell.key.remedy], cell.key, cell.chosen)
            replace(cell, cost=cost).write(folder)


def epochs_of(cell: BoardCell) -> float:
    """The epochs of a finished cell: those of its runs, and as many for each setting it tried."""
    longest = {run.seed: 0 for run in cell.runs}  # both rules of a seed share their epochs
    for run in cell.runs:
        longest[run.seed] = max(longest[run.seed], run.epochs)
    return sum(longest.values()) + len(cell.tried) * fmean(longest.values())


def print_times(name: str) -> None:
    """Print the processor time of all cells of GCN on a data set, with and without a run."""
    data, whole = load(name), 0.0
    names = [name for name in REMEDIES if fits(REMEDIES[name], "gcn")]
    cells = [c for c in read_packed() if (c.key.data, c.key.model) == (name, "gcn") and c.runs]
    if not cells:
        raise SystemExit(f"no cell of GCN on {name} is stored")
    print("layers  cells  run  epoch, ms  hours")
    for depth in sorted({cell.key.depth for cell in cells}):
        own = [cell for cell in cells if cell.key.depth == depth]
        key = BoardKey(name, "gcn", depth, "none")
        plain = epoch_seconds(data, key, budget_of(REMEDIES["none"])[0])
        run_cells = fmean(epochs_of(cell) * (cell.cost or 1) for cell in own)
        hours = len(names) * run_cells * plain / 3600  # the other cells are as long on average
        whole += hours
        print(f"{depth:6}  {len(names):5}  {len(own):3}  {1e3 * plain:9.1f}  {hours:5.2f}")
    print(f"{whole:.1f} hours of one processor")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    running, packing = commands.add_parser("run"), commands.add_parser("pack")
    names = dict.fromkeys(stage.data for stage in ORDER)
    commands.add_parser("time").add_argument("data", choices=names, help="name of the data set")
    for command in (running, packing):
        command.add_argument("folder", type=Path, help="folder of the cells")
    running.add_argument("--data", choices=names, help="only this data set")
    running.add_argument("--threads", type=int, default=1)
    packing.add_argument("--costs", choices=("missing", "all"))
    settings = parser.parse_args()
    if settings.command == "time":
        torch.set_num_threads(1)
        print_times(settings.data)
        return
    if settings.command == "run":
        torch.set_num_threads(settings.threads)
        run(settings.folder, settings.data)
        return
    if settings.costs:
        add_costs(settings.folder, again=settings.costs == "all")
    for path in pack(BoardCell.read_all(settings.folder)):
        print(path, f"{path.stat().st_size / 1024:.0f} KB")
    cells = read_packed()
    draw([cell for cell in cells if (cell.key.data, cell.key.model) == ("cora", "gcn")])
    write_text(PAGE, markdown(cells, DOCS))
    print(PAGE, f"{len(cells)} cells")


if __name__ == "__main__":
    main()
