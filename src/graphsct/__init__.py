"""Measure, understand and control the smoothness of graph network features."""

import logging
from importlib import import_module
from typing import TYPE_CHECKING

from graphsct.errors import (
    DataError,
    GraphError,
    GraphsctError,
    ModelError,
    TrainingError,
    UnreachableError,
)

if TYPE_CHECKING:
    from graphsct import (
        datasets,
        diagnosis,
        distributed,
        geometry,
        nn,
        remedies,
        search,
        smoothness,
        training,
    )
    from graphsct.diagnosis.diagnose import diagnose
    from graphsct.graph import Graph
    from graphsct.training.fit import fit
    from graphsct.training.many import fit_many

    __version__: str

__all__ = [
    "DataError",
    "Graph",
    "GraphError",
    "GraphsctError",
    "ModelError",
    "TrainingError",
    "UnreachableError",
    "datasets",
    "diagnose",
    "diagnosis",
    "distributed",
    "fit",
    "fit_many",
    "geometry",
    "nn",
    "remedies",
    "search",
    "smoothness",
    "training",
]

# Silent until an application configures logging.
logging.getLogger(__name__).addHandler(logging.NullHandler())

# What needs PyTorch is imported at first use, so that the command starts at once.
_MODULES = {
    "datasets",
    "diagnosis",
    "distributed",
    "geometry",
    "nn",
    "remedies",
    "search",
    "smoothness",
    "training",
}
_HOMES = {
    "Graph": "graphsct.graph",
    "diagnose": "graphsct.diagnosis.diagnose",
    "fit": "graphsct.training.fit",
    "fit_many": "graphsct.training.many",
}

if not TYPE_CHECKING:  # a type checker would take any name for a public one

    def __getattr__(name):
        if name in _MODULES:
            return import_module(f"graphsct.{name}")
        if name in _HOMES:
            value = globals()[name] = getattr(import_module(_HOMES[name]), name)
            return value
        if name == "__version__":
            metadata = import_module("importlib.metadata")
            try:
                return metadata.version("graphsct")
            except metadata.PackageNotFoundError:
                return "0+unknown"  # source that is on the path but not installed
        raise AttributeError(f"module 'graphsct' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
