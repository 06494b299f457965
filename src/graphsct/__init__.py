"""Measure, understand and control the smoothness of graph network features."""

from graphsct import datasets, smoothness
from graphsct.errors import DataError, GraphError, UnreachableError
from graphsct.graph import Graph

__all__ = ["DataError", "Graph", "GraphError", "UnreachableError", "datasets", "smoothness"]
__version__ = "0.1.0"
