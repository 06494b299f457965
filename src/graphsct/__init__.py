"""Measure, understand and control the smoothness of graph network features."""

from graphsct import nn, smoothness
from graphsct.errors import GraphError, ModelError, UnreachableError
from graphsct.graph import Graph

__all__ = ["Graph", "GraphError", "ModelError", "UnreachableError", "nn", "smoothness"]
__version__ = "0.1.0"
