"""Whether the search for a cell could choose the settings that the authors of its base publish.

The first searches had a space without many of these settings, and some tried few channels only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphsct.paper.author_settings import published_settings
from graphsct.paper.cell import Cell, Key
from graphsct.search.space import chosen_in, space
from graphsct.search.task import Task

__all__ = ["reference", "unreached"]

#: Channels that a search must be able to choose where nothing is published.
_HIDDEN = 64
#: Choices that the first search space did not have.
_LATER: Mapping[str, tuple[Any, ...]] = {
    "depth": (32,),
    "hidden": (256,),
    "learning_rate": (3e-3, 5e-3),
    "conv_weight_decay": (5e-5,),
    "dense_weight_decay": (5e-5,),
    "offset_weight_decay": (1e-4,),
    "theta": (1.0, 1.5),
    "c_min": (0.11, 0.12, 0.15),
    "share": (2 / 3, 5 / 6, 1.0),
    "drop_output": (False,),
}


def reference(key: Key) -> dict[str, Any]:
    """The choices of a search that equal the published settings; 64 channels if there are none.

    Example:
        >>> reference(Key("citeseer", "gcnii", None, 32))["hidden"]
        256
        >>> reference(Key("cora", "gcn", None, 2))
        {'hidden': 64}
    """
    for found in published_settings(key):
        return chosen_in(Task(*key), found.model, found.train, found.normalize)
    return {"hidden": _HIDDEN}


def unreached(cell: Cell) -> tuple[str, ...]:
    """Names of the published settings that the search for a cell could not choose."""
    allowed, wanted = cell.allowed, reference(cell.key)
    if allowed is None:
        return ()
    choices = space(Task(*cell.key, max_hidden=allowed.limit))
    if allowed.space is None:
        choices = {
            name: tuple(value for value in these if value not in _LATER.get(name, ()))
            for name, these in choices.items()
            if name != "depth" or cell.key.depth is None
        }
    return tuple(name for name, value in wanted.items() if value not in choices.get(name, (value,)))
