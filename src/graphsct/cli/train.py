"""``graphsct train``: a model on a data set, with several seeds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from graphsct.cli import options
from graphsct.cli.inputs import load_data, propose_metric, settings
from graphsct.cli.options import flag, option
from graphsct.cli.output import (
    available,
    beside_results,
    diverted,
    print_json,
    print_table,
    terminal,
)

if TYPE_CHECKING:
    from graphsct.training.compare import Comparison

__all__ = ["app", "show"]

app = typer.Typer(add_completion=False)

_DATA, _MODEL, _TRAIN, _RUN = "The data", "The model", "Training", "The runs"

_EXAMPLES = options.examples(
    ("A small built-in graph, in a few seconds", "graphsct train"),
    (
        "A deep GCN on Cora, with and without control",
        "graphsct train --data cora --control pooled --depth 16 --compare",
    ),
    (
        "The settings that a search found, three seeds, as JSON",
        "graphsct train --data cora --config best.json --seeds 3 --json",
    ),
    (
        "Your own model, with an option of its constructor",
        "graphsct train my_model.py:Net --option hops=2",
    ),
    (
        "GAT of PyTorch Geometric, with and without control",
        "graphsct train --model pyg:GAT --depth 4 --control gated --compare",
    ),
    (
        "Your own graph, with a random split",
        "graphsct train --data folder --symmetrize --split 0.6,0.2",
    ),
    (
        "A deep GCN, diagnosed as it learns",
        "graphsct train --data cora --depth 32 --watch",
    ),
    ("Resume after an interruption", "graphsct train --data cora --resume"),
    (
        "One process for each part of a large graph",
        "graphsct train --data parts --distributed --seeds 1",
    ),
)


class _Train(TyperCommand):
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read ``--watch`` without a number as ``--watch 50``; Typer always wants a value."""
        words: list[str] = []
        for word, following in zip(args, [*args, ""][1:], strict=True):
            words.append(word)
            if word == "--watch" and not following.isdigit():
                words.append("50")
        return super().parse_args(ctx, words)


