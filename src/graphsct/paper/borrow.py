"""Cells whose activation is given take their settings from the one in which it was searched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from graphsct.paper.cell import Cell, Key, Settings
from graphsct.training.config import OF_ACTIVATION

__all__ = ["borrow"]


def borrow(key: Key, cells: Mapping[Key, Cell]) -> Cell | None:
    """The same cell with a free activation, put to the one that ``key`` asks for.

    So two activations are compared with all else equal. If it is the activation that the search
    chose, the runs are the same, and are taken too.

    Args:
        key: which cell
        cells: to take from
    """
    source = cells.get(key._replace(activation=None))
    if source is None or key.activation is None:
        return None
    settings = _with_activation(source.settings, key.activation)
    found = None if source.found is None else {**source.found, "of": source.key.name}
    same = settings == source.settings
    return Cell(key, settings, found, source.results if same else (), versions=source.versions)


def _with_activation(settings: Settings, activation: str) -> Settings:
    others: dict[str, Any] = {n: None for n, owner in OF_ACTIVATION.items() if owner != activation}
    return replace(settings, model=replace(settings.model, activation=activation, **others))
