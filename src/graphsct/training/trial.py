"""A run under way: one epoch at a time, and everything it needs to go on later."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from graphsct.training.config import TrainConfig
from graphsct.training.problem import Problem
from graphsct.training.run import Epoch
from graphsct.training.selection import Selection

__all__ = ["Trial", "seeded"]


@contextmanager
def seeded(*seed: int) -> Iterator[None]:
    """Random numbers of PyTorch from these seeds; afterwards it goes on as if nothing had been.

    ``seeded(s)`` draws the first weights, ``seeded(s, 1)`` dropout, so that the two differ.
    """
    state = np.random.SeedSequence(seed).generate_state(1, np.uint64)[0] if seed[1:] else seed[0]
    with torch.random.fork_rng():
        torch.manual_seed(int(state))
        yield


class Trial:
    """Full-batch Adam on the negative log-likelihood of the training nodes and the model's penalty.

    Args:
        model: takes features and ``problem.edges``, returns scores; shape: ``(n, classes)``
        problem: what to train on
        config: how
    """

    def __init__(self, model: Any, problem: Problem, config: TrainConfig) -> None:
        self.model = model
        self.problem = problem
        self.optimizer = torch.optim.Adam(param_groups(model, config), lr=config.learning_rate)
        self.epochs = config.epochs
        self.selection = Selection(config.select, config.patience)
        self.history: list[Epoch] = []
        self.best: dict[str, Tensor] = {}
        self._train, self._val, self._test = (mask.nonzero()[:, 0] for mask in problem.split)

    @property
    def over(self) -> bool:
        """Whether there is nothing left to do."""
        return self.selection.epoch >= self.epochs or bool(self.selection.stopped)

    def step(self) -> Epoch:
        """Train for one epoch, validate, and keep the weights if they are the best so far."""
        loss = self._descend()
        val_loss, train_accuracy, val_accuracy = self._validate()
        numbers = torch.stack([loss, val_loss, train_accuracy, val_accuracy]).tolist()
        record = Epoch(self.selection.epoch + 1, *numbers)
        self.history.append(record)
        if self.selection.update(val_loss, val_accuracy):
            self.best = snapshot(self.model)
        return record

    def _descend(self) -> Tensor:
        self.model.train()
        self.optimizer.zero_grad()
        scores = self.model(self.problem.x, *self.problem.edges)
        if not self.history:
            self.problem.check_scores(scores)
        loss = F.cross_entropy(scores[self._train], self.problem.y[self._train])
        if hasattr(self.model, "penalty"):
            loss = loss + self.model.penalty()
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        return loss.detach().double()

    @torch.no_grad()
    def _validate(self) -> tuple[Tensor, Tensor, Tensor]:
        scores = self._scores()
        val_loss = F.cross_entropy(scores[self._val], self.problem.y[self._val]).double()
        return val_loss, self._accuracy(scores, self._train), self._accuracy(scores, self._val)

    @torch.no_grad()
    def test(self) -> float:
        """Put the best weights into the model and look at the test nodes, for the only time."""
        self.model.load_state_dict(self.best)
        return self._accuracy(self._scores(), self._test).item()

    def _scores(self) -> Tensor:
        self.model.eval()
        scores: Tensor = self.model(self.problem.x, *self.problem.edges)
        return scores

    def _accuracy(self, scores: Tensor, nodes: Tensor) -> Tensor:
        return (scores[nodes].argmax(dim=1) == self.problem.y[nodes]).double().mean()

    def state(self) -> dict[str, Tensor]:
        """Everything that the rest of the run depends on, by name, and the history."""
        tensors = {f"model.{k}": v for k, v in self.model.state_dict().items()}
        tensors |= {f"best.{k}": v for k, v in self.best.items()}
        for index, moments in self.optimizer.state_dict()["state"].items():
            tensors |= {f"adam.{index}.{k}": v for k, v in moments.items()}
        tensors |= {f"selection.{k}": v for k, v in self.selection.state().items()}
        tensors["history"] = torch.tensor(self.history, dtype=torch.float64)
        tensors["random"] = torch.get_rng_state()
        return tensors

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """Go on from :meth:`state`, bit for bit."""
        parts: dict[str, dict[str, Tensor]] = {}
        for name, tensor in tensors.items():
            part, _, rest = name.partition(".")
            parts.setdefault(part, {})[rest] = tensor
        self.model.load_state_dict(parts["model"])
        self.best = parts["best"]
        moments: dict[int, dict[str, Tensor]] = {}
        for name, tensor in parts["adam"].items():
            index, _, key = name.partition(".")
            moments.setdefault(int(index), {})[key] = tensor
        groups = self.optimizer.state_dict()["param_groups"]
        self.optimizer.load_state_dict({"state": moments, "param_groups": groups})
        self.selection.restore(parts["selection"])
        self.history = [Epoch(int(row[0]), *row[1:]) for row in tensors["history"].tolist()]
        torch.set_rng_state(tensors["random"])


def snapshot(model: torch.nn.Module) -> dict[str, Tensor]:
    """A copy of all weights and buffers."""
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}


def param_groups(model: Any, config: TrainConfig) -> Any:
    """The model's own groups if it has any, else all its parameters with the dense weight decay."""
    if hasattr(model, "param_groups"):
        return model.param_groups(
            conv_weight_decay=config.conv_weight_decay,
            dense_weight_decay=config.dense_weight_decay,
        )
    return [{"params": list(model.parameters()), "weight_decay": config.dense_weight_decay}]
