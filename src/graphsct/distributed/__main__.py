"""``torchrun --nproc-per-node 2 -m graphsct.distributed train ...``: one of the processes.

The options are those of ``graphsct train``; ``--data`` is a folder of ``graphsct data partition``.
"""

from __future__ import annotations

import sys

from graphsct.cli import app


def main() -> None:
    """Run the command ``graphsct``, whose ``train`` knows that it is one of several processes."""
    command, *arguments = sys.argv[1:] or [""]
    if command == "train":
        arguments.insert(0, "--distributed")
    app([command, *arguments] if command else [], prog_name="graphsct.distributed")


if __name__ == "__main__":
    main()
