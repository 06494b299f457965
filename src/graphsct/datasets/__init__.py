"""The paper's data sets, the user's own graph, and graphs generated from a seed."""

from graphsct.datasets.assemble import describe, edge_homophily
from graphsct.datasets.catalog import CATALOG
from graphsct.datasets.load import leaks, load, verify
from graphsct.datasets.readers import (
    from_data,
    from_files,
    from_folder,
    from_networkx,
    from_ogb,
)
from graphsct.datasets.splits import Fractions, PerClass, Split
from graphsct.datasets.synthetic import arxiv_like, csbm, demo

__all__ = [
    "CATALOG",
    "Fractions",
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
    "from_networkx",
    "from_ogb",
    "leaks",
    "load",
    "verify",
]
