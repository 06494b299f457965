"""Options that several commands share, with their help and the values a shell completes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import typer

__all__ = [
    "DATA",
    "DATASETS",
    "DEVICES",
    "FEATURES",
    "FROM_FILES",
    "METRICS",
    "OF_THE_PAPER",
    "PRECISIONS",
    "SELECTIONS",
    "among",
    "as_json",
    "control",
    "controls",
    "data",
    "depth",
    "device",
    "examples",
    "features",
    "flag",
    "lists_of",
    "metric",
    "model",
    "models",
    "more",
    "normalize",
    "option",
    "precision",
    "ray",
    "root",
    "seeds",
    "select",
    "split",
    "split_seed",
    "symmetrize",
    "target",
    "threads",
    "workers",
]

# Written out: their definitions import PyTorch, which takes too long for a shell.
OF_THE_PAPER = (
    "cora",
    "citeseer",
    "pubmed",
    "physics",
    "physics_egnn",
    "arxiv",
    "cornell",
    "texas",
    "wisconsin",
    "chameleon",
    "squirrel",
)
FROM_FILES = (
    *OF_THE_PAPER,
    "cornell_as_served",
    "minesweeper",
    "chameleon_filtered",
    "squirrel_filtered",
    "actor",
    "arxiv_graph",
    "roman_empire",
    "amazon_ratings",
    "tolokers",
    "questions",
    "amazon_photo",
    "amazon_computers",
    "coauthor_cs",
    "wikics",
)
DATASETS = ("demo", *FROM_FILES, "arxiv_like")
FEATURES = ("degree", "laplacian", "one_hot")
SELECTIONS = ("val_loss", "val_score")
METRICS = (
    "accuracy",
    "balanced_accuracy",
    "f1_macro",
    "roc_auc",
    "average_precision",
    "r2",
    "mse",
    "mae",
)

DEVICES = ("auto", "cpu", "cuda", "mps")
PRECISIONS = ("bf16", "fp16")
#: The forms of data that a command takes.
DATA = (
    "A data set of 'graphsct data list', demo, or your own: a folder with edges.csv, features.npy, "
    "labels.csv and split.npz, an .npz file, or FILE.py:NAME. THE PYTHON FILE IS EXECUTED."
)

Complete = Callable[[str], list[str]]
Names = Sequence[str] | Callable[[], Sequence[str]]


def models() -> list[str]:
    """Names of the models; imports PyTorch."""
    from graphsct.nn import MODELS

    return list(MODELS)


def controls() -> list[str]:
    """Names of the controls, ``none`` first; imports PyTorch."""
    from graphsct.nn import CONTROLS

    return ["none", *CONTROLS]


def among(names: Names) -> Complete:
    """Complete one of ``names``, a sequence or a function that returns one."""

    def complete(incomplete: str) -> list[str]:
        known = names() if callable(names) else names
        return [name for name in known if name.startswith(incomplete)]

    return complete


def lists_of(names: Names) -> Complete:
    """Complete a list of some of ``names``, separated by commas.

    Example:
        >>> lists_of(["cora", "texas"])("cora,t")
        ['cora,texas']
    """

    def complete(incomplete: str) -> list[str]:
        done, comma, last = incomplete.rpartition(",")
        known = names() if callable(names) else names
        left = [name for name in known if name not in done.split(",")]
        return [f"{done}{comma}{name}" for name in left if name.startswith(last)]

    return complete


def examples(*pairs: tuple[str, str]) -> str:
    """The end of a command's help: pairs of a purpose and a command line."""
    # Rich reads the text as markup, in which graphsct[metis] would lose its brackets.
    plain = ((what.replace("[", r"\["), line.replace("[", r"\[")) for what, line in pairs)
    blocks = [f"[dim]{what}:[/]\n  {line}" for what, line in plain]
    return "\n".join(["[bold]Examples[/]", *blocks])


def option(
    help: str,  # noqa: A002
    panel: str | None = None,
    default: str | bool = False,
    **more: Any,
) -> Any:
    """An option in a panel of the help, with the text of its default."""
    return typer.Option(help=help, rich_help_panel=panel, show_default=default, **more)


def flag(name: str, help: str, panel: str | None = None) -> Any:  # noqa: A002
    """A switch that is off unless it is given."""
    return typer.Option(name, help=help, rich_help_panel=panel)


def data(panel: str | None = None) -> Any:
    """``--data``."""
    return option(DATA, panel, "demo", autocompletion=among(DATASETS))


def split(panel: str | None = None) -> Any:
    """``--split``."""
    text = (
        "Draw a split: 0.6,0.2 takes these shares of each class for training and validation, "
        "20,30 takes these numbers of nodes of each class."
    )
    return option(text, panel, "the split of the data")


