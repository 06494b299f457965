"""Weights of models in files."""

from __future__ import annotations

from pathlib import Path

import safetensors.torch
import torch

from graphsct.errors import ModelError

__all__ = ["load_weights"]


def load_weights(model: torch.nn.Module, path: Path) -> None:
    """Load the weights of a ``.safetensors`` file or a saved state dict into a model.

    Only tensors are read; a pickle of anything else is refused.
    """
    try:
        if path.suffix == ".safetensors":
            weights = safetensors.torch.load_file(path)
        else:
            weights = torch.load(path, map_location="cpu", weights_only=True)
        model.load_state_dict(weights)
    except OSError:
        raise
    except Exception as error:  # a damaged or foreign file raises almost anything
        reason = " ".join(str(error).split())
        raise ModelError(
            f"{path} holds no weights for {type(model).__name__}: {reason[:300]}; save them with "
            "torch.save(model.state_dict(), ...)"
        ) from error
