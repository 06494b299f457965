"""``graphsct diagnose``: find what is wrong inside a model, and what to try."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphsct.cli import options
from graphsct.cli.inputs import load_data, settings
from graphsct.cli.output import available, diverted, terminal

if TYPE_CHECKING:
    import torch

    from graphsct.diagnosis import Diagnosis
    from graphsct.training.config import TrainConfig
    from graphsct.training.run import Epoch, Run

__all__ = ["app"]

app = typer.Typer(add_completion=False)

_DATA, _MODEL, _TRAIN, _OUT = "The data", "The model", "Training", "The report"


_EXAMPLES = options.examples(
    ("Our own model on a data set", "graphsct diagnose --data cora --model gcn --depth 32"),
    ("The same, with the effect of remedies", "graphsct diagnose --data cora --depth 32 --try"),
    ("Your own model and graph", "graphsct diagnose my_model.py:Net --data folder/"),
)


@app.command(epilog=_EXAMPLES)
def diagnose(
    ctx: typer.Context,
    target: Annotated[str | None, options.target()] = None,
    model: Annotated[str | None, options.model(_MODEL)] = None,
    control: Annotated[str | None, options.control(_MODEL)] = None,
    depth: Annotated[int | None, options.depth(_MODEL)] = None,
    hidden: Annotated[
        int | None, options.option("Number of channels per layer.", _MODEL, "64")
    ] = None,
    dropout: Annotated[
        float | None, options.option("Dropout rate before the dense layers.", _MODEL, "0.5")
    ] = None,
    activation: Annotated[
        str | None, options.option("Activation: relu, leaky_relu, elu, ...", _MODEL)
    ] = None,
    norm: Annotated[
        str | None, options.option("Norm after each convolution: BatchNorm, PairNorm, ...", _MODEL)
    ] = None,
    init: Annotated[
        str | None,
        options.option("First weights of the convolutions: identity, glorot, uniform, ...", _MODEL),
    ] = None,
    more: Annotated[list[str] | None, options.more(_MODEL)] = None,
    weights: Annotated[
        Path | None,
        options.option(
            "Load these weights instead of training: a .safetensors file or a state dict.", _MODEL
        ),
    ] = None,
    layer: Annotated[
        list[str] | None,
        options.option(
            "Name of a layer, if the automatic choice of layers is wrong. May be repeated.", _MODEL
        ),
    ] = None,
    epochs: Annotated[
        int | None,
        options.option("Epochs of training; 0 diagnoses the model untrained.", _TRAIN, "200"),
    ] = None,
    learning_rate: Annotated[
        float | None, options.option("Learning rate of Adam.", _TRAIN, "0.01")
    ] = None,
    conv_weight_decay: Annotated[
        float | None, options.option("Weight decay of the convolutions.", _TRAIN, "0")
    ] = None,
    dense_weight_decay: Annotated[
        float | None,
        options.option(
            "Weight decay of all other weights; in your own model, of all weights.",
            _TRAIN,
            "0.0005",
        ),
    ] = None,
    metric: Annotated[str | None, options.metric(_TRAIN)] = None,
    select: Annotated[str | None, options.select(_TRAIN)] = None,
    last: Annotated[
        bool, options.flag("--last", "Diagnose the last epoch instead of the best.", _TRAIN)
    ] = False,
    seed: Annotated[
        int, typer.Option(min=0, help="Seed of weights and dropout.", rich_help_panel=_TRAIN)
    ] = 0,
    try_: Annotated[
        bool, options.flag("--try", "Also train with each remedy that fits, and compare.", _TRAIN)
    ] = False,
    seeds: Annotated[
        int,
        typer.Option(
            min=1, help="Number of runs for each remedy, with --try.", rich_help_panel=_TRAIN
        ),
    ] = 3,
    cause: Annotated[
        bool,
        options.flag(
            "--cause", "Find out why the model does not learn, by short experiments.", _TRAIN
        ),
    ] = False,
    device: Annotated[str | None, options.device(_TRAIN)] = None,
    data: Annotated[str, options.data(_DATA)] = "demo",
    normalize: Annotated[bool, options.normalize(_DATA)] = False,
    symmetrize: Annotated[bool, options.symmetrize(_DATA)] = False,
    split: Annotated[str | None, options.split(_DATA)] = None,
    split_seed: Annotated[int, options.split_seed(_DATA)] = 0,
    features: Annotated[str | None, options.features(_DATA)] = None,
    root: Annotated[Path | None, options.root(_DATA)] = None,
    out: Annotated[
        Path | None, options.option("Folder for page.html, JSON, CSV and figures.", _OUT)
    ] = None,
    explain: Annotated[
        bool,
        options.flag("--explain", "Say what each finding means and how often it is wrong.", _OUT),
    ] = False,
    as_json: Annotated[bool, options.as_json(_OUT)] = False,
) -> None:
    """Train a model and look inside: does it work? Which layers are over-smoothed, dead or without
    gradient? What could help?
    """
    from rich.console import Group

    from graphsct.diagnosis.diagnosis import NARROW
    from graphsct.diagnosis.render import explanations

    page = out is not None and available("page.html", "plotly", "report")
    figures = out is not None and available("every figure", "matplotlib", "plot")
    with diverted(as_json):
        found = _find({key: value for key, value in ctx.params.items() if value is not None})
    if as_json:
        typer.echo(found.to_json())
    else:
        console = terminal(width=max(NARROW, terminal().width))
        console.print(Group(found, *(explanations(found) if explain else ())))
    if out is not None:
        paths = _write(found, out, page, figures)
        typer.echo(f"Written to {out}: {' '.join(path.name for path in paths)}", err=as_json)


def _find(given: dict[str, Any]) -> Diagnosis:
    """Build, train and diagnose a model with the options of the command."""
    from graphsct.diagnosis import diagnose, find_cause, try_remedies
    from graphsct.diagnosis.weight_files import load_weights
    from graphsct.training import ModelConfig, TrainConfig
    from graphsct.training.seeding import seeded
    from graphsct.training.seeds import split_of

    weights, epochs, device = (given.get(key) for key in ("weights", "epochs", "device"))
    data = load_data(given["data"], given, normalize=given["normalize"])
    chosen = ModelConfig.from_dict(settings(given, (field.name for field in fields(ModelConfig))))
    config = _config({f.name: given[f.name] for f in fields(TrainConfig) if f.name in given})
    with seeded(config.seed):
        model = chosen.build(data)
    if weights is not None:
        load_weights(model, weights)
    run = None
    if epochs or (epochs is None and weights is None):
        run = _train(model, data, config, given["last"], device)
    split = split_of(data, config.seed)
    found = diagnose(
        model, data, layers=given.get("layer") or None, split=split, metric=config.metric
    )
    found = replace(found, run=run)
    if given["cause"]:
        found = find_cause(found, model, data, split=split)
    if given["try_"]:
        seeds = range(given["seeds"])
        found = try_remedies(found, chosen, data, config, seeds=seeds, device=device)
    return found


def _config(given: dict[str, Any]) -> TrainConfig:
    """The training settings, without early stopping, so that all runs are equally long."""
    from graphsct.training import TrainConfig

    epochs = given.pop("epochs", 200) or 1
    chosen = {**given, "epochs": epochs, "patience": epochs}
    return TrainConfig.from_dict(chosen)


class _Last:
    """A callback that stores the weights of the last epoch."""

    def __init__(self, model: torch.nn.Module, epochs: int) -> None:
        self.model, self.epochs = model, epochs
        self.weights: dict[str, Any] = {}

    def looks(self, record: Epoch) -> bool:
        return record.epoch == self.epochs

    def __call__(self, record: Epoch) -> None:
        if self.looks(record):
            self.weights = {name: w.clone() for name, w in self.model.state_dict().items()}


def _train(
    model: torch.nn.Module, data: Any, config: TrainConfig, last: bool, device: str | None
) -> Run:
    """Train on a device, then move the model to the device of the data, which measures it."""
    from graphsct.diagnosis.calling import trainable
    from graphsct.training import fit
    from graphsct.training.device import Mover, find_device
    from graphsct.training.seeds import split_of

    keep = _Last(model, config.epochs)
    split = split_of(data, config.seed)
    there = data if device is None else Mover(find_device(device))(data)
    own = trainable(model, there)
    run = fit(own, there, config, split=split, callbacks=[keep], device=device)
    if last and keep.weights:
        model.load_state_dict(keep.weights)
    model.to(data.x.device)
    return run


def _write(found: Diagnosis, folder: Path, page: bool, figures: bool) -> list[Path]:
    from graphsct.diagnosis.figures import write_columns, write_figures
    from graphsct.files import write_json

    paths = [folder / "diagnosis.json"]
    write_json(paths[0], found.to_dict())
    if page:
        paths.append(folder / "page.html")
        found.save_html(paths[-1])
    return paths + (write_figures if figures else write_columns)(found, folder)
