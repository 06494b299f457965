"""``graphsct train --distributed``: the start and the work of its processes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphsct.training import ModelConfig, TrainConfig

__all__ = ["train_together"]


def train_together(ctx: Any, model: ModelConfig, config: TrainConfig) -> None:
    """Train as one of several processes, or start them.

    Args:
        ctx: the call of ``graphsct train``
        model: settings of the model
        config: settings of the training
    """
    from graphsct.distributed.launch import is_worker, launch
    from graphsct.distributed.layout import Layout
    from graphsct.errors import TrainingError

    for name in ("normalize", "root"):
        if ctx.params[name]:
            raise TrainingError(f"give --{name} to 'graphsct data partition', which reads the data")
    if ctx.params["device"] is not None:
        raise TrainingError(
            "--device cannot go with --distributed: each process takes a GPU of its own if there "
            "are enough, else the CPU"
        )
    if ctx.params["watch"] is not None:
        raise TrainingError(
            "--watch cannot go with --distributed: a diagnosis needs the whole graph in one process"
        )
    if is_worker():
        _work(ctx.params, model, config)
    else:
        command = ["-m", "graphsct", "train", "--distributed", *_given(ctx)]
        launch(len(Layout.read(ctx.params["data"]).parts), command)


def _given(ctx: Any) -> Iterator[str]:
    """The options of a call as words of a command line."""
    for param in ctx.command.params:
        source = ctx.get_parameter_source(param.name)
        if source is not None and source.name == "COMMANDLINE" and param.name != "distributed":
            value = ctx.params[param.name]
            if param.param_type_name == "argument":
                yield str(value)
                continue
            for each in value if param.multiple else [value]:
                yield param.opts[0]
                if not param.is_flag:
                    yield str(each)


def _work(given: dict[str, Any], model: ModelConfig, config: TrainConfig) -> None:
    from graphsct.cli.train import show
    from graphsct.distributed import Part, joined, train
    from graphsct.distributed.collectives import rank, restarts

    with joined(given["timeout"]):
        part = Part.load(given["data"])
        source = Path(given["data"]).resolve().name
        folder = given["out"] or Path("results/train") / f"{source}-{model.label}"
        again = restarts() > 0
        found = train(
            model,
            part,
            config,
            range(given["seeds"]),
            folder=folder,
            compare=given["compare"],
            resume=given["resume"] or again,
            force=given["force"] and not again,
            tensorboard=given["tensorboard"],
        )
        if rank() == 0:
            show(found, [folder], given["as_json"])
