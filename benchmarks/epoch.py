"""Time of a full epoch against PyTorch Geometric: the same as ``graphsct bench``."""

from graphsct.cli.bench import app

if __name__ == "__main__":
    app()
