"""The raw text layout of TUDatasets: one folder with the files of a list of graphs.

``NAME_A.txt`` holds the edges, ``NAME_graph_indicator.txt`` the graph of each node, and
``NAME_graph_labels.txt`` or ``NAME_graph_attributes.txt`` the targets.
"""

from __future__ import annotations

import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any

from torch.nn import functional as F

from graphsct.datasets.graph_list import GraphList, from_graphs
from graphsct.datasets.readers.columns import PathLike
from graphsct.errors import DataError

__all__ = ["from_tu", "is_tu"]

_EDGES = "_A.txt"


def is_tu(folder: Path) -> bool:
    """Whether a folder, or the ``raw`` in it, has a list of edges in this layout."""
    return _raw(folder) is not None


def from_tu(folder: PathLike, **options: Any) -> GraphList:
    """Read a folder in the raw layout of TUDatasets, with the options of :func:`from_graphs`.

    Classes of graphs are numbered in order. Attributes of nodes are their features, followed by
    their labels, one column each.

    Args:
        folder: folder with the text files, or with a folder ``raw`` that holds them
        **options: of :func:`from_graphs`
    """
    from torch_geometric.data import Data
    from torch_geometric.data.separate import separate
    from torch_geometric.io import read_tu_data

    place = Path(folder).expanduser()
    raw = _raw(place)
    if raw is None:
        raise DataError(f"{place} has no file NAME_A.txt with edges, as folders of TUDatasets have")
    prefix = min(path.name for path in raw.glob(f"*{_EDGES}")).removesuffix(_EDGES)
    count = _check_files(raw, prefix)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            joined, slices, _ = read_tu_data(str(raw), prefix)
        for key in {"edge_index", "edge_attr"} & {*slices}:  # the last graphs may have no edges
            ends = slices[key]
            slices[key] = F.pad(ends, (0, count + 1 - len(ends)), value=int(ends[-1]))
        graphs = [
            separate(Data, joined, idx=i, slice_dict=slices, decrement=False) for i in range(count)
        ]
    except Exception as error:  # whatever parsing may raise
        raise DataError(f"{raw} cannot be read as a TUDataset: {error}") from error
    return from_graphs(graphs, **{"name": prefix, **options})


def _raw(folder: Path) -> Path | None:
    places = (folder, folder / "raw")
    return next((place for place in places if list(place.glob(f"*{_EDGES}"))), None)


def _check_files(raw: Path, prefix: str) -> int:
    """Check that the files belong together; returns the number of graphs."""
    indicator = raw / f"{prefix}_graph_indicator.txt"
    targets = [raw / f"{prefix}_graph_{kind}.txt" for kind in ("labels", "attributes")]
    if not indicator.is_file():
        raise DataError(f"{indicator} is missing: it says to which graph each node belongs")
    if not any(path.is_file() for path in targets):
        raise DataError(f"{targets[0]} is missing: it holds the class of each graph")
    owners = indicator.read_text(encoding="utf-8", errors="replace").split()
    numbers = list(dict.fromkeys(owners))
    if numbers != [str(number) for number in range(1, len(numbers) + 1)] or any(
        int(after) < int(before) for before, after in pairwise(owners)
    ):
        raise DataError(f"{indicator}: expected the graphs 1, 2, ... in order, one line per node")
    expected = dict.fromkeys(targets, len(numbers))
    for kind in ("labels", "attributes"):
        expected[raw / f"{prefix}_node_{kind}.txt"] = len(owners)
    for path, count in expected.items():
        found = _count_lines(path) if path.is_file() else count
        if found != count:
            raise DataError(f"{path} has {found} lines, but {indicator.name} says {count}")
    return len(numbers)


def _count_lines(path: Path) -> int:
    return sum(bool(line.strip()) for line in path.read_bytes().splitlines())
