"""A graph whose files are read as a whole, into arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from graphsct.datasets.assemble import assemble, self_loops
from graphsct.datasets.parsed import Parsed
from graphsct.datasets.readers.edges import EdgeList, build_graph
from graphsct.datasets.readers.masks import SplitLike, read_splits

__all__ = ["assemble_parsed"]


def assemble_parsed(
    name: str,
    parsed: Parsed,
    path: Path,
    *,
    split: SplitLike | None,
    symmetrize: bool,
    **options: Any,
) -> Any:
    """Build a ``Data`` from the arrays of a user's files.

    Args:
        name: name of the result
        parsed: the arrays
        path: the file with the edges, for an error
        split: instead of the splits of the files
        symmetrize: add missing reverse edges instead of refusing a directed graph
        **options: further arguments of :func:`assemble`
    """
    n, y = len(parsed.y), torch.from_numpy(parsed.y)
    listed = EdgeList(parsed.edge_index, None, n, None, path)
    return assemble(
        name,
        graph=build_graph(listed, parsed.edge_index, n, symmetrize),
        loops=self_loops(parsed.edge_index),
        x=parsed.x,
        y=y,
        splits=parsed.splits if split is None else read_splits(split, y, n),
        every_class=True,
        **parsed.more,
        **options,
    )
