"""Cells whose activation is given take their settings from the one in which it was searched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from graphsct.experiments.cell import Cell, Key, Settings

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
    old = settings.model
    model = replace(
        old,
        activation=activation,
        offset=old.offset if activation == "srelu" else None,
        negative_slope=old.negative_slope if activation == "leaky_relu" else None,
    )
    return replace(settings, model=model)
