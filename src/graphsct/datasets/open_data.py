"""Data by whatever names them: a data set, a folder, a file or an object."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from graphsct.datasets.assemble import set_splits
from graphsct.datasets.catalog import CATALOG
from graphsct.datasets.graph_list import GraphList, from_graphs
from graphsct.datasets.load import load
from graphsct.datasets.made_features import check_present
from graphsct.datasets.readers.graph_folder import from_folder
from graphsct.datasets.readers.npz import from_npz
from graphsct.datasets.readers.objects import from_data
from graphsct.datasets.readers.tu import from_tu, is_tu
from graphsct.datasets.splits import Fractions, PerClass
from graphsct.datasets.synthetic import GENERATED
from graphsct.errors import DataError
from graphsct.names import nearest
from graphsct.python_file import execute, explain, is_file

__all__ = ["is_known", "open_data", "short_name"]

Drawn = Fractions | PerClass


def open_data(
    source: Any,
    root: str | os.PathLike[str] | None = None,
    *,
    symmetrize: bool = False,
    normalize: bool = False,
    split: Drawn | None = None,
    features: str | None = None,
) -> Any:
    """Open a data set of the catalogue, or the user's own data in any form.

    The result is a ``Data`` with a ``graph``, or a :class:`GraphList`. Its ``source`` holds plain
    values that tell where the data are from and how they were read. Own data with targets but
    without a split get the default split of :class:`Fractions`, which ``source`` then says.

    Args:
        source: a name of the catalogue or ``demo``; a folder of :func:`from_folder`,
            :func:`from_ogb` or TUDatasets; a ``.npz`` of :func:`from_npz`;
            ``FILE.py:NAME``, an object or a function without arguments that returns it, where THE
            FILE IS EXECUTED; or an object itself: a ``Data``, a dataset or a list of ``Data``. A
            string that is a name of the catalogue means the data set; write ``./cora`` for a folder
            of that name
        root: folder with the raw files of data sets
        symmetrize: add missing reverse edges instead of refusing a directed graph
        normalize: make each row of features sum to one
        split: how to draw the split, instead of those that the data have
        features: the features to make for data without any: ``degree``, ``laplacian`` or
            ``one_hot``

    Example:
        >>> open_data("demo", normalize=True).source
        {'name': 'demo', 'normalize': True}
    """
    record: dict[str, Any] = {"name": short_name(source), "normalize": normalize}
    options: dict[str, Any] = dict(normalize=normalize, features=features)
    if is_known(source):
        data = load(source, root, **options)
    else:
        data = _read(source, symmetrize=symmetrize, **options)
        if isinstance(source, str | os.PathLike):
            record["path"] = str(Path(source).expanduser().absolute())
        record |= {"symmetrize": True} if symmetrize else {}
    if split is None and getattr(data, "y", None) is not None and not hasattr(data, "train_mask"):
        split = Fractions()
    if split is not None:
        _draw(split, data)
        record["split"] = {"kind": type(split).__name__, **asdict(split)}
    record |= {} if features is None else {"features": features}
    data.source = record
    return data if isinstance(data, GraphList) else check_present(data)


def is_known(source: Any) -> bool:
    """Whether this is the name of a data set, in upper or lower case."""
    return isinstance(source, str) and source.lower() in {**CATALOG, **GENERATED}


def short_name(source: Any) -> str:
    """A name for data, without the folders and the ending of a file.

    Example:
        >>> short_name("Cora"), short_name("folder/my_data.py:load"), short_name("./cora")
        ('cora', 'my_data', 'cora')
    """
    if is_known(source):
        return str(source).lower()
    if not isinstance(source, str | os.PathLike):
        return str(getattr(source, "name", None) or "data")
    text = os.fspath(source)
    return Path(text.rpartition(":")[0] if is_file(text) else text).absolute().stem


def _read(source: Any, **options: Any) -> Any:
    """The user's own data."""
    name = short_name(source)
    if not isinstance(source, str | os.PathLike):
        return _from_object(source, name, **options)
    if is_file(os.fspath(source)):
        return _from_object(_load_object(os.fspath(source)), name, **options)
    path = Path(source).expanduser()
    if path.is_dir():
        return from_tu(path, **options) if is_tu(path) else from_folder(path, **options)
    if path.suffix == ".npz" and path.is_file():
        return from_npz(path, normalize=options["normalize"], features=options["features"])
    if path.exists():
        raise DataError(
            f"{path} is not a .npz with a whole graph; put it into a folder as edges{path.suffix}, "
            "and beside it features, labels and split.npz"
        )
    raise DataError(
        f"there is no data set, file or folder {str(source)!r}{nearest(source, [*CATALOG, 'demo'])}"
    )


def _from_object(found: Any, name: str, **options: Any) -> Any:
    from torch_geometric.data import Dataset

    if isinstance(found, GraphList):
        return found
    if isinstance(found, Dataset | list | tuple) and len(found) != 1:
        return from_graphs(found, name=name, **options)
    return from_data(found, name=name, **options)


def _load_object(target: str) -> Any:
    """Execute a user's file, and return an object in it, or what a function in it returns."""
    place, colon, name = target.rpartition(":")
    if not colon:
        raise DataError(f"{target!r} names a file, but nothing in it; expected {target}:NAME")
    module = execute(place, DataError)
    public = [key for key in vars(module) if not key.startswith("_")]
    if name not in public:
        raise DataError(f"{place} does not define {name!r}{nearest(name, public)}")
    found = getattr(module, name)
    if not callable(found):
        return found
    try:
        return found()
    except Exception as error:  # whatever a user's function may raise
        raise DataError(f"{name}() in {place} failed: {explain(error)}") from error


def _draw(split: Drawn, data: Any) -> None:
    y = getattr(data, "y", None)
    if y is None:
        raise DataError(f"{data.name} has no labels and no targets from which {split} could draw")
    if isinstance(data, GraphList):
        data.set_splits([split.draw(y)])
    else:
        set_splits(data, [split.draw(y)])
