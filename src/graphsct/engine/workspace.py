"""What a tape works with: the graph, its sparse operators, and the weights of all runs."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from graphsct.engine.neighbourhood import Neighbourhood
from graphsct.engine.operators import Eigenspace, Operators
from graphsct.engine.weights import Weight, Weights
from graphsct.graph import Graph
from graphsct.nn.controls import SmoothnessControl

__all__ = ["GraphOperators", "Workspace"]


class GraphOperators:
    """The sparse matrices of a graph, made when they are first asked for.

    Args:
        graph: the graph
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._kept: dict[Any, Any] = {}

    def eigenspace(self, rows: Tensor | None) -> Eigenspace:
        """The basis at these rows, at all if ``None``."""
        key = "eigenspace", id(rows)
        if key not in self._kept:
            every = torch.arange(self.graph.num_nodes)
            self._kept[key] = Eigenspace(self.graph, every if rows is None else rows), rows
        found: Eigenspace = self._kept[key][0]
        return found

    def operators(
        self, rows: Tensor | None, columns: Tensor | None = None, **form: Any
    ) -> Operators:
        """The operators with these numbers at these rows and columns, at all if ``None``."""
        key = "operators", id(rows), id(columns), tuple(form.items())
        if key not in self._kept:
            made = Operators(self.graph, rows, columns, **form)
            self._kept[key] = made, rows, columns  # kept, so that no other tensor gets their ids
        found: Operators = self._kept[key][0]
        return found

    def neighbourhood(self, some: Tensor) -> Neighbourhood:
        """The nodes around some nodes."""
        key = "neighbourhood", id(some)
        if key not in self._kept:
            self._kept[key] = Neighbourhood(self.graph, some), some
        found: Neighbourhood = self._kept[key][0]
        return found


class Workspace:
    """What a tape works with.

    Args:
        operators: the operators of the graph
        weights: the weights of all runs
        model: the model that is recorded
    """

    def __init__(self, operators: GraphOperators, weights: Weights, model: torch.nn.Module) -> None:
        self.operators, self.graph, self.weights = operators, operators.graph, weights
        named = [*model.named_parameters(), *model.named_buffers()]
        self._names = {id(tensor): name for name, tensor in named}
        controls = any(
            isinstance(part, SmoothnessControl) and part.in_eigenspace for part in model.modules()
        )
        #: Rows behind features: as many as components if a control needs coordinates, else 0.
        self.coordinates = self.graph.num_components if controls else 0
        #: The parameters that were used, by name.
        self.used: dict[str, Weight] = {}

    def weight(self, parameter: Tensor) -> Weight:
        """The weight of all runs that a parameter of the recorded model stands for."""
        name = self._names[id(parameter)]
        if name not in self.used:
            self.used[name] = Weight(self.weights, name)
        return self.used[name]

    def buffer(self, tensor: Tensor) -> Tensor:
        """The values of all runs that a buffer of the recorded model stands for."""
        return self.weights.value[self._names[id(tensor)]]
