"""Readers of the user's own graph: from files, a folder, or the objects of other libraries."""

from graphsct.datasets.readers.graph_files import from_files
from graphsct.datasets.readers.graph_folder import from_folder
from graphsct.datasets.readers.npz import from_npz
from graphsct.datasets.readers.objects import from_data, from_networkx
from graphsct.datasets.readers.ogb import from_ogb

__all__ = ["from_data", "from_files", "from_folder", "from_networkx", "from_npz", "from_ogb"]
