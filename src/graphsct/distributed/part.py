"""The part of a data set that one process holds."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import torch
from scipy.sparse import csr_array
from torch import Tensor

from graphsct.datasets.features import to_tensor
from graphsct.datasets.splits import Split
from graphsct.distributed.collectives import device, gather, rank, total, world
from graphsct.distributed.layout import Layout
from graphsct.distributed.shard import Shard
from graphsct.errors import DataError
from graphsct.training.data import SplitData

__all__ = ["Part"]


@dataclass(frozen=True)
class Part:
    """The rows of one process; counts of features, classes and components are those of the whole.

    Args:
        layout: description of the whole
        graph: rows of the operator
        x: features, dense or sparse CSR; shape: ``(n, d)``
        y: labels, -1 for none; shape: ``(n,)``
        splits: masks over the nodes of this process
        order: number of each training node among those of all, by split; shape: ``(splits, n)``
        entries: number of each value of sparse features among those of all, ``None`` if dense
    """

    layout: Layout
    graph: Shard
    x: Tensor
    y: Tensor
    splits: list[Split]
    order: Tensor
    entries: Tensor | None

    @classmethod
    def load(cls, folder: str | os.PathLike[str], dtype: torch.dtype = torch.float32) -> Part:
        """Map the part of this process into memory; all processes call this together.

        Damaged files are refused, and files that differ from those of another process.

        Args:
            folder: folder of :func:`~graphsct.distributed.write_partition`
            dtype: precision of features and operator
        """
        layout, arrays = _open(Path(folder))
        if "x" in arrays:
            x, entries = arrays["x"], None
        else:
            starts, columns = arrays["x_starts"], arrays["x_columns"]
            values = (arrays["x_values"].numpy(), columns.numpy(), starts.numpy())
            x = to_tensor(csr_array(values, shape=(len(starts) - 1, layout.features)))
            before = arrays["x_places"] - starts[:-1]
            entries = before.repeat_interleave(starts.diff()) + torch.arange(len(columns))
        return cls(
            layout,
            Shard(arrays, layout.components, dtype=dtype, device=device()),
            x.to(device(), dtype),
            arrays["y"].to(device()),
            [Split(*masks) for masks in arrays["masks"].to(device())],
            arrays["order"],
            entries,
        )

    @property
    def num_features(self) -> int:
        """Number of features of a node."""
        return self.layout.features

    @property
    def num_classes(self) -> int:
        """Number of classes of the whole data set."""
        return self.layout.classes

    def data(self, split: int | None = None) -> SharedData:
        """The data of one split, checked when they were written."""
        number = split or 0
        if not 0 <= number < len(self.splits):
            raise DataError(
                f"{self.layout.name} has {len(self.splits)} splits; {number} is not among them"
            )
        masks = self.splits[number]
        return SharedData(
            self.x, (self.graph,), self.y, masks.train, masks.val, self.layout.name, split=masks
        )


class SharedData(SplitData):
    """The rows of one process, whose test accuracy is that of all processes."""

    def scores(self, model: torch.nn.Module) -> Tensor:
        """Scores of own rows; an error may be that of another process, and is left as it is."""
        scores: Tensor = model(self.x, *self.edges)
        return scores

    def test_score(self, model: torch.nn.Module) -> float:
        """Share of the test nodes of all processes that a model classifies correctly."""
        right = (self.evaluate(model).argmax(dim=1) == self.y)[self.split.test]
        own = torch.tensor([right.sum(), len(right)], device=right.device)
        found, count = total(own).tolist()
        return float(found / count)


def _open(folder: Path) -> tuple[Layout, dict[str, Tensor]]:
    """The arrays of this process, if every process has the right ones."""
    failure, found = None, torch.zeros(33, dtype=torch.uint8)
    try:
        layout = Layout.read(folder)
        if len(layout.parts) != world():
            raise DataError(
                f"{folder} has {len(layout.parts)} parts, but there are {world()} processes; start "
                "one process per part, or write another partition with "
                "graphsct.distributed.write_partition(data, folder, parts)"
            )
        arrays = layout.open(folder, rank())
        found[0] = 1
        found[1:] = torch.frombuffer(bytearray.fromhex(layout.sha256), dtype=torch.uint8)
    except DataError as error:
        failure = error
    answers = [answer.cpu() for answer in gather(found.to(device()))]
    if failure is not None:
        raise failure
    for other, answer in enumerate(answers):
        if not answer[0]:
            raise DataError(f"process {other} has no data to train on; its own message says why")
        if not torch.equal(answer, found):
            theirs = answer[1:].numpy().tobytes().hex()
            raise DataError(
                f"process {other} has another partition than process {rank()} in {folder}: its "
                f"checksum is {theirs[:16]}..., here it is {layout.sha256[:16]}...; give all "
                "machines the same files"
            )
    return layout, arrays
