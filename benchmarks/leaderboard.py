"""Pack the cells of ``graphsct remedies compare`` into the package, and write docs/remedies.md.

    python benchmarks/leaderboard.py results/remedies

replaces the packed file of each data set and model in the folder; the others stay. It also draws
docs/images/remedies.png, some remedies of GCN on Cora by depth. ``--costs missing`` first measures
the costs that cells of earlier versions lack, ``--costs all`` those of all cells.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from graphsct.datasets import load
from graphsct.files import write_text
from graphsct.plotting.style import BLACK, GREY, styled
from graphsct.remedies import REMEDIES
from graphsct.remedies.board_cell import BoardCell
from graphsct.remedies.board_markdown import PICTURE, markdown
from graphsct.remedies.leaderboard import cost_of
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="folder of the cells")
    parser.add_argument("--costs", choices=("missing", "all"))
    settings = parser.parse_args()
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
