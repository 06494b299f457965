"""Exact training of one graph by many processes, each of which has some of its rows."""

from graphsct.distributed.collectives import joined
from graphsct.distributed.fit import fit
from graphsct.distributed.layout import Layout
from graphsct.distributed.part import Part
from graphsct.distributed.seeds import train
from graphsct.distributed.shard import Shard, Traffic
from graphsct.distributed.write import write_partition

__all__ = ["Layout", "Part", "Shard", "Traffic", "fit", "joined", "train", "write_partition"]