@app.command(cls=_Train, epilog=_EXAMPLES)
def train(
    ctx: typer.Context,
    target: Annotated[str | None, options.target()] = None,
    data: Annotated[str, options.data(_DATA)] = "demo",
    normalize: Annotated[bool | None, options.normalize(_DATA)] = None,
    symmetrize: Annotated[bool, options.symmetrize(_DATA)] = False,
    split: Annotated[str | None, options.split(_DATA)] = None,
    split_seed: Annotated[int, options.split_seed(_DATA)] = 0,
    features: Annotated[str | None, options.features(_DATA)] = None,
    root: Annotated[Path | None, options.root(_DATA)] = None,
    seeds: Annotated[int, options.seeds(_RUN)] = 10,
    model: Annotated[str | None, options.model(_MODEL)] = None,
    control: Annotated[str | None, options.control(_MODEL)] = None,
    depth: Annotated[int | None, options.depth(_MODEL)] = None,
    hidden: Annotated[int | None, option("Number of channels per layer.", _MODEL, "64")] = None,
    dropout: Annotated[
        float | None, option("Dropout rate before the dense layers.", _MODEL, "0.5")
    ] = None,
    conv_dropout: Annotated[
        float | None, option("Dropout rate before the convolutions.", _MODEL)
    ] = None,
    activation: Annotated[
        str | None, option("Activation: relu, leaky_relu, elu, ...", _MODEL)
    ] = None,
    negative_slope: Annotated[
        float | None, option("Slope of leaky_relu below zero.", _MODEL, "0.01")
    ] = None,
    norm: Annotated[
        str | None, option("Norm after each convolution: BatchNorm, PairNorm, ...", _MODEL)
    ] = None,
    init: Annotated[
        str | None,
        option("First weights of the convolutions: identity, glorot, uniform, ...", _MODEL),
    ] = None,
    alpha: Annotated[
        float | None, option("Share of the initial features in each layer of GCNII.", _MODEL)
    ] = None,
    theta: Annotated[
        float | None, option("Strength of the weights in GCNII and the gated controls.", _MODEL)
    ] = None,
    more: Annotated[list[str] | None, options.more(_MODEL)] = None,
    epochs: Annotated[int | None, option("Largest number of epochs.", _TRAIN, "1500")] = None,
    patience: Annotated[
        int | None, option("A run ends after this many epochs without a better one.", _TRAIN, "100")
    ] = None,
    least_epochs: Annotated[
        int | None, option("Epochs before patience begins to count.", _TRAIN, "0")
    ] = None,
    learning_rate: Annotated[float | None, option("Learning rate of Adam.", _TRAIN, "0.01")] = None,
    warm_up: Annotated[
        int | None,
        option("Epochs over which the learning rate grows to its full value.", _TRAIN, "0"),
    ] = None,
    conv_weight_decay: Annotated[
        float | None, option("Weight decay of the convolutions.", _TRAIN, "0")
    ] = None,
    dense_weight_decay: Annotated[
        float | None, option("Weight decay of all other weights.", _TRAIN, "0.0005")
    ] = None,
    offset_weight_decay: Annotated[
        float | None, option("Weight decay of the offsets of srelu.", _TRAIN, "0")
    ] = None,
    metric: Annotated[str | None, options.metric(_TRAIN)] = None,
    select: Annotated[str | None, options.select(_TRAIN)] = None,
    precision: Annotated[str | None, options.precision(_TRAIN)] = None,
    batch_size: Annotated[
        int | None,
        option("Number of graphs per step, if the data are a list of graphs.", _TRAIN, "32"),
    ] = None,
    checkpoint_every: Annotated[
        int | None, option("Epochs between two checkpoints.", _TRAIN, "50")
    ] = None,
    config: Annotated[
        Path | None,
        option(
            "JSON file with the settings 'model' and 'train', from a search or another run.", _RUN
        ),
    ] = None,
    compare: Annotated[
        bool, flag("--compare", "Also train without control, and compare.", _RUN)
    ] = False,
    out: Annotated[Path | None, option("Run folder.", _RUN, "a new one in results/train")] = None,
    resume: Annotated[bool, flag("--resume", "Resume the runs in the run folder.", _RUN)] = False,
    force: Annotated[
        bool, flag("--force", "Delete the runs in the run folder first.", _RUN)
    ] = False,
    device: Annotated[str | None, options.device(_RUN)] = None,
    threads: Annotated[int | None, options.threads(_RUN)] = None,
    tensorboard: Annotated[
        bool, flag("--tensorboard", "Write event files for TensorBoard.", _RUN)
    ] = False,
    watch: Annotated[
        int | None,
        option(
            "Diagnose the model of each seed, with this many epochs between two diagnoses (50 if "
            "left out), and write them to layers.jsonl in the seed's folder.",
            _RUN,
            metavar="[EVERY]",
            min=1,
        ),
    ] = None,
    distributed: Annotated[
        bool,
        flag(
            "--distributed",
            "Train with one process for each part of --data, a folder that 'graphsct data "
            "partition' wrote.",
            _RUN,
        ),
    ] = False,
    timeout: Annotated[
        float, option("Seconds that the processes wait for each other.", _RUN, True, min=1)
    ] = 600.0,
    as_json: Annotated[bool, options.as_json(_RUN)] = False,
) -> None:
    """Train a model on a data set with several seeds and print the mean of the test metric ± its
    standard deviation. Settings that you leave out come from --config, or are the defaults.
    """
    import torch

    from graphsct.diagnosis.page.runs import write_trained
    from graphsct.diagnosis.seed_watches import SeedWatches
    from graphsct.errors import TrainingError
    from graphsct.training.compare import compare_control
    from graphsct.training.folder import PAGE

    if resume and force:
        raise TrainingError("--resume keeps the runs in a folder, --force deletes them: choose one")
    if threads is not None:
        torch.set_num_threads(threads)
    with diverted(as_json):
        model_config, train_config, normalize = _configs(config, ctx.params)
    if distributed:
        from graphsct.cli.processes import train_together

        train_together(ctx, model_config, train_config)
        return
    page = available(PAGE, "plotly", "report")
    with diverted(as_json):
        loaded = load_data(data, ctx.params, normalize=normalize)
        propose_metric(loaded, train_config.metric)
        watches = None if watch is None else SeedWatches(loaded, watch)
        folder = out or Path("results/train") / f"{loaded.source['name']}-{model_config.label}"
        found = compare_control(
            model_config,
            loaded,
            train_config,
            range(seeds),
            folder=folder,
            source=loaded.source,
            compare=compare,
            resume=resume,
            force=force,
            tensorboard=tensorboard,
            callback=watches,
            device=device,
        )
        written = [folder]
        if page:
            with beside_results(PAGE, ctx):
                written.append(write_trained(found, loaded, folder))
    show(found, written, as_json)
    if watches is not None and watches.num_skipped:
        typer.echo(watches.notice, err=True)
    if found.interrupted:
        typer.echo(f"interrupted: the same command with --resume continues in {folder}", err=True)
        raise typer.Exit(130)


