"""The data of a command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

__all__ = ["load_or_read"]


def load_or_read(name: str, root: Path | None, *, symmetrize: bool, normalize: bool = False) -> Any:
    """Load a data set by name, or the user's own graph from a folder, with a split.

    Args:
        name: name of a data set, or a folder
        root: folder with the raw files of data sets
        symmetrize: add missing reverse edges to the graph of a folder
        normalize: make each row of features of a data set sum to one
    """
    from graphsct import datasets
    from graphsct.errors import DataError

    if not Path(name).is_dir():
        return datasets.load(name, root, normalize=normalize)
    if normalize:
        raise DataError(f"{name} is a folder, whose features cannot be normalized; leave it out")
    data = datasets.from_folder(name, symmetrize=symmetrize)
    if hasattr(data, "y") and not hasattr(data, "train_mask"):
        split = datasets.Fractions()
        typer.echo(
            f"{name} has no split: drawing {split.train:.0%} of each class for training, "
            f"{split.val:.0%} for validation",
            err=True,
        )
        data = datasets.from_folder(name, split=split, symmetrize=symmetrize)
    return data
