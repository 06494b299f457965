"""The backend for any model that PyTorch can differentiate, on any device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from graphsct.nn.dropout import Masks, make_masks
from graphsct.training.config import TrainConfig
from graphsct.training.data import TrainingData
from graphsct.training.seeding import GlobalRandom, dropout_generator
from graphsct.training.selection import Scores

__all__ = ["Autograd", "AutogradRun"]


class AutogradRun:
    """Adam on the loss of the training nodes and the model's penalty, one step an epoch.

    Args:
        model: the model, whose weights are updated in place
        data: the training data
        config: settings of training
        masks: dropout masks; default to those of a single process
    """

    def __init__(
        self, model: Any, data: TrainingData, config: TrainConfig, masks: Masks | None = None
    ) -> None:
        self.model, self.data, self.config, self.epoch = model, data, config, 0
        self.optimizer = torch.optim.Adam(param_groups(model, config), lr=config.learning_rate)
        self.best: dict[str, Tensor] = {}
        self.train, self.val = (mask.nonzero()[:, 0] for mask in (data.train, data.val))
        device = data.x.device
        self._masks = masks or make_masks(dropout_generator(config.seed, device), data.train)
        self._random = GlobalRandom(config.seed, device)
        # Gradients in float16 would underflow. Elsewhere it does nothing.
        self._scaler = torch.amp.GradScaler(device.type, enabled=data.autocast == torch.float16)
        self._checked = False

    def descend(self) -> Tensor:
        """Train for one epoch, and return the loss before each step, on average."""
        self.epoch += 1
        for group in self.optimizer.param_groups:
            group["lr"] = self.config.rate(self.epoch)
        return self.steps()

    def steps(self) -> Tensor:
        """Make the steps of an epoch, and return the loss before each, on average."""
        return self.step(self.train)

    def step(self, rows: Tensor) -> Tensor:
        """Make one training step on the loss of some rows, and return the loss before it."""
        self.model.train()
        self.optimizer.zero_grad()
        with self._random.active(), self._masks.active():
            scores = self.forward(rows)
        loss = self.backward(scores, rows)
        self._scaler.step(self.optimizer)
        self._scaler.update()
        return loss.cpu().double()  # in this order: MPS has no float64

    def forward(self, rows: Tensor) -> Tensor:
        """Scores that include those of some rows."""
        scores = self.data.scores(self.model)
        if not self._checked:
            self.data.check_scores(scores)
            self._checked = True
        return scores

    def backward(self, scores: Tensor, rows: Tensor) -> Tensor:
        """Compute the gradients, and return the loss."""
        loss = self.loss(scores, rows)
        if hasattr(self.model, "penalty"):
            loss = loss + self.model.penalty()
        self._scaler.scale(loss).backward()  # type: ignore[no-untyped-call]
        return loss.detach()

    def loss(self, scores: Tensor, rows: Tensor) -> Tensor:
        """Mean loss of some rows, from the scores of :meth:`forward`."""
        return self.data.loss(scores, rows)

    def evaluate(self) -> Tensor:
        """The scores of the current weights in evaluation mode."""
        with self._random.active():
            return self.data.evaluate(self.model)

    def validate(self) -> Tensor:
        """Evaluate the current weights: the fields of :class:`Scores`; shape: ``(3,)``."""
        return self.measure(self.evaluate()).cpu()

    def measure(self, scores: Tensor) -> Tensor:
        """Validation loss, and the metric of training and validation nodes; shape: ``(3,)``."""
        loss = self.data.loss(scores, self.val)
        found = [loss, *(self.data.score(scores, own) for own in (self.train, self.val))]
        return torch.stack([value.cpu().double() for value in found])

    def current(self) -> dict[str, Tensor]:
        """A copy of the current weights."""
        return {name: tensor.clone() for name, tensor in self.model.state_dict().items()}

    def state(self, best: Mapping[str, Tensor] | None) -> dict[str, Tensor]:
        """See :meth:`graphsct.training.backend.Backend.state`."""
        tensors = {f"model.{k}": v for k, v in self.model.state_dict().items()}
        tensors |= {f"best.{k}": v for k, v in (self.best if best is None else best).items()}
        for index, moments in self.optimizer.state_dict()["state"].items():
            tensors |= {f"adam.{index}.{k}": v for k, v in moments.items()}
        tensors |= {f"scaler.{k}": torch.tensor(v) for k, v in self._scaler.state_dict().items()}
        if self.config.warm_up:
            tensors["epoch"] = torch.tensor(self.epoch)
        return tensors | {"random": self._masks.generator.get_state()} | self._random.state()

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """See :meth:`graphsct.training.backend.Backend.restore`."""
        parts: dict[str, dict[str, Tensor]] = {}
        for name, tensor in tensors.items():
            part, _, rest = name.partition(".")
            parts.setdefault(part, {})[rest] = tensor
        self.model.load_state_dict(parts["model"])
        self.best = parts.get("best", {})
        moments: dict[int, dict[str, Tensor]] = {}
        for name, tensor in parts.get("adam", {}).items():
            index, _, key = name.partition(".")
            moments.setdefault(int(index), {})[key] = tensor
        groups = self.optimizer.state_dict()["param_groups"]
        self.optimizer.load_state_dict({"state": moments, "param_groups": groups})
        if "scaler" in parts:
            self._scaler.load_state_dict({k: v.item() for k, v in parts["scaler"].items()})
        if "epoch" in tensors:
            self.epoch = int(tensors["epoch"])
        self._masks.generator.set_state(tensors["random"])
        self._random.restore(tensors)


class Autograd:
    """A :class:`~graphsct.training.backend.Backend` that trains any models, one after another.

    Args:
        models: models of any kind
        data: one per model
        configs: one per model
    """

    name = "autograd"

    def __init__(
        self,
        models: Sequence[torch.nn.Module],
        data: Sequence[TrainingData],
        configs: Sequence[TrainConfig],
    ) -> None:
        self._runs = [self.begin(*run) for run in zip(models, data, configs, strict=True)]

    def begin(self, model: torch.nn.Module, data: TrainingData, config: TrainConfig) -> AutogradRun:
        """Start one run."""
        return AutogradRun(model, data, config)

    def descend(self) -> Tensor:
        """See :meth:`graphsct.training.backend.Backend.descend`."""
        return torch.stack([run.descend() for run in self._runs])

    def validate(self) -> Scores:
        """See :meth:`graphsct.training.backend.Backend.validate`."""
        return Scores(*torch.stack([run.validate() for run in self._runs], dim=1))

    def remember(self, better: Tensor) -> None:
        """See :meth:`graphsct.training.backend.Backend.remember`."""
        for place in better.nonzero()[:, 0].tolist():
            self._runs[place].best = self._runs[place].current()

    def weights(self, run: int) -> dict[str, Tensor]:
        """See :meth:`graphsct.training.backend.Backend.weights`."""
        return self._runs[run].best

    def current(self, run: int) -> dict[str, Tensor]:
        """See :meth:`graphsct.training.backend.Backend.current`."""
        return self._runs[run].current()

    def keep(self, runs: Tensor) -> None:
        """See :meth:`graphsct.training.backend.Backend.keep`."""
        self._runs = [self._runs[run] for run in runs.tolist()]

    def state(self, run: int, best: dict[str, Tensor] | None = None) -> dict[str, Tensor]:
        """See :meth:`graphsct.training.backend.Backend.state`."""
        return self._runs[run].state(best)

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """See :meth:`graphsct.training.backend.Backend.restore`."""
        self._runs[0].restore(tensors)


def param_groups(model: Any, config: TrainConfig) -> Any:
    """The model's own groups if it has any, else all its parameters with the dense weight decay."""
    if hasattr(model, "param_groups"):
        decays = {
            "conv_weight_decay": config.conv_weight_decay,
            "dense_weight_decay": config.dense_weight_decay,
        }
        if config.offset_weight_decay:  # a user's own method may not know it
            decays["offset_weight_decay"] = config.offset_weight_decay
        return model.param_groups(**decays)
    return [{"params": list(model.parameters()), "weight_decay": config.dense_weight_decay}]
