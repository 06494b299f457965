"""Remedies that control the smoothness of the features."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch

from graphsct.errors import ModelError
from graphsct.graph.cache import graph_of
from graphsct.names import pick
from graphsct.nn import CONTROLS, SmoothnessControl, control_convolutions
from graphsct.nn.model import Model
from graphsct.nn.wrap import ControlledConv
from graphsct.remedies.convolutions import outputs_of
from graphsct.remedies.remedy import Number, Remedy

__all__ = ["CONTROLLED"]


def _control(
    model: torch.nn.Module,
    data: Any,
    value: float | None,
    *,
    control: str,
    option: str = "",
    **options: Any,
) -> None:
    """Give a model a control, with a value for one of its options."""
    components = None
    if pick(CONTROLS, control, "control").needs_components:
        if data is None:
            raise ModelError(
                f"control {control!r} has one weight for each component of the graph: pass data=..."
            )
        components = graph_of(data).num_components
    if option:
        options[option] = value
    if isinstance(model, Model):
        _control_ours(model, control, components, options)
    else:
        weight = next(model.parameters())
        control_convolutions(
            model,
            control,
            num_components=components,
            num_outputs=outputs_of(model, data),
            control_options=options,
        )
        for part in model.modules():
            if isinstance(part, ControlledConv):
                part.control.to(weight)
    if not any(isinstance(part, SmoothnessControl) for part in model.modules()):
        raise ModelError(
            f"no layer of the model has control {control!r}, which begins at a later layer than "
            "the model's last one; a control in all layers: "
            f'control="{control}", control_options={{"first": 1}}'
        )


def _control_ours(
    model: Model, control: str, components: int | None, options: dict[str, Any]
) -> None:
    if not model.num_layers or not all(hasattr(conv, "control") for conv in model.convs):
        raise ModelError(f"{model.title} has no convolutions that take a control")
    for layer, conv in enumerate(model.convs, 1):
        made = SmoothnessControl(
            model.hidden_channels, control, num_components=components, layer=layer, **options
        )
        made.before(model.activations[layer])
        own = made.to(model.output.weight) if layer >= made.first else None
        setattr(conv, "control", own)  # noqa: B010, a Module to mypy


_SCT = ("Wang et al., 2024", "https://arxiv.org/abs/2410.14604")
_OURS = ("graphsct, 2026", "https://arxiv.org/abs/2410.14604")

CONTROLLED = (
    Remedy(
        "sct_pooled",
        "SCT, pooled",
        "controls",
        *_SCT,
        "A learnable term in the eigenspace sets the smoothness of each channel.",
        'GCN(..., control="pooled", num_components=graph.num_components)',
        {"control": "pooled"},
        change=partial(_control, control="pooled"),
    ),
    Remedy(
        "sct_gated",
        "SCT, gated",
        "controls",
        *_SCT,
        "A learnable term in the eigenspace sets the smoothness of each channel, on any graph.",
        'GCN(..., control="gated", theta=0.5)',
        {"control": "gated"},
        Number("theta", (0.5, 0.1)),
        change=partial(_control, control="gated", option="theta"),
    ),
    Remedy(
        "bias",
        "bias alone",
        "controls",
        *_SCT,
        "None: it shows what the control's plain bias does without the eigenspace.",
        'GCN(..., control="bias")',
        {"control": "bias"},
        change=partial(_control, control="bias"),
    ),
    Remedy(
        "normalized",
        "normalised rough part",
        "controls",
        *_OURS,
        "The sizes of the rough and the smooth part are weights from layer 5 on, so depth cannot "
        "change them.",
        'GCN(..., control="normalized")',
        {"control": "normalized"},
        Number("control_options.beta", (0.5, 1.0)),
        change=partial(_control, control="normalized", option="beta"),
    ),
    Remedy(
        "target",
        "wanted smoothness",
        "controls",
        *_OURS,
        "Every channel of every layer has exactly the wanted smoothness and the size of its input.",
        'GCN(..., control="target", control_options={"target": 0.8})',
        {"control": "target"},
        Number("control_options.target", (0.8, 0.5)),
        change=partial(_control, control="target", option="target"),
        bases=("gcn", "gcnii"),  # the range of EGNN's activation is not known
    ),
)
