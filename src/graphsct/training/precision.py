"""Mixed precision: forward passes in 16 bits, weights and losses in float32."""

from __future__ import annotations

import torch

from graphsct.errors import TrainingError

__all__ = ["PRECISIONS", "check_precision"]

#: The precisions of a forward pass under :class:`torch.autocast` by name.
PRECISIONS = {"bf16": torch.bfloat16, "fp16": torch.float16}


def check_precision(name: str, x: torch.Tensor) -> torch.dtype:
    """The dtype of a precision, or an error if a model cannot be run in it.

    Args:
        name: a name in :data:`PRECISIONS`
        x: the features, on the device of the run
    """
    if name == "fp16" and x.device.type != "cuda":
        raise TrainingError(
            f"precision is 'fp16', which needs CUDA, but the run is on {x.device.type}; use "
            "precision='bf16', or device='cuda' on a machine that has CUDA"
        )
    if x.dtype != torch.float32:
        raise TrainingError(
            f"precision is {name!r}, which lowers torch.float32, but the features are {x.dtype}; "
            "leave precision out, or cast the features: data.x = data.x.float()"
        )
    return PRECISIONS[name]
