"""What a command takes as its data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

__all__ = ["load_or_read"]


def load_or_read(name: str, root: Path | None, *, symmetrize: bool, normalize: bool = False) -> Any:
    """A data set by its name, or the user's own graph from a folder, with a split if it has none.

    Args:
        name: of a data set or a folder
        root: folder with the raw files of data sets
        symmetrize: add the reverse of each edge of a folder
        normalize: make each row of features of a data set sum to one
    """
    from graphsct import datasets
    from graphsct.errors import DataError

    if not Path(name).is_dir():
        return datasets.load(name, root, normalize=normalize)
    if normalize:
        raise DataError(f"{name} is a folder, whose features are taken as they are")
    data = datasets.from_folder(name, symmetrize=symmetrize)
    if hasattr(data, "y") and not hasattr(data, "train_mask"):
        split = datasets.Fractions()
        typer.echo(
            f"{name} has no split: {split.train:.0%} of each class are drawn for training, "
            f"{split.val:.0%} for validation",
            err=True,
        )
        data = datasets.from_folder(name, split=split, symmetrize=symmetrize)
    return data
