"""Fingerprints, which tell runs apart by their settings, models and data."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from graphsct.errors import TrainingError
from graphsct.training.config import TrainConfig

__all__ = ["check_same", "digest", "fingerprint"]


def fingerprint(
    model: torch.nn.Module, data: Mapping[str, Any], config: TrainConfig
) -> dict[str, Any]:
    """Plain values by name, equal for two runs only if they must give the same result.

    The first weights are not among them, because a checkpoint brings its own.

    Args:
        model: its class, settings and shapes count
        data: plain values that tell the data apart from others
        config: everything but ``checkpoint_every`` counts
    """
    train = config.to_dict()
    del train["checkpoint_every"]  # changes nothing
    return {"train": train, "model": _identify_model(model), "data": dict(data)}


def _identify_model(model: torch.nn.Module) -> dict[str, Any]:
    found: dict[str, Any] = {"class": type(model).__name__}
    for path, module in model.named_modules():
        for name, value in vars(module).items():
            plain = isinstance(value, bool | int | float | str)
            if plain and name != "training" and not name.startswith("_"):
                found[f"{path}.{name}".lstrip(".")] = value
    for name, tensor in model.state_dict().items():
        found[name] = f"{tuple(tensor.shape)} {tensor.dtype}"
    return found


def digest(tensor: Tensor) -> str:
    """Shape and hash of the values."""
    parts = [tensor]
    if tensor.layout == torch.sparse_csr:
        parts = [tensor.crow_indices(), tensor.col_indices(), tensor.values()]
    found = hashlib.blake2b(digest_size=8)
    for part in parts:
        found.update(part.detach().cpu().contiguous().numpy().tobytes())
    return f"{tuple(tensor.shape)} {found.hexdigest()}"


def check_same(there: Any, here: Mapping[str, Any], place: Path | str, way_out: str) -> None:
    """Raise an error if a file belongs to another run, and name the differences."""
    old = dict(_flatten(there)) if isinstance(there, Mapping) else {}
    new = dict(_flatten(here))
    wrong = [key for key in {**old, **new} if old.get(key) != new.get(key)]
    if wrong:
        shown = "; ".join(f"{k} is {_show(old, k)} there, {_show(new, k)} here" for k in wrong[:3])
        more = f"; and {len(wrong) - 3} more" if len(wrong) > 3 else ""
        raise TrainingError(f"{place} belongs to another run: {shown}{more}. {way_out}")


def _flatten(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _flatten(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _show(values: Mapping[str, Any], key: str) -> str:
    return repr(values[key]) if key in values else "missing"
