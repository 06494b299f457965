"""Models that a user defines in a Python file of their own."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeGuard, TypeVar

from graphsct.errors import GraphsctError, ModelError
from graphsct.names import nearest
from graphsct.nn.model import MODELS, Model, register
from graphsct.python_file import execute, explain, is_file

__all__ = ["ModelSource", "call_constructor", "is_model", "load_model", "load_object"]

T = TypeVar("T")


def load_model(target: str) -> type[Model]:
    """Execute a user's file, and return a model that it defines, registered by its name.

    Args:
        target: a path and the name of a class, or its name as a model: ``my_model.py:Net``
    """
    found = load_object(target)
    if not is_model(found):
        raise ModelError(
            f"{target} is a {'class' if isinstance(found, type) else type(found).__name__}, "
            "expected a class that inherits graphsct.nn.Model"
        )
    return found


def load_object(target: str) -> Any:
    """Execute a user's file, and return a model, registered by its name, or a function.

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


def call_constructor(make: Callable[..., T], name: str, *args: Any, **options: Any) -> T:
    """Call a class or function that makes a model; its errors become errors of ours.

    Args:
        make: the class or function
        name: its name in the error
        args: its positional arguments
        options: its keyword arguments
    """
    try:
        return make(*args, **options)
    except GraphsctError:
        raise
    except Exception as error:
        raise ModelError(f"{name} cannot be built: {explain(error)}") from error


@dataclass(frozen=True)
class ModelSource:
    """The place where a model is defined, from which another process can register it.

    Args:
        name: name of the model
        module: name of a module that can be imported, or path of a file to execute
        class_name: name of the class in it
    """

    name: str
    module: str
    class_name: str

    @classmethod
    def of(cls, name: str) -> ModelSource:
        """The source of a registered model, or an error if other processes cannot find it."""
        model = MODELS[name]
        module = sys.modules.get(model.__module__)
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
        module: Any = (
            execute(self.module, ModelError)
            if is_file(self.module)
            else importlib.import_module(self.module)
        )
        if self.name not in MODELS:
            register(getattr(module, self.class_name))
