"""Remedies that change the loss."""

from __future__ import annotations

from graphsct.remedies.remedy import Number, Remedy

__all__ = ["LOSSES"]

LOSSES = (
    Remedy(
        "egnn",
        "EGNN",
        "losses",
        "Zhou et al., 2021",
        "https://arxiv.org/abs/2107.02392",
        "A penalty on the distance of the weights from a scaled identity keeps the energy of each "
        "layer within bounds.",
        "EnergeticGNN(..., c_max=1.0)",
        {"model": "egnn"},
        Number("c_max", (1.0, 0.5)),
        reason="its penalty belongs to convolutions of its own",
        bases=("gcn",),
    ),
)
