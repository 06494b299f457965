"""Metrics: how good the predictions of a model are, by name."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from graphsct.datasets.targets import Kind, kind_of, labelled
from graphsct.errors import TrainingError
from graphsct.names import nearest

__all__ = ["METRICS", "Metric", "choose_metric", "deviation", "unequal_classes"]


@dataclass(frozen=True)
class Metric:
    """A metric of some nodes or graphs.

    Args:
        name: name in settings and commands, such as ``roc_auc``
        title: name in tables, such as ``ROC-AUC``
        kinds: the kinds of targets that it is defined for
        compute: from the scores of a model and the targets, none of which is missing; shapes:
            ``(n, outputs), (n,) or (n, t) -> ()``
        percent: whether it is shown in percent
        larger: whether a larger value is better
        ranks: whether it needs both answers, yes and no, among the targets
    """

    name: str
    title: str
    kinds: tuple[Kind, ...]
    compute: Callable[[Tensor, Tensor], Tensor]
    percent: bool = True
    larger: bool = True
    ranks: bool = False

    @property
    def heading(self) -> str:
        """The title with its unit."""
        return f"{self.title}, %" if self.percent else self.title

    def scaled(self, value: float) -> float:
        """A value in the unit in which it is shown."""
        return 100 * value if self.percent else value

    def show(self, values: Sequence[float], sign: str = "") -> str:
        """Mean ± sample standard deviation in their unit; a single value has no deviation.

        Args:
            values: at least one
            sign: ``+`` to show the sign of a difference

        Example:
            >>> METRICS["accuracy"].show([0.5, 0.6, 0.7]), METRICS["r2"].show([0.015], sign="+")
            ('60.0 ± 10.0', '+0.015')
        """
        digits = 1 if self.percent else 3
        mean = f"{self.scaled(statistics.fmean(values)):{sign}.{digits}f}"
        if len(values) == 1:
            return mean
        return f"{mean} ± {self.scaled(deviation(values)):.{digits}f}"

    def with_unit(self, value: float) -> str:
        """A single value with its unit, as in a sentence.

        Example:
            >>> METRICS["accuracy"].with_unit(0.812), METRICS["mae"].with_unit(0.812)
            ('81.2 %', '0.812')
        """
        return f"{self.show([value])}{' %' * self.percent}"

    def check(self, y: Tensor, where: str) -> None:
        """Raise an error if the metric is not defined for these targets.

        Args:
            y: targets of the nodes to be measured; shape: ``(n,)`` or ``(n, t)``
            where: name of these nodes in the error
        """
        if self.ranks and not any(
            bool(own.any()) and not bool(own.all()) for own in _answers(y[labelled(y)])
        ):
            raise TrainingError(
                f"{self.name} compares different answers, but those of {where} are all the same; "
                "use another metric=... or another split"
            )


def deviation(values: Sequence[float]) -> float:
    """Sample standard deviation, 0 for a single value."""
    return statistics.stdev(values) if len(values) > 1 else 0.0


def choose_metric(name: str | None, kind: Kind) -> Metric:
    """The metric with this name, or the default for a kind of targets.

    Args:
        name: name of a metric; defaults to ``accuracy`` for classes, ``average_precision`` for
            labels and ``r2`` for numbers
        kind: the kind of the targets
    """
    name = _DEFAULTS[kind] if name is None else name
    if name not in METRICS:
        raise TrainingError(f"there is no metric {name!r}{nearest(name, METRICS)}")
    if kind not in METRICS[name].kinds:
        fitting = ", ".join(other.name for other in METRICS.values() if kind in other.kinds)
        raise TrainingError(
            f"the metric {name} is not for {kind}, which are the targets of these data; use "
            f"{fitting}"
        )
    return METRICS[name]


def unequal_classes(y: Tensor) -> float | None:
    """The share of the larger of two classes, if it is so large that accuracy says little.

    Example:
        >>> unequal_classes(torch.tensor([0, 0, 0, 0, 1]))
        0.800000...
    """
    if kind_of(y) != "classes":
        return None
    sizes = torch.bincount(y[y >= 0])
    share = float(sizes.max() / sizes.sum())
    return share if len(sizes) == 2 and share >= 0.7 else None


def _accuracy(scores: Tensor, y: Tensor) -> Tensor:
    if kind_of(y) == "classes":
        return (scores.argmax(dim=1) == y).double().mean()
    known = ~y.isnan()
    return ((scores > 0) == (y > 0))[known].double().mean()


def _balanced_accuracy(scores: Tensor, y: Tensor) -> Tensor:
    from torchmetrics.functional.classification import multiclass_recall

    classes = max(scores.shape[1], 2)
    recall = multiclass_recall(
        scores.argmax(dim=1), y, classes, average="none", validate_args=False
    )
    return recall[torch.bincount(y).nonzero()[:, 0]].double().mean()


def _f1_macro(scores: Tensor, y: Tensor) -> Tensor:
    from torchmetrics.functional.classification import multiclass_f1_score, multilabel_f1_score

    if kind_of(y) == "classes":
        guess = scores.argmax(dim=1)
        return multiclass_f1_score(guess, y, max(scores.shape[1], 2), validate_args=False).double()
    answers = y.nan_to_num(nan=-1).long()
    return multilabel_f1_score(
        (scores > 0).long(), answers, y.shape[1], ignore_index=-1, validate_args=False
    ).double()


def _roc_auc(scores: Tensor, y: Tensor) -> Tensor:
    from torchmetrics.functional.classification import binary_auroc

    return _mean_of_columns(binary_auroc, scores, y)


def _average_precision(scores: Tensor, y: Tensor) -> Tensor:
    from torchmetrics.functional.classification import binary_average_precision

    return _mean_of_columns(binary_average_precision, scores, y)


def _mean_of_columns(compute: Callable[..., Tensor], scores: Tensor, y: Tensor) -> Tensor:
    """The mean of a metric of yes and no over the classes or labels that have both answers."""
    found = []
    for column, own in zip(_columns(scores, y), _answers(y), strict=True):
        if bool(own.any()) and not bool(own.all()):
            # torchmetrics would squash scores outside of [0, 1], which makes ties.
            order = torch.unique(column, return_inverse=True)[1].double()
            found.append(compute(order / max(1, len(order)), own.long(), validate_args=False))
    return torch.stack(found).double().mean()


def _answers(y: Tensor) -> Iterator[Tensor]:
    """The answers, yes or no, to each question: is it class c, has it label t?"""
    if kind_of(y) == "classes":
        classes = int(y.max()) + 1 if len(y) else 0
        yield from ([y == 1] if classes <= 2 else [y == c for c in range(classes)])
    else:
        yield from (own[~own.isnan()] > 0 for own in y.t())


def _columns(scores: Tensor, y: Tensor) -> Iterator[Tensor]:
    """The scores that belong to the :func:`_answers`; of a class, its log-odds."""
    if kind_of(y) == "classes":
        scores, classes = scores.double(), int(y.max()) + 1
        for c in [1] if classes <= 2 else range(classes):
            others = torch.cat([scores[:, :c], scores[:, c + 1 :]], dim=1)
            yield scores[:, c] - others.logsumexp(dim=1)
    else:
        yield from (own[~answers.isnan()] for own, answers in zip(scores.t(), y.t(), strict=True))


def _mse(scores: Tensor, y: Tensor) -> Tensor:
    from torchmetrics.functional.regression import mean_squared_error

    return mean_squared_error(*_known(scores, y))


def _mae(scores: Tensor, y: Tensor) -> Tensor:
    from torchmetrics.functional.regression import mean_absolute_error

    return mean_absolute_error(*_known(scores, y))


def _known(scores: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """The predictions of numbers that are known, and these numbers."""
    known = ~y.isnan()
    return scores.view_as(y)[known].double(), y[known].double()


def _r2(scores: Tensor, y: Tensor) -> Tensor:
    from torchmetrics.functional.regression import r2_score

    truth = y.view(len(y), -1).double()
    pairs = zip(scores.double().t(), truth.t(), ~truth.isnan().t(), strict=True)
    return torch.stack([r2_score(own[known], true[known]) for own, true, known in pairs]).mean()


#: The metrics by name.
METRICS = {
    metric.name: metric
    for metric in (
        Metric("accuracy", "accuracy", ("classes", "labels"), _accuracy),
        Metric("balanced_accuracy", "balanced accuracy", ("classes",), _balanced_accuracy),
        Metric("f1_macro", "macro F1", ("classes", "labels"), _f1_macro),
        Metric("roc_auc", "ROC-AUC", ("classes", "labels"), _roc_auc, ranks=True),
        Metric(
            "average_precision",
            "average precision",
            ("classes", "labels"),
            _average_precision,
            ranks=True,
        ),
        Metric("r2", "R²", ("numbers",), _r2, percent=False),
        Metric("mse", "MSE", ("numbers",), _mse, percent=False, larger=False),
        Metric("mae", "MAE", ("numbers",), _mae, percent=False, larger=False),
    )
}

_DEFAULTS: dict[Kind, str] = {
    "classes": "accuracy",
    "labels": "average_precision",
    "numbers": "r2",
}
