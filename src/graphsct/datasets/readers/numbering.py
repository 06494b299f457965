"""Maps names of nodes and classes to indices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from graphsct.datasets.readers.columns import Columns, is_integer, is_number
from graphsct.datasets.readers.edges import EdgeList
from graphsct.datasets.targets import check_targets
from graphsct.errors import DataError

__all__ = ["Named", "number_classes", "number_nodes", "read_targets", "rows_of"]


@dataclass(frozen=True, eq=False)
class Named:
    """The names of the nodes, in the order of a file."""

    ids: Any
    table: Columns

    @classmethod
    def of(cls, table: Columns) -> Named:
        """Take the first column of a table, which must have no gaps and no repeated names."""
        import pyarrow.compute as pc

        table.check_full(0)
        ids = table.columns[0].combine_chunks()
        if len(pc.unique(ids)) < len(ids):
            seen: set[str] = set()
            for row, node in enumerate(ids.to_pylist()):
                if node in seen:
                    raise DataError(f"{table.where(row)}: the node {node!r} is listed twice")
                seen.add(node)
        return cls(ids, table)

    def find(self, where: Callable[[int], str], *wanted: Any) -> list[Any]:
        """The row of each name in each column; ``where(i)`` is the place of their i-th entries."""
        import pyarrow as pa
        import pyarrow.compute as pc

        ids = self.ids
        if pa.types.is_integer(wanted[0].type):
            try:
                ids = ids.cast(wanted[0].type)
            except pa.ArrowInvalid as error:
                raise DataError(
                    f"{self.table.path} has names of nodes that are not integers, unlike the edges "
                    f"({error}); pass string_ids=True"
                ) from error
        rows = [pc.index_in(column, value_set=ids) for column in wanted]
        gaps = [
            (pc.index(found.is_null(), True).as_py(), place)
            for place, found in enumerate(rows)
            if found.null_count
        ]
        if gaps:
            first, place = min(gaps)
            node = wanted[place][first].as_py()
            raise DataError(f"{where(first)}: the node {node!r} is not in {self.table.path}")
        return [found.to_numpy() for found in rows]


def number_nodes(listed: EdgeList, named: Named | None) -> tuple[Any, list[str] | None]:
    """The numbers of the nodes of the edges, and the names in order if there are names."""
    if named is None and listed.ids is not None:
        return listed.ids, None
    import pyarrow as pa

    if listed.ids is not None:
        ends = [pa.array(end) for end in listed.ids]
    else:
        assert listed.table is not None
        ends = [column.combine_chunks() for column in listed.table.columns[:2]]
    if named is not None:
        rows = np.stack(named.find(listed.where, *ends)).astype(np.int64)
        named.table.check_first_row(
            not rows.all(), "id", *["label"][: len(named.table.columns) - 1]
        )
        return rows, named.ids.to_pylist()
    coded = pa.concat_arrays(ends).dictionary_encode()
    index = coded.indices.to_numpy().astype(np.int64).reshape(2, -1)
    assert listed.table is not None
    words = [not is_number(end[0].as_py()) for end in ends]
    known = bool(np.isin(index[:, 1:], index[words, 0]).any())
    listed.table.check_first_row(known, "source", "target")
    return index, coded.dictionary.to_pylist()


def rows_of(named: Named, ids: Named) -> Any:
    """The rows in ``ids`` of the nodes of ``named``; both must name the same nodes."""
    named.find(ids.table.where, ids.ids)  # refuses unknown nodes
    return ids.find(named.table.where, named.ids)[0]  # refuses missing nodes


def read_targets(y: Tensor, num_nodes: int, where: str) -> tuple[Tensor, list[Any] | None]:
    """Targets in the form of their kind, and the names of the classes if they are not 0, 1, ...

    Args:
        y: the targets; shape: ``(n,)`` or ``(n, t)``
        num_nodes: number of nodes
        where: name of the targets in an error
    """
    y = y.to_dense()
    whole = not (y.is_floating_point() or y.is_complex())
    if not whole or y.shape[1:] not in ((), (1,)) or not y.dim():
        return check_targets(y, num_nodes, where), None
    y, class_names = number_classes(y.long().numpy(), num_nodes, where)
    return y, class_names


def number_classes(values: Any, num_nodes: int, path: str) -> tuple[Any, list[Any] | None]:
    """Class numbers 0, 1, ..., and the names of the classes if they are not these numbers."""
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.shape != (num_nodes,):
        raise DataError(
            f"{path} has {len(values)} labels of shape {values.shape}, but there are {num_nodes} "
            "nodes; a node without a label has the label -1"
        )
    if values.dtype.kind == "f":
        whole = (np.abs(values) < 2.0**63) & (values == np.round(values))  # and no NaN
        bad = np.flatnonzero(~whole)
        if len(bad):
            raise DataError(f"{path}, node {bad[0]}: the label {values[bad[0]]} is not a class")
        values = values.astype(np.int64)
    elif values.dtype.kind == "U" and all(map(is_integer, values.tolist())):
        values = values.astype(np.int64)
    if values.dtype.kind not in "iuU":
        raise DataError(f"{path} holds {values.dtype}, expected integers or names of classes")
    blank = (values == "-1") if values.dtype.kind == "U" else (values == -1)
    if blank.all():
        raise DataError(f"{path} has no label at all")
    names, number = np.unique(values[~blank], return_inverse=True)
    y = np.full(num_nodes, -1, dtype=np.int64)
    y[~blank] = number
    plain = names.dtype.kind != "U" and np.array_equal(names, np.arange(len(names)))
    return torch.from_numpy(y), None if plain else names.tolist()
