"""Models from a user's own file."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import safetensors.torch
import torch

from graphsct.diagnosis.remedies import DEPTH, depth_argument
from graphsct.errors import ModelError
from graphsct.names import nearest

__all__ = ["Builder", "load_builder", "load_weights"]


@dataclass(frozen=True)
class Builder:
    """A function in a user's file that builds a model.

    Args:
        name: as in ``my_model.py:build``
        function: takes the data, or the numbers of features and classes
    """

    name: str
    function: Callable[..., Any]

    def __call__(self, data: Any, depth: int | None = None) -> torch.nn.Module:
        """Build the model for some data, with this depth instead of its own if one is given."""
        required = [
            p
            for p in inspect.signature(self.function).parameters.values()
            if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]
        given: dict[int, tuple[Any, ...]]
        given = {0: (), 1: (data,), 2: (data.num_features, data.num_classes)}
        if len(required) not in given:
            raise ModelError(
                f"{self.name} takes {', '.join(p.name for p in required)}; expected (data) or "
                "(in_channels, out_channels)"
            )
        more = {}
        if depth is not None:
            argument = depth_argument(self.function)
            if argument is None:
                raise ModelError(
                    f"{self.name} takes no depth; give it an argument {DEPTH[0]}={depth}"
                )
            more[argument] = depth
        model = self.function(*given[len(required)], **more)
        if not isinstance(model, torch.nn.Module):
            raise ModelError(
                f"{self.name} returned a {type(model).__name__}, expected a torch.nn.Module"
            )
        return model


def load_builder(target: str) -> Builder:
    """Execute a user's file and find the function that builds the model.

    Args:
        target: path and name, ``my_model.py:build``
    """
    place, colon, name = target.rpartition(":")
    if not colon or not place.endswith(".py"):
        raise ModelError(
            f"{target!r} is not a model; expected a file and a function: my_model.py:build"
        )
    path = Path(place).resolve()
    if not path.is_file():
        raise ModelError(f"there is no file {place}")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ModelError(f"{place} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent))  # as if Python ran the file itself
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(path.parent))
    found = getattr(module, name, None)
    if not callable(found):
        own = [key for key, value in vars(module).items() if callable(value) and key[0] != "_"]
        raise ModelError(f"{place} has no function {name!r}{nearest(name, own)}")
    return Builder(target, found)


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
