r"""Full-batch training of k models of the same shape at once, without autograd.

What makes it fast: gradients written by hand over arrays that are made once; sparse products
whose transpose is known; the last layer only for the nodes whose labels are looked at; dropout
that costs less than a product; and, for small graphs, few calls.
:class:`~graphsct.training.trial.Trial` is the plain form of the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from graphsct.datasets.splits import Split
from graphsct.dropout import Lanes
from graphsct.graph import Graph
from graphsct.nn import GCN, GCNII, EnergeticGNN
from graphsct.nn.conv import EnergeticConv, GCN2Conv, GCNConv
from graphsct.training.bends import BENDS
from graphsct.training.config import TrainConfig
from graphsct.training.inputs import DenseInput, SparseInput
from graphsct.training.layers import (
    LateLayer,
    Layer,
    Operators,
    multiply,
    multiply_transposed,
    read,
)
from graphsct.training.masking import Masking
from graphsct.training.stack import Stack

__all__ = ["Engine", "supports"]


def supports(model: torch.nn.Module) -> bool:
    """Whether a model is one of ours, unaltered, without norms, and nobody listens inside it."""
    if type(model) not in (GCN, GCNII, EnergeticGNN):
        return False
    model_: Any = model
    parts = list(model.modules())
    listening = any(
        getattr(part, name)
        for part in parts
        for name in ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks")
    )
    return (
        not listening
        and all(type(conv) in (GCNConv, GCN2Conv, EnergeticConv) for conv in model_.convs)
        and all(getattr(conv, "bias", None) is None for conv in model_.convs)
        and all(type(norm) is torch.nn.Identity for norm in model_.norms)
        and all(type(bend) in BENDS for bend in model_.activations)
        and all(p.device.type == "cpu" and p.requires_grad for p in model.parameters())
    )


class Engine:
    """Weights, optimizer and memory of k runs.

    Args:
        models: of the same class and shape, for which :func:`supports` holds; their settings may
            differ in dropout alone
        x: features, dense or sparse CSR; shape: ``(n, f)``
        graph: the graph
        y: labels; shape: ``(n,)``
        splits: of each run
        configs: of each run; they may differ in learning rate, weight decay and seed
        generators: of each run, from which dropout is seeded in each epoch; PyTorch's own if
            ``None``
    """

    def __init__(
        self,
        models: Sequence[Any],
        x: Tensor,
        graph: Graph,
        y: Tensor,
        splits: Sequence[Split],
        configs: Sequence[TrainConfig],
        generators: Sequence[torch.Generator | None],
    ) -> None:
        self.models, self.splits, self.configs = list(models), list(splits), list(configs)
        self.generators = list(generators)
        self.x, self.graph, self.y = x, graph, y
        train = torch.stack([split.train for split in splits]).any(0)
        val = torch.stack([split.val for split in splits]).any(0)
        self.train_rows = train.nonzero()[:, 0]
        self.eval_rows = (train | val).nonzero()[:, 0]
        first = models[0]
        self.controlled = first.convs[0].control is not None
        numbers, _ = read(first.convs[0], "convs.0")
        self.operators = [
            Operators(graph, numbers, self.controlled, rows)
            for rows in (None, self.train_rows, self.eval_rows)
        ]
        self._build(Stack(models), steps=0)

    def _build(self, stack: Stack, steps: int) -> None:
        """Everything whose shape depends on the number of runs."""
        self.stack = stack
        first, models = self.models[0], self.models
        k, d, n = len(models), first.hidden_channels, self.graph.num_nodes
        self.dense_masking = Masking([model.dropout for model in models])
        self.conv_masking = Masking([model.conv_dropout for model in models])
        if self.dense_masking or self.conv_masking:
            streams = [Lanes(generator) for generator in self.generators]
            self.dense_masking.streams = self.conv_masking.streams = streams
        first_layer = DenseInput if self.x.layout == torch.strided else SparseInput
        self.input = first_layer(self.x, stack, self.dense_masking)
        everywhere, train, evaluate = self.operators
        convs = [(conv, f"convs.{i}") for i, conv in enumerate(first.convs)]
        late = isinstance(first, GCN)
        inner = LateLayer if late else Layer
        self.inner = [inner(conv, name, stack, everywhere) for conv, name in convs[:-1]]
        self.last_train = Layer(*convs[-1], stack, train)
        self.last_eval = Layer(*convs[-1], stack, evaluate)
        self.bends = [
            BENDS[type(module)](module, f"activations.{i}", stack)
            for i, module in enumerate(first.activations)
        ]
        self.uses_initial = any(layer.numbers.v for layer in [*self.inner, self.last_train])
        self.pools_initial = self.controlled and (
            self.uses_initial or first.convs[0].control.needs_initial
        )

        make = stack.value["input.weight"].new_empty
        m = self.graph.num_components if self.controlled else 0
        r, e = len(self.train_rows), len(self.eval_rows)
        kept = first.num_layers
        self.hidden = [make(n, k * d) for _ in range(kept)]  # inputs of the convolutions
        if late:
            self.mixed = [make(n + m, k * d)] * (kept - 1)  # not needed backward
        else:
            self.mixed = [make(n, k * d) for _ in range(kept - 1)]
        self.mixed_train, self.out_train = make(r, k * d), make(r, k * d)
        self.mixed_eval, self.out_eval = make(e, k * d), make(e, k * d)
        self.noise_train = make(r, k * d)
        separate = not all(bend.through_dropout for bend in self.bends)
        self.noise = [make(n, k * d) for _ in range(kept if separate else 1)]
        self.dropped = self.hidden
        if self.conv_masking:
            # ReLU's gradient needs the dropped features alone; initial features must stay.
            alone = separate or self.uses_initial or self.pools_initial
            self.dropped = [
                make(n, k * d) if separate or (alone and i == 0) else h
                for i, h in enumerate(self.hidden)
            ]
        self.above = make(n + m, k * d)
        self.above_train = make(r + m, k * d)
        rooms = [make(n + m, k * d), make(n + m, k * d)]
        self.down = [room[:n] for room in rooms]
        for i, layer in enumerate(self.inner):
            if isinstance(layer, LateLayer):
                layer.dz_room = rooms[(i + 1) % 2]
        self.dh_0 = make(n, k * d) if self.uses_initial or self.pools_initial else make(0)
        self.dpooled_0 = make(m, k * d) if self.pools_initial else None
        self._labels(k)
        self.optimizer = self._make_optimizer(steps)
        self._refresh_penalty()

    def _labels(self, k: int) -> None:
        classes = self.models[0].out_channels
        dtype = self.stack.value["output.bias"].dtype

        def shares(part: str, rows: Tensor) -> Tensor:
            masks = torch.stack([getattr(split, part)[rows] for split in self.splits], dim=1)
            return masks.to(dtype) / masks.sum(0)

        self.train_shares = shares("train", self.train_rows)  # (r, k)
        every = bool((self.train_shares > 0).all())
        self.own_rows = None if every else [own.nonzero()[:, 0] for own in self.train_shares.t()]
        self.noise_train.zero_()
        self.val_shares = shares("val", self.eval_rows)
        self.parts = torch.stack(  # (2, r, k), training and validation
            [
                torch.stack([getattr(split, part)[self.eval_rows] for split in self.splits], dim=1)
                for part in ("train", "val")
            ]
        )
        self.counts = self.parts.sum(1).double()
        one_hot = torch.nn.functional.one_hot(self.y[self.train_rows], classes)
        self.one_hot = one_hot.to(dtype).unsqueeze(1)  # (r, 1, C)
        self.train_y = self.y[self.train_rows].view(-1, 1, 1).expand(-1, k, 1)
        self.eval_y = self.y[self.eval_rows].view(-1, 1, 1).expand(-1, k, 1)

    def _make_optimizer(self, steps: int) -> torch.optim.Adam:
        """Adam on one vector a group if all runs are optimized alike, else on each weight."""

        def settings(config: TrainConfig) -> dict[str, float]:
            conv, dense = config.conv_weight_decay, config.dense_weight_decay
            return {"lr": config.learning_rate, "conv": conv, "dense": dense, "activation": 0.0}

        alike = all(settings(config) == settings(self.configs[0]) for config in self.configs)
        pieces = self.stack.pieces(together=alike)
        groups: dict[tuple[float, float], list[Tensor]] = {}
        for group, run, piece in pieces:
            piece["value"].grad = piece["grad"]
            chosen = settings(self.configs[run])
            groups.setdefault((chosen["lr"], chosen[group]), []).append(piece["value"])
        optimizer = torch.optim.Adam(
            [{"params": ps, "lr": lr, "weight_decay": wd} for (lr, wd), ps in groups.items()],
            fused=True,
        )
        for _, _, piece in pieces:
            optimizer.state[piece["value"]] = {
                "step": torch.tensor(float(steps)),
                "exp_avg": piece["mean"],
                "exp_avg_sq": piece["square"],
            }
        return optimizer

    @property
    def steps(self) -> int:
        """How many steps of training there have been."""
        return int(next(iter(self.optimizer.state.values()))["step"])

    def remember(self, runs: Tensor) -> None:
        """Keep the weights of these runs as their best; shape: ``(k,)`` of bool."""
        self.stack.remember(runs)

    def keep(self, runs: Tensor) -> None:
        """Go on with these runs alone; shape: ``(k',)``, their numbers."""
        numbers = runs.tolist()
        steps, stack = self.steps, self.stack.take(runs)
        for name in ("models", "splits", "configs", "generators"):
            setattr(self, name, [getattr(self, name)[run] for run in numbers])
        self._build(stack, steps)

    def state(self, run: int = 0) -> dict[str, Tensor]:
        """What the rest of a run depends on, besides random numbers."""
        alone = self.stack if self.stack.runs == 1 else self.stack.take(torch.tensor([run]))
        tensors = {f"engine.{k}": v.clone() for k, v in alone.flat.items() if k != "grad"}
        return tensors | {"engine.steps": torch.tensor(self.steps)}

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """Go on from :meth:`state`, with one run."""
        for name, flat in self.stack.flat.items():
            if name != "grad":
                flat.copy_(tensors[f"engine.{name}"])
        self.optimizer = self._make_optimizer(int(tensors["engine.steps"]))

    def weights(self, run: int = 0) -> dict[str, Tensor]:
        """The best weights of a run so far, by their names in the model."""
        return self.stack.read("best", run)

    def _refresh_penalty(self) -> None:
        self.penalized: list[tuple[Tensor, Tensor, Tensor]] = []
        if isinstance(self.models[0], EnergeticGNN):
            convs: Any = self.models[0].convs
            for i, conv in enumerate(convs):
                name = f"convs.{i}.weight"
                self.penalized.append(
                    (self.stack.value[name], self.stack.grad[name], conv._start().detach())
                )

    @torch.no_grad()
    def descend(self) -> Tensor:
        """One step of training; the loss of each run before it; shape: ``(k,)``."""
        for stream in self.conv_masking.streams:
            stream.reseed()
        loss = self._backward(self._forward(training=True))
        self.optimizer.step()
        return loss

    def _forward(self, *, training: bool) -> Tensor:
        """Last features of the nodes that are looked at; shape: ``(r, k d)``."""
        drop = training and bool(self.conv_masking)
        scale = self.conv_masking.scale if drop else 1.0
        h = self.bends[0].forward(self.input.forward(training=training, out=self.hidden[0]))
        h_0 = h
        pooled_0 = self.operators[0].everywhere.pool(h_0) if self.pools_initial else None
        for i, layer in enumerate(self.inner):
            x = self._drop(i) if drop else h
            out = self.hidden[i + 1]
            layer.forward(x, scale, h_0, pooled_0, mixed=self.mixed[i], out=out)
            h = self.bends[i + 1].forward(out)
        x = self._drop(len(self.inner)) if drop else h
        if training:
            last, mixed, out = self.last_train, self.mixed_train, self.out_train
        else:
            last, mixed, out = self.last_eval, self.mixed_eval, self.out_eval
        last.forward(x, scale, h_0, pooled_0, mixed=mixed, out=out)
        return self.bends[-1].forward(out)

    def _drop(self, i: int) -> Tensor:
        noise = self.noise[i if len(self.noise) > 1 else 0]
        return self.conv_masking.draw(self.hidden[i], noise, self.dropped[i])

    def _backward(self, h: Tensor) -> Tensor:
        weight, bias = self.stack.value["output.weight"], self.stack.value["output.bias"]
        k, _, classes = weight.shape
        x, scale = h, 1.0
        if self.dense_masking:
            fused = self.bends[-1].through_dropout
            x = h if fused else torch.empty_like(h)
            self.dense_masking.draw(h, self.noise_train, x, self.own_rows)
            scale = self.dense_masking.scale
        scaled = weight * scale
        scores = multiply(x, scaled).add_(bias.view(-1)).view(-1, k, classes)
        logs = _log_softmax(scores)
        loss = -(logs.gather(2, self.train_y)[:, :, 0] * self.train_shares).sum(0)
        dscores = logs.exp_().sub_(self.one_hot).mul_(self.train_shares.unsqueeze(2))
        dscores = dscores.view(x.shape[0], k * classes)
        multiply_transposed(x, dscores, self.stack.grad["output.weight"], scale)
        torch.sum(dscores, dim=0, out=self.stack.grad["output.bias"].view(-1))
        dx = multiply(dscores, scaled.transpose(1, 2))
        dz = self._through(dx, self.dense_masking, self.noise_train, x, h, len(self.bends) - 1)
        self._backward_layers(dz)
        loss.add_(self._penalty())
        return loss.double()

    def _through(
        self, dx: Tensor, masking: Masking, noise: Tensor, x: Tensor, h: Tensor, bend: int
    ) -> Tensor:
        """Gradient before dropout and activation, in place of that after them."""
        if not masking:
            return self.bends[bend].backward(dx, h)
        if self.bends[bend].through_dropout:
            return self.bends[bend].backward(masking.rescale(dx), x)
        return self.bends[bend].backward(masking.apply(dx, noise, dx), h)

    def _backward_layers(self, dz: Tensor) -> None:
        masking, dh_0, dpooled_0 = self.conv_masking, self.dh_0, self.dpooled_0
        scale = masking.scale if masking else 1.0
        dh_0.zero_()
        if dpooled_0 is not None:
            dpooled_0.zero_()
        layers = [*self.inner, self.last_train]
        for i in reversed(range(len(layers))):
            above = self.above_train if layers[i] is self.last_train else self.above
            dx = self.down[i % 2]
            layers[i].backward(dz, scale, dh_0, dpooled_0, above=above, out=dx)
            if i:
                noise = self.noise[i if len(self.noise) > 1 else 0]
                dz = self._through(dx, masking, noise, self.dropped[i], self.hidden[i], i)
        self.input.backward(self._backward_initial(dx))

    def _backward_initial(self, dx: Tensor) -> Tensor:
        """Gradient before the first activation, whose result goes three ways."""
        if not self.dh_0.numel():
            noise = self.noise[0]
            return self._through(dx, self.conv_masking, noise, self.dropped[0], self.hidden[0], 0)
        if self.conv_masking:
            if self.bends[0].through_dropout:
                self.bends[0].backward(self.conv_masking.rescale(dx), self.dropped[0])
            else:
                self.conv_masking.apply(dx, self.noise[0], dx)
        dx.add_(self.dh_0)
        if self.dpooled_0 is not None:
            self.operators[0].everywhere.add(self.dpooled_0, dx)
        return self.bends[0].backward(dx, self.hidden[0])

    def _penalty(self) -> Tensor | float:
        total: Tensor | float = 0.0
        for value, grad, start in self.penalized:
            apart = value - start
            distance = apart.flatten(1).norm(dim=1)
            total = total + self.models[0].penalty_weight * distance
            slope = self.models[0].penalty_weight / distance
            slope = torch.where(distance > 0, slope, 0).view(-1, 1, 1)
            grad.addcmul_(apart, slope)
        return total

    @torch.no_grad()
    def validate(self) -> tuple[Tensor, Tensor, Tensor]:
        """Validation loss, training and validation accuracy of each run; of shape ``(k,)``."""
        h = self._forward(training=False)
        weight, bias = self.stack.value["output.weight"], self.stack.value["output.bias"]
        k, _, classes = weight.shape
        scores = multiply(h, weight).add_(bias.view(-1)).view(-1, k, classes)
        logs = _log_softmax(scores)
        val_loss = -(logs.gather(2, self.eval_y)[:, :, 0] * self.val_shares).sum(0)
        right = scores.argmax(2) == self.eval_y[:, :, 0]
        accuracy = (right & self.parts).sum(1) / self.counts
        return val_loss.double(), accuracy[0], accuracy[1]


def _log_softmax(scores: Tensor) -> Tensor:
    """Of the last dimension. PyTorch's takes four times as long if it is short and k is not 1."""
    if scores.shape[2] > 16:
        return torch.log_softmax(scores, dim=2)
    shifted = scores - scores.amax(2, keepdim=True)
    return shifted.sub_(shifted.exp().sum(2, keepdim=True).log_())
