"""The partition of a data set, written to disk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import safetensors.torch
import torch
from torch import Tensor

from graphsct.datasets.splits import Split
from graphsct.distributed.layout import HEADER, Layout, Piece, checksum, name_of
from graphsct.distributed.partition import divide
from graphsct.errors import DataError
from graphsct.files import replacing, sweep, write_json
from graphsct.graph.adjacency import Adjacency
from graphsct.graph.cache import graph_of
from graphsct.training.data import SplitData, count_splits
from graphsct.training.disk import held

__all__ = ["write_partition"]

Array = npt.NDArray[Any]


def write_partition(
    data: Any,
    folder: str | os.PathLike[str],
    parts: int,
    *,
    method: str = "contiguous",
    force: bool = False,
) -> Layout:
    """Divide a data set among processes and write one file for each.

    Only this function needs the whole data set; each process of a training reads its own file.

    Args:
        data: data as for :func:`~graphsct.fit`
        folder: folder to write to
        parts: number of processes
        method: ``contiguous`` divides nodes in their order and balances edges; ``metis`` also cuts
            few of them, and needs the extra of that name. Within a part, the nodes of a large graph
            stand in the order of :attr:`~graphsct.Graph.order`.
        force: replace an existing partition
    """
    place = Path(folder)
    _check_free(place, force)
    graph = graph_of(data)
    several = count_splits(data) > 1
    problems = [SplitData.of(data, i if several else None) for i in range(count_splits(data))]
    x, y = problems[0].x, problems[0].y
    kind = problems[0].objective.kind
    if kind != "classes":
        raise DataError(
            f"{problems[0].name} has {kind} to predict, but processes share classes only"
        )
    owners = divide(graph.adjacency, parts, method)
    order = np.arange(graph.num_nodes) if graph.order is None else graph.order.numpy()
    crossing = _crossing(graph.adjacency.component.numpy(), owners)
    with held(place), _writing(place):
        _check_free(place, force)  # another process may have been faster
        sweep(place, (HEADER, name_of("*")))
        (place / HEADER).unlink(missing_ok=True)  # from here on the folder is not a partition
        pieces = []
        for part in range(parts):
            nodes = order[owners[order] == part]
            arrays = dict(_rows(graph.adjacency, owners, order, part, parts))
            arrays |= _features(x, nodes)
            arrays |= _labels(y, [problem.split for problem in problems], nodes)
            arrays["crossing"] = crossing
            pieces.append(_write_piece(place / name_of(part), arrays))
        layout = Layout(
            name=problems[0].name,
            method=method,
            nodes=graph.num_nodes,
            edges=graph.num_edges,
            components=graph.num_components,
            crossing=len(crossing),
            features=x.shape[1],
            values=None if x.layout == torch.strided else len(x.values()),
            classes=int(data.num_classes),
            train=tuple(int(problem.train.sum()) for problem in problems),
            parts=tuple(pieces),
        )
        write_json(place / HEADER, layout.to_dict())
    return layout


def _write_piece(path: Path, arrays: dict[str, Array]) -> Piece:
    """Write the file of a part, and return its description."""
    tensors = {name: torch.from_numpy(np.ascontiguousarray(a)) for name, a in arrays.items()}
    with replacing(path) as temporary:
        safetensors.torch.save_file(tensors, temporary)
    entries = len(arrays["inner_columns"]) + len(arrays["outer_columns"])
    return Piece(checksum(path), len(arrays["nodes"]), entries, len(arrays["halo_degree"]))


def _check_free(place: Path, force: bool) -> None:
    if (place / HEADER).is_file() and not force:
        raise DataError(f"{place} holds a partition already; use force=True to replace it")


@contextmanager
def _writing(place: Path) -> Iterator[None]:
    """Turn errors of the disk into one that says what is left."""
    try:
        yield
    except (OSError, safetensors.SafetensorError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(
            f"cannot write to {place}: {reason}. The folder has no complete partition now; free "
            "some space and write it again, or to another folder=..."
        ) from error


def _crossing(component: Array, owners: Array) -> Array:
    """Components with nodes in more than one part; shape: ``(c,)``."""
    pairs = np.unique(np.stack([component, owners]), axis=1)
    counts: Array = np.bincount(pairs[0])
    return np.flatnonzero(counts > 1)


def _rows(
    adjacency: Adjacency, owners: Array, order: Array, part: int, parts: int
) -> Iterator[tuple[str, Array]]:
    """Rows of the adjacency, with columns as positions in this part or in its halo.

    Nodes stand in the graph's order, in each part, in the halo and among those sent to others,
    whose owners come first. Edges have two directions, so the two lists of a pair of processes
    agree.
    """
    starts, columns = adjacency.starts.numpy(), adjacency.columns.numpy()
    rank = np.empty_like(order)  # of each node in the order
    rank[order] = np.arange(len(order))
    nodes = order[owners[order] == part]
    counts = np.diff(starts)[nodes]
    rows = np.repeat(np.arange(len(nodes)), counts)
    entries = np.repeat(starts[nodes] - np.cumsum(counts) + counts, counts) + np.arange(len(rows))
    ends = columns[entries]
    owner, ends = owners[ends], rank[ends]
    inner = owner == part
    halo, place = np.unique(owner[~inner] * len(owners) + ends[~inner], return_inverse=True)
    given = np.unique(owner[~inner] * len(owners) + rows[~inner])
    for name, kept, found in (
        ("inner", inner, np.searchsorted(rank[nodes], ends[inner])),
        ("outer", ~inner, place),
    ):
        total = np.concatenate([[0], np.cumsum(np.bincount(rows[kept], minlength=len(nodes)))])
        kind = np.int32 if max(total[-1], len(owners)) < 2**31 else np.int64
        yield f"{name}_starts", total.astype(kind)
        yield f"{name}_columns", found.astype(kind)
        if adjacency.weight is not None:
            yield f"{name}_weight", adjacency.weight.numpy()[entries[kept]]
    degree, component = adjacency.degree.numpy(), adjacency.component.numpy()
    yield "nodes", nodes
    yield "degree", degree[nodes]
    yield "halo_degree", degree[order[halo % len(owners)]]
    yield "component", component[nodes]
    yield "volume", np.bincount(component, weights=degree)[component[nodes]]
    yield "send", given % len(owners)
    yield "send_counts", np.bincount(given // len(owners), minlength=parts)
    yield "receive_counts", np.bincount(halo // len(owners), minlength=parts)


def _features(x: Tensor, nodes: Array) -> dict[str, Array]:
    """Rows of the features; for sparse ones also the positions of their values in the whole."""
    if x.layout == torch.strided:
        return {"x": x.detach().numpy()[nodes]}
    starts, columns, values = (
        part.numpy() for part in (x.crow_indices(), x.col_indices(), x.values())
    )
    counts = np.diff(starts)[nodes]
    local = np.concatenate([[0], np.cumsum(counts)])
    entries = np.repeat(starts[nodes] - local[:-1], counts) + np.arange(local[-1])
    return {
        "x_starts": local.astype(columns.dtype),
        "x_columns": columns[entries],
        "x_values": values[entries],
        "x_places": starts[nodes].astype(np.int64),
    }


def _labels(y: Tensor, splits: list[Split], nodes: Array) -> dict[str, Array]:
    """Labels, masks, and the number of each training node among those of all processes."""
    masks = torch.stack([torch.stack(list(split)) for split in splits]).numpy()
    order = np.cumsum(masks[:, 0], axis=1) - 1
    return {"y": y.numpy()[nodes], "masks": masks[:, :, nodes], "order": order[:, nodes]}
