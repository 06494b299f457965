"""Interactive curves of training: loss and metric by epoch, one line per seed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from graphsct.plotting.interactive import BLUE, GREY, ORANGE, Drawn, Figure, layout, log_axis
from graphsct.training.metrics import METRICS
from graphsct.training.run import Epoch, Run

__all__ = ["history"]


def history(runs: Sequence[Run]) -> list[Drawn]:
    """Return loss and metric of the training and the validation nodes."""
    metric = METRICS[runs[0].metric]
    title = metric.title[0].upper() + metric.title[1:]
    epochs = [run.best_epoch for run in runs]
    losses = [loss for run in runs for epoch in run.history for loss in epoch[1:3]]
    limits = {"range": [0, 100]} if metric.percent else {}
    chosen = f"the chosen epochs are {', '.join(map(str, epochs))}"
    return [
        Drawn(
            "Loss",
            _figure(
                [
                    *_lines(runs, "training", GREY, lambda epoch: epoch.train_loss, "dot"),
                    *_lines(runs, "validation", BLUE, lambda epoch: epoch.val_loss),
                    _chosen(runs, lambda epoch: epoch.val_loss),
                ],
                log_axis(losses, title={"text": "loss"}),
            ),
            f"Loss by epoch; {chosen}",
            "Training: the loss that the step minimized, with dropout and penalty.",
        ),
        Drawn(
            title,
            _figure(
                [
                    *_lines(runs, "training", GREY, lambda e: metric.scaled(e.train_score), "dot"),
                    *_lines(runs, "validation", BLUE, lambda e: metric.scaled(e.val_score)),
                    _chosen(runs, lambda e: metric.scaled(e.val_score)),
                ],
                {"title": {"text": metric.heading}, **limits},
            ),
            f"{title} by epoch; {chosen}",
            "Measured with the weights after each epoch, without dropout.",
        ),
    ]


def _figure(traces: list[Figure], axis: Figure) -> Figure:
    across = {"title": {"text": "epoch"}, "rangemode": "tozero", "showgrid": False}
    return {"data": traces, "layout": layout(hovermode="closest", xaxis=across, yaxis=axis)}


def _lines(
    runs: Sequence[Run],
    name: str,
    colour: str,
    value: Callable[[Epoch], float],
    dash: str = "solid",
) -> list[Figure]:
    thin = len(runs) > 1
    return [
        {
            "type": "scatter",
            "mode": "lines",
            "name": name,
            "legendgroup": name,
            "showlegend": i == 0,
            "x": [epoch.epoch for epoch in run.history],
            "y": [_short(value(epoch)) for epoch in run.history],
            "line": {"color": colour, "dash": dash, "width": 1.2 if thin else 2},
            "opacity": 0.75 if thin else 1,
            "hovertemplate": f"seed {run.config.seed}, epoch %{{x}}<br>{name} %{{y:.4g}}"
            "<extra></extra>",
        }
        for i, run in enumerate(runs)
    ]


def _chosen(runs: Sequence[Run], value: Callable[[Epoch], float]) -> Figure:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "chosen epoch",
        "x": [run.best_epoch for run in runs],
        "y": [_short(value(run.history[run.best_epoch - 1])) for run in runs],
        "customdata": [run.config.seed for run in runs],
        "marker": {"symbol": "star", "size": 12, "color": ORANGE},
        "hovertemplate": "seed %{customdata}, chosen: epoch %{x}<br>validation %{y:.4g}"
        "<extra></extra>",
    }


def _short(value: float) -> float:
    """Round to six digits, which are enough to draw; a page holds many epochs."""
    return float(f"{value:.6g}")
