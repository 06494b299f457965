"""The numbers of a diagnosis by name, for loggers, files and data frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphsct.plotting.saving import to_columns

if TYPE_CHECKING:
    from graphsct.diagnosis.diagnosis import Diagnosis

__all__ = ["dimension_columns", "layer_columns", "scalars"]


def layer_columns(found: Diagnosis) -> dict[str, list[Any]]:
    """One row per layer with all measures; ``smoothness`` is the median of live dimensions."""
    rows = []
    for number, layer in enumerate(found.layers, 1):
        low, median, high = layer.quartiles or (None, None, None)
        values = {"layer": number, "state": found.states[number - 1], **layer.to_dict()}
        values |= {"dead": len(layer.dead), "smoothness": median}
        values |= {"smoothness_quarter": low, "smoothness_three_quarters": high}
        values["reach_lower"] = None if layer.reach is None else min(layer.reach.lower)
        values["reach_position"] = None if layer.reach is None else layer.reach.position
        del values["quartiles"], values["reach"], values["sizes"]
        rows.append(values)
    return to_columns(rows)


def dimension_columns(found: Diagnosis) -> dict[str, list[Any]]:
    """One row per dimension of a layer."""
    return to_columns(
        [
            {
                "layer": number,
                "name": layer.name,
                "dimension": dimension,
                "smoothness": value,
                "dead": dimension in layer.dead,
            }
            for number, layer in enumerate(found.layers, 1)
            for dimension, value in enumerate(layer.smoothness)
        ]
    )


def scalars(found: Diagnosis) -> dict[str, float]:
    """The numbers of all layers by name, such as ``smoothness/01 convs.0``, and of the whole."""
    columns = layer_columns(found)
    numbers, names = columns.pop("layer"), columns.pop("name")
    layers = [f"{number:02d} {name}" for number, name in zip(numbers, names, strict=True)]
    del columns["channels"]
    return {
        "healthy": float(found.healthy),
        "entry_gradient": found.entry.gradient_norm,
        **{
            f"{measure}/{layer}": float(value)
            for measure, values in columns.items()
            for layer, value in zip(layers, values, strict=True)
            if isinstance(value, int | float)
        },
    }
