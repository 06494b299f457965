"""``python -m graphsct`` is the command ``graphsct``."""

from graphsct.cli import main

main()
