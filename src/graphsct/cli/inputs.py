"""The data and the model of a command."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import typer

__all__ = [
    "announce",
    "load_data",
    "model_name",
    "propose_metric",
    "read_options",
    "read_split",
    "settings",
]

_WORDS = {"True": True, "False": False, "None": None}


def load_data(source: str, given: dict[str, Any], *, normalize: bool | None = False) -> Any:
    """Open a data set by name, or the user's own data; announce a file that is executed.

    Args:
        source: as for :func:`graphsct.datasets.open_data`
        given: values of a command's options by name
        normalize: make each row of features sum to one
    """
    from graphsct.datasets import open_data
    from graphsct.python_file import is_file

    split = read_split(given.get("split"), given["split_seed"])
    if is_file(source):
        announce(source)
    data = open_data(
        source,
        given.get("root"),
        symmetrize=given["symmetrize"],
        normalize=bool(normalize),
        split=split,
        features=given.get("features"),
    )
    if split is None and "split" in data.source:
        drawn = data.source["split"]
        of = "each class" if hasattr(data, "num_classes") else "all"
        typer.echo(
            f"{source} has no split: drawing {drawn['train']:.0%} of {of} for training, "
            f"{drawn['val']:.0%} for validation",
            err=True,
        )
    return data


def read_split(text: str | None, seed: int) -> Any:
    """The value of ``--split``: fractions, or numbers of nodes of each class.

    Example:
        >>> read_split("0.6,0.2", 0)
        Fractions(train=0.6, val=0.2, seed=0)
        >>> read_split("20,30", 1)
        PerClass(train=20, val=30, seed=1)
    """
    from graphsct.datasets import Fractions, PerClass
    from graphsct.errors import DataError

    if text is None:
        return None
    words = text.split(",")
    try:
        if all(word.strip().isdigit() for word in words):
            train, val = map(int, words)
            return PerClass(train, val, seed)
        share, rest = map(float, words)
        return Fractions(share, rest, seed)
    except ValueError:
        raise DataError(
            f"--split {text} is neither two fractions, such as 0.6,0.2, nor two numbers of nodes "
            "of each class, such as 20,30"
        ) from None


def propose_metric(data: Any, chosen: str | None) -> None:
    """Suggest another metric on standard error if accuracy says little about the data.

    Args:
        data: with targets
        chosen: name of the metric, if the user has chosen one
    """
    from graphsct.training.metrics import unequal_classes

    if chosen is None and getattr(data, "metric", None) is None:
        share = unequal_classes(data.y)
        if share is not None:
            of = "graphs" if hasattr(data, "graphs") else "nodes"
            typer.echo(
                f"{data.name} has two classes, one with {share:.0%} of the {of}: accuracy says "
                "little about the other; consider --metric roc_auc",
                err=True,
            )


def announce(target: str) -> None:
    """Say on standard error that a user's file is going to be executed.

    Args:
        target: a path and a name, ``my_model.py:Net``
    """
    path = target.rpartition(":")[0]
    if Path(path).is_file():
        typer.echo(f"executing {path}", err=True)


def model_name(value: str) -> str:
    """The name of a model; the file in ``FILE.py:NAME`` is executed, and its model registered."""
    from graphsct.nn.model_file import load_model
    from graphsct.python_file import is_file

    if not is_file(value):
        return value
    announce(value)
    return load_model(value).name


def read_options(texts: Iterable[str]) -> dict[str, Any]:
    """The values of ``--option NAME=VALUE``: JSON, or else strings.

    Example:
        >>> read_options(["residual=true", "edge_dropout=0.2", "jumping=cat"])
        {'residual': True, 'edge_dropout': 0.2, 'jumping': 'cat'}
    """
    from graphsct.errors import ModelError
    from graphsct.files import parse_json

    found: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise ModelError(f"--option {text} is not NAME=VALUE, such as residual=true")
        try:
            found[name.replace("-", "_")] = parse_json(value)
        except ValueError:
            found[name.replace("-", "_")] = _WORDS.get(value, value)
    return found


def settings(given: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """The settings among the options of a command, without those left out.

    The model is that of ``--model``, or of the argument ``FILE.py:NAME``, called ``target``.
    ``--option NAME=VALUE`` is the setting of that name, or else one of the model's ``options``.

    Args:
        given: values of a command's options by name
        names: names of settings
    """
    names = set(names)
    found = {key: value for key, value in given.items() if key in names and value is not None}
    if given.get("target") is not None:
        found["model"] = _only_target(given)
    if "model" in found:
        found["model"] = model_name(found["model"])
    if found.get("control") == "none":
        found["control"] = None
    for name, value in read_options(given.get("more") or ()).items():
        if name in names:
            found[name] = value
        else:
            found.setdefault("options", {})[name] = value
    return found


def _only_target(given: dict[str, Any]) -> str:
    """The argument ``FILE.py:NAME``, if ``--model`` names no other model."""
    from graphsct.errors import ModelError
    from graphsct.python_file import is_file

    target, model = str(given["target"]), given.get("model")
    if model is not None:
        raise ModelError(f"{target} and --model {model} are two models: choose one")
    if not is_file(target):
        raise ModelError(f"{target!r} is not FILE.py:NAME; for a model by name: --model {target}")
    return target
