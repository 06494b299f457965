"""Models that a user defines in a Python file of their own."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard

from graphsct.errors import ModelError
from graphsct.names import nearest
from graphsct.nn.blueprint import MODELS, Blueprint, Space
from graphsct.nn.model import Model, register
from graphsct.nn.model_function import ModelFunction
from graphsct.python_file import execute, is_file

__all__ = ["ModelSource", "is_model", "load_model", "load_object"]


def load_model(target: str) -> Blueprint:
    """Execute a user's file, and return what builds its models, registered by its name.

    Args:
        target: a path and the name of a function, of a class, or of a model: ``my_model.py:Net``
    """
    found = load_object(target)
    if is_model(found):
        return found
    place, _, name = target.rpartition(":")
    path = Path(place).resolve()
    made = ModelFunction(f"{path.name}:{name}", found, str(path), _space(place))
    owner = MODELS.get(made.name, made)
    if not isinstance(owner, ModelFunction) or owner.path != made.path:
        raise ModelError(
            f"the name {made.name!r} belongs to {getattr(owner, 'path', owner.title)}: give one of "
            "the two files another name"
        )
    MODELS[made.name] = made
    return made


def load_object(target: str) -> Any:
    """Execute a user's file, and return an object that it defines; a model of ours is registered.

    Args:
        target: a path and a name in the file: ``my_model.py:build``
    """
    place, colon, name = target.rpartition(":")
    if not colon or not place.endswith(".py"):
        raise ModelError(
            f"{target!r} is not a model; expected a file and a name in it: my_model.py:Net"
        )
    module = execute(place, ModelError)
    named = {k: v for k, v in vars(module).items() if callable(v) and not k.startswith("_")}
    models = {v.name: v for v in named.values() if is_model(v) and hasattr(v, "name")}
    known: dict[str, Any] = models | named
    if name not in known:
        own = [k for k, v in known.items() if getattr(v, "__module__", "") == module.__name__]
        raise ModelError(f"{place} does not define {name!r}{nearest(name, own) if own else ''}")
    found = known[name]
    if is_model(found) and found not in MODELS.values():
        register(found)
    return found


def is_model(found: Any) -> TypeGuard[type[Model]]:
    """Whether an object is a class that inherits :class:`Model`."""
    return isinstance(found, type) and issubclass(found, Model)


@dataclass(frozen=True)
class ModelSource:
    """The place where a model is defined, from which another process can register it.

    Args:
        name: name of the model
        module: name of a module that can be imported, or path of a file to execute
        attribute: name of the class or function in it
    """

    name: str
    module: str
    attribute: str

    @classmethod
    def of(cls, name: str) -> ModelSource | None:
        """The source of a registered model, none if every process has it, or an error if other
        processes cannot find it.
        """
        model = MODELS[name]
        if isinstance(model, ModelFunction):
            return cls(name, model.path, name.rpartition(":")[2])
        if not is_model(model):
            return None
        module: Any = sys.modules.get(model.__module__)
        path = getattr(module, "__file__", None)
        if path is None or getattr(module, model.__qualname__, None) is not model:
            raise ModelError(
                f"other processes cannot find the model {name!r}: define {model.__name__} at the "
                "top level of a file"
            )
        is_script = model.__module__ in ("__main__", "__mp_main__")
        place = os.path.realpath(path) if is_script else model.__module__
        return cls(name, place, model.__qualname__)

    def load(self) -> None:
        """Register the model in this process, unless it is registered already."""
        if self.name in MODELS:
            return
        if is_file(self.module):
            load_model(f"{self.module}:{self.attribute}")
            return
        module: Any = importlib.import_module(self.module)
        if self.name not in MODELS:
            register(getattr(module, self.attribute))


def _space(place: str) -> Space:
    """The ``space`` of a file that was executed: the choices of a search, by name."""
    space = getattr(sys.modules[str(Path(place).resolve())], "space", {})
    if not isinstance(space, Mapping):
        raise ModelError(
            f"space in {place} is a {type(space).__name__}, expected names and choices: "
            'space = {"heads": (1, 2, 4)}'
        )
    for name, choices in space.items():
        if not isinstance(choices, Sequence) or isinstance(choices, str) or not choices:
            raise ModelError(f"space in {place}: {name} is {choices!r}, expected several choices")
    return {name: tuple(choices) for name, choices in space.items()}
