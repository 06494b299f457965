"""The device of a run: found by name, and everything moved to it once."""

from __future__ import annotations

import copy
from contextlib import suppress
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from graphsct.errors import GraphError, TrainingError
from graphsct.graph import Graph
from graphsct.graph.cache import keep_graph, kept_graph

__all__ = ["Device", "Mover", "find_device", "name_device"]

#: The name of a device, ``auto`` among them, or the device.
Device = str | torch.device


def find_device(device: Device) -> torch.device:
    """A device of this machine.

    Args:
        device: such as ``cpu``, ``cuda`` or ``cuda:1``; ``auto`` is CUDA, else MPS if PyTorch can
            multiply sparse matrices there, else the CPU

    Example:
        >>> find_device("cpu")
        device(type='cpu')
    """
    known = _devices()
    if device == "auto":
        return next(own for own in known if _takes_graphs(own))
    try:
        wanted = torch.device(device)
    except (RuntimeError, TypeError):
        wanted = None
    for own in known:
        if wanted is not None and own.type == wanted.type and wanted.index in (None, own.index):
            return own
    shown = ", ".join(map(str, known))
    raise TrainingError(
        f"device is {str(device)!r}, which is not available here; the devices here are {shown}, "
        "and device='auto' takes the first that can be used"
    )


def _devices() -> list[torch.device]:
    """The devices of this machine: CUDA from the current one on, MPS, CPU."""
    found = [torch.device("cuda", number) for number in range(torch.cuda.device_count())]
    if found:
        found.insert(0, found.pop(torch.cuda.current_device()))
    if torch.backends.mps.is_available():
        found.append(torch.device("mps", 0))
    return [*found, torch.device("cpu")]


def _takes_graphs(device: torch.device) -> bool:
    try:
        Graph([[0], [0]], device=device).propagate(torch.ones(1, 1, device=device))
    except (GraphError, RuntimeError):
        return False
    return True


def name_device(device: torch.device) -> str:
    """The device for the record of a run, with the name of a GPU."""
    if device.type != "cuda":
        return device.type
    return f"{device} {torch.cuda.get_device_name(device)}"


class Mover:
    """Moves tensors, graphs and data to a device; what several hold is moved once.

    Data are copied first, so that the caller's stay where they are. A graph that is built is moved
    and not built again. Sparse features become dense on MPS, where PyTorch has no sparse ones.

    Args:
        device: of :func:`find_device`

    Example:
        >>> from graphsct.datasets import demo
        >>> data = demo()
        >>> moved = Mover(find_device("cpu"))(data)
        >>> moved is data, moved.x is data.x
        (False, True)
    """

    def __init__(self, device: torch.device) -> None:
        self.device = device
        # With the original, which thus keeps its id.
        self._moved: dict[int, tuple[Any, Any]] = {}

    def __call__(self, value: Any) -> Any:
        """The same value on the device; values of other kinds stay as they are."""
        if isinstance(value, tuple):
            parts = map(self, value)
            return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        if not hasattr(value, "to"):
            return value
        if id(value) not in self._moved:
            self._moved[id(value)] = value, self._move(value)
        return self._moved[id(value)][1]

    def _move(self, value: Any) -> Any:
        if isinstance(value, Data):
            graph = None if value.edge_index is None else kept_graph(value)
            moved = copy.copy(value).apply(self)
            if graph is not None:
                with suppress(GraphError):  # MPS holds no graphs
                    keep_graph(moved, self(graph))
            return moved
        if (
            self.device.type == "mps"
            and isinstance(value, Tensor)
            and value.layout != torch.strided
        ):
            value = value.to_dense()
        return value.to(self.device)
