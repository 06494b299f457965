"""Functions of a user that build models, and the weights of models."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import safetensors.torch
import torch

from graphsct.diagnosis.remedies import DEPTH, depth_argument
from graphsct.errors import ModelError
from graphsct.nn.model_file import call_constructor

__all__ = ["Builder", "load_weights"]


@dataclass(frozen=True)
class Builder:
    """A function in a user's file that builds a model.

    Args:
        name: as in ``my_model.py:build``
        function: takes the data, or the numbers of features and classes
    """

    name: str
    function: Callable[..., Any]

    def __call__(self, data: Any, depth: int | None = None, **options: Any) -> torch.nn.Module:
        """Build the model for some data.

        Args:
            data: the data
            depth: number of layers, if the function takes one; by default the function's own
            options: further arguments of the function
        """
        required = [
            p
            for p in inspect.signature(self.function).parameters.values()
            if p.default is p.empty
            and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
            and p.name not in options
        ]
        given: dict[int, tuple[Any, ...]]
        given = {0: (), 1: (data,), 2: (data.num_features, data.num_classes)}
        if len(required) not in given:
            raise ModelError(
                f"{self.name} takes {', '.join(p.name for p in required)}; expected (data) or "
                "(in_channels, out_channels)"
            )
        if depth is not None:
            argument = depth_argument(self.function)
            if argument is None:
                raise ModelError(
                    f"{self.name} takes no depth; give it an argument {DEPTH[0]}={depth}"
                )
            options[argument] = depth
        sizes = given[len(required)]
        model = call_constructor(self.function, self.name, *sizes, **options)
        if not isinstance(model, torch.nn.Module):
            raise ModelError(
                f"{self.name} returned a {type(model).__name__}, expected a torch.nn.Module"
            )
        return model


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
