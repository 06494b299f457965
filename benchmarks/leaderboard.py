"""Pack the cells of ``graphsct remedies compare`` into the package, and write docs/remedies.md.

    python benchmarks/leaderboard.py results/remedies

replaces the packed file of each data set and model in the folder; the others stay.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from graphsct.files import write_text
from graphsct.remedies.board_cell import BoardCell
from graphsct.remedies.board_markdown import markdown
from graphsct.remedies.packed import pack, read_packed

PAGE = Path(__file__).parents[1] / "docs/remedies.md"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="folder of the cells")
    for path in pack(BoardCell.read_all(parser.parse_args().folder)):
        print(path, f"{path.stat().st_size / 1024:.0f} KB")
    cells = read_packed()
    write_text(PAGE, markdown(cells))
    print(PAGE, f"{len(cells)} cells")


if __name__ == "__main__":
    main()
