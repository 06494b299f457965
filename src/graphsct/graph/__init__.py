"""The central object: an undirected graph with its operator and its eigenspace."""

from graphsct.graph.graph import Graph

__all__ = ["Graph"]
