"""Measure, understand and control the smoothness of graph network features."""

from graphsct import geometry, smoothness
from graphsct.errors import GraphError, UnreachableError
from graphsct.graph import Graph

__all__ = ["Graph", "GraphError", "UnreachableError", "geometry", "smoothness"]
__version__ = "0.1.0"
