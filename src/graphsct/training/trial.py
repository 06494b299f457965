"""A run under way: one epoch at a time, and everything it needs to go on later."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from graphsct.datasets.splits import Split
from graphsct.engine.engine import Engine, supports
from graphsct.graph import Graph
from graphsct.training.config import TrainConfig
from graphsct.training.data import Blind, Problem
from graphsct.training.run import Epoch
from graphsct.training.selection import Selection

__all__ = ["Trial", "fits_engine", "make_engine", "pack", "seed_of", "seeded", "test"]


@contextmanager
def seeded(*seed: int) -> Iterator[None]:
    """Random numbers of PyTorch from these seeds; afterwards it goes on as if nothing had been.

    ``seeded(s)`` draws the first weights, ``seeded(s, 1)`` dropout, so that the two differ.
    """
    with torch.random.fork_rng():
        torch.manual_seed(seed_of(*seed))
        yield


def seed_of(*seed: int) -> int:
    """One seed out of several."""
    if len(seed) == 1:
        return seed[0]
    return int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0])


class Trial:
    """One run: a way to train, the selection of its best epoch, and its history.

    Args:
        model: takes features and ``problem.edges``, returns scores; shape: ``(n, classes)``
        problem: what to train on
        config: how
        way: to train, the fastest that fits if left out
    """

    def __init__(
        self, model: Any, problem: Blind, config: TrainConfig, way: Plain | None = None
    ) -> None:
        self.model = model
        self.problem = problem
        self.epochs = config.epochs
        self.selection = Selection(config.select, config.patience)
        self.history: list[Epoch] = []
        self.way: Engine | Plain
        if way is not None:
            self.way = way
        elif fits_engine(model, problem):
            self.way = make_engine([model], [problem], [config], [None])
        else:
            self.way = Plain(model, problem, config)

    @property
    def over(self) -> bool:
        """Whether there is nothing left to do."""
        return self.selection.epoch >= self.epochs or bool(self.selection.stopped)

    @property
    def best(self) -> dict[str, Tensor]:
        """The best weights so far."""
        return self.way.weights()

    def step(self) -> Epoch:
        """Train for one epoch, validate, and keep the weights if they are the best so far."""
        numbers = torch.cat([self.way.descend(), *self.way.validate()])
        record = Epoch(self.selection.epoch + 1, *numbers.tolist())
        self.history.append(record)
        better = self.selection.update(numbers[1], numbers[3])
        if better:
            self.way.remember(better)
        return record

    def show(self) -> None:
        """Put the weights of this epoch into the model, where only the engine has moved them."""
        if isinstance(self.way, Engine):
            self.model.load_state_dict(self.way.stack.read("value", 0))

    def state(self) -> dict[str, Tensor]:
        """Everything that the rest of the run depends on, by name, and the history."""
        random = torch.get_rng_state()
        return pack(self.way.state(), self.selection.state(), self.history, random)

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """Go on from :meth:`state`, bit for bit."""
        self.way.restore(tensors)
        prefix = "selection."
        self.selection.restore(
            {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}
        )
        self.history = [Epoch(int(row[0]), *row[1:]) for row in tensors["history"].tolist()]
        torch.set_rng_state(tensors["random"])


def fits_engine(model: Any, problem: Blind) -> bool:
    """Whether a run can be trained by the :class:`Engine`."""
    x, graph = problem.x, problem.edges[0]
    if not isinstance(graph, Graph) or graph.is_sample or not supports(model, x, graph):
        return False
    return graph.device.type == "cpu" == x.device.type


def make_engine(
    models: Sequence[Any],
    problems: Sequence[Blind],
    configs: Sequence[TrainConfig],
    generators: Sequence[torch.Generator | None],
) -> Engine:
    """An engine for runs that were checked by the model itself, which refuses wrong input."""
    for model, problem in zip(models, problems, strict=True):
        problem.check_scores(_scores(model, problem))
    x, graph = problems[0].x, problems[0].edges[0]
    # Labels that only another run's masks have are no secret; test nodes nobody gets.
    y = torch.stack([problem.y for problem in problems]).amax(0)
    splits = [Split(p.train, p.val, torch.zeros_like(p.val)) for p in problems]
    return Engine(models, x, graph, y, splits, configs, generators)


@torch.no_grad()
def _scores(model: Any, problem: Blind) -> Tensor:
    model.eval()
    scores: Tensor = model(problem.x, *problem.edges)
    return scores


def _accuracy(scores: Tensor, y: Tensor, nodes: Tensor) -> Tensor:
    return (scores[nodes].argmax(dim=1) == y[nodes]).double().mean()


def test(model: Any, weights: dict[str, Tensor], problem: Problem) -> float:
    """Put weights into a model and look at the test nodes, for the only time."""
    model.load_state_dict(weights)
    return _accuracy(_scores(model, problem), problem.y, problem.split.test.nonzero()[:, 0]).item()


def pack(
    way: dict[str, Tensor], selection: dict[str, Tensor], history: list[Epoch], random: Tensor
) -> dict[str, Tensor]:
    """What a checkpoint of one run holds."""
    return {
        **way,
        **{f"selection.{name}": tensor for name, tensor in selection.items()},
        "history": torch.tensor(history, dtype=torch.float64),
        "random": random,
    }


class Plain:
    """Full-batch Adam on the negative log-likelihood of the training nodes and the model's penalty.

    Any model, by autograd; the arguments are those of :class:`Trial`, and all numbers are of shape
    ``(1,)`` as those of an :class:`Engine` with one run.
    """

    def __init__(self, model: Any, problem: Blind, config: TrainConfig) -> None:
        self.model = model
        self.problem = problem
        self.optimizer = torch.optim.Adam(param_groups(model, config), lr=config.learning_rate)
        self._best: dict[str, Tensor] = {}
        self._checked = False
        self._train, self._val = (mask.nonzero()[:, 0] for mask in (problem.train, problem.val))

    def descend(self) -> Tensor:
        """One step of training; the loss before it."""
        self.model.train()
        self.optimizer.zero_grad()
        scores = self.model(self.problem.x, *self.problem.edges)
        if not self._checked:
            self.problem.check_scores(scores)
            self._checked = True
        loss = F.cross_entropy(scores[self._train], self.problem.y[self._train])
        if hasattr(self.model, "penalty"):
            loss = loss + self.model.penalty()
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        return loss.detach().double().view(1)

    @torch.no_grad()
    def validate(self) -> tuple[Tensor, Tensor, Tensor]:
        """Validation loss, training and validation accuracy."""
        scores, y = _scores(self.model, self.problem), self.problem.y
        val_loss = F.cross_entropy(scores[self._val], y[self._val]).double()
        accuracies = (_accuracy(scores, y, nodes) for nodes in (self._train, self._val))
        return val_loss.view(1), *(accuracy.view(1) for accuracy in accuracies)  # type: ignore[return-value]

    def remember(self, better: Tensor) -> None:
        """Keep the weights as the best so far."""
        self._best = {name: tensor.clone() for name, tensor in self.model.state_dict().items()}

    def weights(self) -> dict[str, Tensor]:
        """The best weights so far."""
        return self._best

    def state(self) -> dict[str, Tensor]:
        """What the rest of the run depends on, besides random numbers."""
        tensors = {f"model.{k}": v for k, v in self.model.state_dict().items()}
        tensors |= {f"best.{k}": v for k, v in self._best.items()}
        for index, moments in self.optimizer.state_dict()["state"].items():
            tensors |= {f"adam.{index}.{k}": v for k, v in moments.items()}
        return tensors

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """Go on from :meth:`state`."""
        parts: dict[str, dict[str, Tensor]] = {}
        for name, tensor in tensors.items():
            part, _, rest = name.partition(".")
            parts.setdefault(part, {})[rest] = tensor
        self.model.load_state_dict(parts["model"])
        self._best = parts["best"]
        moments: dict[int, dict[str, Tensor]] = {}
        for name, tensor in parts["adam"].items():
            index, _, key = name.partition(".")
            moments.setdefault(int(index), {})[key] = tensor
        groups = self.optimizer.state_dict()["param_groups"]
        self.optimizer.load_state_dict({"state": moments, "param_groups": groups})


def param_groups(model: Any, config: TrainConfig) -> Any:
    """The model's own groups if it has any, else all its parameters with the dense weight decay."""
    if hasattr(model, "param_groups"):
        return model.param_groups(
            conv_weight_decay=config.conv_weight_decay,
            dense_weight_decay=config.dense_weight_decay,
        )
    return [{"params": list(model.parameters()), "weight_decay": config.dense_weight_decay}]