def _configs(path: Path | None, given: dict[str, Any]) -> tuple[Any, Any, bool]:
    """The settings of the model and of training, and whether rows of features sum to one.

    Args:
        path: a run's ``config.json`` or a search's ``best.json``
        given: options of the command, which override the file
    """
    from dataclasses import fields

    from graphsct.errors import TrainingError
    from graphsct.files import parse_json
    from graphsct.training import ModelConfig, TrainConfig

    values: Any = {}
    if path is not None:
        try:
            values = parse_json(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise TrainingError(f"{path} is not valid JSON: {error}") from error
        if not isinstance(values, dict) or not {"model", "train"} & set(values):
            raise TrainingError(f"{path} has no settings: neither 'model' nor 'train'")
    names = [{field.name for field in fields(kind)} for kind in (ModelConfig, TrainConfig)]
    model, train = (_section(values, key, path) for key in ("model", "train"))
    own = settings(given, names[0])
    if "options" in own:
        own["options"] = {**_section(model, "options", path), **_section(own, "options", None)}
    trained = {key: given[key] for key in names[1] if given.get(key) is not None}
    normalize = given["normalize"]
    return (
        ModelConfig.from_dict(model | own),
        TrainConfig.from_dict(train | trained),
        _normalized(values) if normalize is None else normalize,
    )


def _section(values: dict[str, Any], key: str, path: Path | None) -> dict[str, Any]:
    """The settings under a key of a file, none if it is missing."""
    from graphsct.errors import TrainingError

    found = values.get(key, {})
    if not isinstance(found, dict):
        where = "" if path is None else f"{path}: "
        raise TrainingError(f"{where}{key} is {found!r}, expected an object with settings")
    return found


def _normalized(values: dict[str, Any]) -> bool:
    """``normalize`` in a file: at the top level for a search, under ``data`` for a run."""
    from graphsct.errors import TrainingError

    of_run = values.get("data")
    found = {**(of_run if isinstance(of_run, dict) else {}), **values}.get("normalize", False)
    if not isinstance(found, bool):
        raise TrainingError(f"normalize is {found!r}, expected true or false")
    return found


def show(found: Comparison, written: list[Path], as_json: bool) -> None:
    """Print the results, as a table or as JSON, and the paths of the folder and the page."""
    from rich.text import Text

    from graphsct.diagnosis.tables import comparison_table
    from graphsct.training.words import describe

    if as_json:
        print_json(found.to_dict(history=True))
        return
    terminal().print(Text.assemble((found.data, "bold"), f": {describe(found)}"))
    print_table(comparison_table(found), title=False)
    typer.echo("; the page is ".join(["Written to " + str(written[0]), *map(str, written[1:])]))
