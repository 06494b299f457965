"""The data sets of the catalogue, the user's own graphs, and graphs generated from a seed."""

from graphsct.datasets.assemble import describe, edge_homophily
from graphsct.datasets.catalog import CATALOG
from graphsct.datasets.graph_list import GraphList, from_graphs
from graphsct.datasets.load import leaks, load, verify
from graphsct.datasets.open_data import open_data
from graphsct.datasets.readers import (
    from_data,
    from_files,
    from_folder,
    from_networkx,
    from_npz,
    from_ogb,
)
from graphsct.datasets.splits import Fractions, PerClass, Split
from graphsct.datasets.synthetic import arxiv_like, csbm, demo

__all__ = [
    "CATALOG",
    "Fractions",
    "GraphList",
    "PerClass",
    "Split",
    "arxiv_like",
    "csbm",
    "demo",
    "describe",
    "edge_homophily",
    "from_data",
    "from_files",
    "from_folder",
    "from_graphs",
    "from_networkx",
    "from_npz",
    "from_ogb",
    "leaks",
    "load",
    "open_data",
    "verify",
]