def split_seed(panel: str | None = None) -> Any:
    """``--split-seed``."""
    return option("Seed of --split.", panel, True, min=0)


def features(panel: str | None = None) -> Any:
    """``--features``."""
    text = "Make features if the data have none: degree, laplacian or one_hot."
    return option(text, panel, autocompletion=among(FEATURES))


def model(panel: str | None = None) -> Any:
    """``--model``."""
    text = (
        "gcn, gcnii, egnn, appnp, dagnn, a model of PyTorch Geometric such as pyg:GAT, or your own "
        "as FILE.py:NAME. THE PYTHON FILE IS EXECUTED."
    )
    return option(text, panel, "gcn", autocompletion=among(models))


def target() -> Any:
    """The model of a user as the argument ``FILE.py:NAME``."""
    text = (
        "Your own model. THE FILE IS EXECUTED, as by Python. NAME is a subclass of "
        "graphsct.nn.Model, or any function or class that returns a model. It is called with "
        "(data), or with (in_channels, out_channels) if it requires two arguments. Settings that "
        "it takes are passed by name."
    )
    return typer.Argument(metavar="FILE.py:NAME", show_default=False, help=text)


def more(panel: str | None = None) -> Any:
    """``--option NAME=VALUE``, as often as need be."""
    text = "Any other option of the model, such as residual=true. May be repeated."
    return typer.Option("--option", metavar="NAME=VALUE", help=text, rich_help_panel=panel)


def control(panel: str | None = None) -> Any:
    """``--control``."""
    text = "Control of smoothness, such as pooled, gated or normalized; or none."
    return option(text, panel, "none", autocompletion=among(controls))


def depth(panel: str | None = None, default: str = "2") -> Any:
    """``--depth``."""
    return option("Number of convolutions.", panel, default)


def select(panel: str | None = None) -> Any:
    """``--select``."""
    text = "What selects the best epoch: val_score, the validation metric, or val_loss."
    return option(text, panel, "val_score", autocompletion=among(SELECTIONS))


def metric(panel: str | None = None) -> Any:
    """``--metric``."""
    text = (
        "Metric of the scores: accuracy, balanced_accuracy, f1_macro, roc_auc, average_precision, "
        "r2, mse or mae."
    )
    return option(text, panel, "the usual one for the data", autocompletion=among(METRICS))


def normalize(panel: str | None = None, default: str = "no") -> Any:
    """``--normalize``, or ``--no-normalize``."""
    return option("Scale the features of each node to sum to one.", panel, default)


def symmetrize(panel: str | None = None) -> Any:
    """``--symmetrize``."""
    return flag("--symmetrize", "Add the reverse of each edge to your own data.", panel)


def seeds(panel: str | None = None, default: str | bool = True) -> Any:
    """``--seeds``."""
    text = (
        "Number of seeds: 0, 1, and so on. If the data have ten splits, seed i uses split i "
        "modulo 10."
    )
    return option(text, panel, default, min=1, max=10_000)


def root(panel: str | None = None) -> Any:
    """``--root``."""
    text = "Folder with the raw files of data sets."
    return option(text, panel, "GRAPHSCT_DATA, or the cache")


def finalists(panel: str | None = None) -> Any:
    """``--finalists``."""
    return option(
        "Number of best trials that are trained again with 5 times as many runs.",
        panel,
        True,
        min=0,
    )


def workers(panel: str | None = None) -> Any:
    """``--workers``."""
    return option("Number of processes that share the trials.", panel, True, min=1, max=1024)


def ray(panel: str | None = None) -> Any:
    """``--ray``."""
    return option("Run the workers on a Ray cluster: its address, auto or local.", panel)


def threads(panel: str | None = None, default: str | bool = False) -> Any:
    """``--threads``."""
    # With far more threads than processors, the process dies while it makes them.
    return option("Number of threads that PyTorch uses.", panel, default, min=1, max=1024)


def device(panel: str | None = None) -> Any:
    """``--device``."""
    text = (
        "Where to train: cpu, cuda, cuda:1, mps, or auto, which takes the first of cuda, mps and "
        "cpu that can be used."
    )
    return option(text, panel, "cpu", autocompletion=among(DEVICES))


def precision(panel: str | None = None) -> Any:
    """``--precision``."""
    text = "Precision of forward passes: bf16, or fp16 on CUDA."
    return option(text, panel, "the precision of the features", autocompletion=among(PRECISIONS))


def as_json(panel: str | None = None) -> Any:
    """``--json``."""
    return flag("--json", "Print one JSON object and nothing else.", panel)
