r"""Full-batch training of k models of the same shape at once, without autograd.

What makes it fast: gradients written by hand over arrays that are made once; sparse products
whose transpose is known; the last layer only for the nodes whose labels are looked at; dropout
that costs less than a product; and, for small graphs, few calls, which are prepared once.
:class:`~graphsct.training.trial.Trial` is the plain form of the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from graphsct.datasets.splits import Split
from graphsct.engine.activations import BENDS
from graphsct.engine.adam import Adam
from graphsct.engine.calls import Calls, OneThread, apart
from graphsct.engine.input_layer import DenseInput, SparseInput
from graphsct.engine.layers import LateLayer, Layer
from graphsct.engine.masking import Masking, Noise
from graphsct.engine.operators import Operators, read
from graphsct.engine.output_layer import Head
from graphsct.engine.weights import Stack
from graphsct.graph import Graph
from graphsct.nn import GCN, GCNII, EnergeticConv, EnergeticGNN, GCN2Conv, GCNConv
from graphsct.training.config import TrainConfig

__all__ = ["Engine", "supports"]

#: Products of numbers in the largest matrix product of a layer, up to which threads that share it
#: wait for each other longer than they work.
_LITTLE = 1 << 22


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
        """Everything whose shape depends on the number of runs, and the calls of an epoch."""
        self.stack = stack
        first, models = self.models[0], self.models
        self.dense_masking = Masking([model.dropout for model in models])
        self.conv_masking = Masking([model.conv_dropout for model in models])
        first_layer = DenseInput if self.x.layout == torch.strided else SparseInput
        self.input = first_layer(self.x, stack, self.dense_masking)
        self.bends = [
            BENDS[type(module)](module, f"activations.{i}", stack)
            for i, module in enumerate(first.activations)
        ]
        self.head, self.eval_head = (
            Head(stack, self.y, rows, self.splits, part)
            for rows, part in ((self.train_rows, "train"), (self.eval_rows, "val"))
        )
        self._make_layers()
        self._make_arrays()
        self._make_noise()
        self.numbers = torch.zeros(4, len(models), dtype=torch.float64)
        self.training, self.backward, self.evaluation = (
            Calls(stack.value["input.weight"]) for _ in range(3)
        )
        self._forward(self.training, training=True)
        self._backward(self.backward)
        self._forward(self.evaluation, training=False)
        self.optimizer = Adam(stack, self.configs, steps)
        n, wide = self.graph.num_nodes, len(models) * first.hidden_channels
        work = wide * max(n * first.hidden_channels, len(self.graph.matrix.values()))
        self.threads = OneThread(work < _LITTLE)

    def _make_layers(self) -> None:
        """Convolutions, the last one once for each set of nodes, and the matrices V of all."""
        first, stack, (everywhere, train, evaluate) = self.models[0], self.stack, self.operators
        found = [read(conv, f"convs.{i}") for i, conv in enumerate(first.convs)]
        weights = stack.layers("value", [name for _, name in found])
        self.matrices, self.refreshed = weights, None
        if found[0][0].s:
            dtype = weights.dtype
            s, b = (
                torch.tensor([getattr(n, part) for n, _ in found], dtype=dtype).view(-1, 1, 1, 1)
                for part in "sb"
            )
            self.matrices = torch.empty_like(weights)
            self.refreshed = s * torch.eye(weights.shape[2], dtype=dtype), weights, b
        self.late = isinstance(first, GCN)
        inner = LateLayer if self.late else Layer

        def make(kind: type[Layer], i: int, operators: Operators) -> Layer:
            return kind(first.convs[i], f"convs.{i}", stack, operators, self.matrices[i])

        self.inner = [make(inner, i, everywhere) for i in range(first.num_layers - 1)]
        self.last, self.eval_last = (
            make(Layer, len(self.inner), rows) for rows in (train, evaluate)
        )
        self.uses_initial = bool(found[0][0].v)
        self.pools_initial = self.controlled and (
            self.uses_initial or first.convs[0].control.needs_initial
        )

    def _make_arrays(self) -> None:
        """Arrays of all features; those with coordinates behind them have m more rows."""
        make, n = self.stack.value["input.weight"].new_empty, self.graph.num_nodes
        m = self.graph.num_components if self.controlled else 0
        r, layers = len(self.train_rows), len(self.inner) + 1
        wide = len(self.models) * self.models[0].hidden_channels
        self.hidden = [make(n + m, wide) for _ in range(layers)]  # inputs of the convolutions
        if self.late:
            self.mixed = [make(n + m, wide)] * len(self.inner)  # not needed backward
        else:
            self.mixed = [make(n + m, wide) for _ in self.inner]
        separate = not all(bend.through_dropout for bend in self.bends)
        self.noise = [make(n, wide) for _ in range(layers if separate else 1)]
        self.noise_train = make(r, wide)
        self.dropped = [h[:n] for h in self.hidden]
        # ReLU's gradient needs the dropped features alone; initial features must stay.
        alone = separate or self.uses_initial or self.pools_initial
        if self.conv_masking and alone:
            own = self.dropped if separate else self.dropped[:1]
            self.dropped[: len(own)] = [make(n, wide) for _ in own]
        self.down = [make(n + m, wide), make(n + m, wide)]
        self.dz_train = make(r + m, wide)
        self.dstart = make(n + m if self.uses_initial or self.pools_initial else 0, wide)

    def _make_noise(self) -> None:
        """What is dropped in an epoch: of the input, of the convolutions' inputs, of the output."""
        n, r, d = self.graph.num_nodes, len(self.train_rows), self.models[0].hidden_channels
        dense = [self.dense_masking.words(count) for count in (self.input.entries, r * d)]
        conv = [self.conv_masking.words(n * d) for _ in self.hidden]
        masks = [dense[0]] * bool(self.dense_masking)
        masks += conv * bool(self.conv_masking)
        masks += [dense[1]] * bool(self.dense_masking)
        self.words = Noise(self.generators, masks)
        # A run that looks at fewer nodes than all together takes its numbers in its own order.
        own = torch.stack([split.train[self.train_rows] for split in self.splits])
        self.own_rows = None
        if not bool(own.all()):
            order = (own.cumsum(1) - 1).clamp_min(0)
            self.own_rows = order.unsqueeze(2).expand(-1, -1, d)  # (k, r, d)

    def remember(self, runs: Tensor) -> None:
        """Keep the weights of these runs as their best; shape: ``(k,)`` of bool."""
        self.stack.remember(runs)

    def keep(self, runs: Tensor) -> None:
        """Go on with these runs alone; shape: ``(k',)``, their numbers."""
        numbers = runs.tolist()
        steps, stack = self.optimizer.steps, self.stack.take(runs)
        for name in ("models", "splits", "configs", "generators"):
            setattr(self, name, [getattr(self, name)[run] for run in numbers])
        self._build(stack, steps)

    def state(self, run: int = 0) -> dict[str, Tensor]:
        """What the rest of a run depends on, besides random numbers."""
        alone = self.stack if self.stack.runs == 1 else self.stack.take(torch.tensor([run]))
        tensors = {f"engine.{k}": v.clone() for k, v in alone.flat.items() if k != "grad"}
        return tensors | {"engine.steps": torch.tensor(self.optimizer.steps)}

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """Go on from :meth:`state`, with one run."""
        for name, flat in self.stack.flat.items():
            if name != "grad":
                flat.copy_(tensors[f"engine.{name}"])
        self.optimizer.restore(int(tensors["engine.steps"]))

    def weights(self, run: int = 0) -> dict[str, Tensor]:
        """The best weights of a run so far, by their names in the model."""
        return self.stack.read("best", run)

    @torch.no_grad()
    def descend(self) -> Tensor:
        """One step of training; the loss of each run before it; shape: ``(k,)``."""
        with self.threads:
            self.words.begin()
            self.training.run()
            self.backward.run()
            self.optimizer.step()
        return self.numbers[0].clone()

    @torch.no_grad()
    def validate(self) -> tuple[Tensor, Tensor, Tensor]:
        """Validation loss, training and validation accuracy of each run; of shape ``(k,)``."""
        with self.threads:
            self.evaluation.run()
        val_loss, train_accuracy, val_accuracy = self.numbers[1:].clone()
        return val_loss, train_accuracy, val_accuracy

    def _forward(self, do: Calls, *, training: bool) -> None:
        """Calls that compute the losses, and in evaluation the accuracies."""
        n, drop = self.graph.num_nodes, training and bool(self.conv_masking)
        scale = self.conv_masking.scale if drop else 1.0
        if self.refreshed is not None:
            do(torch.addcmul, *self.refreshed, out=self.matrices)
        start = self.hidden[0]
        words = self.words.take(do) if training and self.dense_masking else None
        self.input.forward(do, words, start[:n])
        self.bends[0].forward(do, start[:n])
        if self.pools_initial:
            self.operators[0].everywhere.pool(do, start[:n], start[n:])
        for i, layer in enumerate(self.inner):
            x = self._drop(do, i) if drop else self.hidden[i][:n]
            out = self.hidden[i + 1]
            layer.forward(do, x, scale, start, mixed=self.mixed[i], out=out)
            self.bends[i + 1].forward(do, out[:n])
        x = self._drop(do, -1) if drop else self.hidden[-1][:n]
        last = self.last if training else self.eval_last
        h = self._last_layer(do, last, x, scale)
        self.bends[-1].forward(do, h)
        if training:
            self._loss(do, h)
        else:
            self.eval_head.forward(do, h, 1.0, self.numbers[1])
            self.eval_head.count(do, self.numbers[2:].t())

    def _last_layer(self, do: Calls, last: Layer, x: Tensor, scale: float) -> Tensor:
        """Features of the nodes that are looked at, before the activation; ``(r, k d)``."""
        rows: Any = last.operators.rows
        start = self.hidden[0]
        if self.uses_initial or self.pools_initial:
            start = do.make(len(rows), x.shape[1])
            do(torch.index_select, self.hidden[0], 0, rows, out=start)
        mixed, out = (do.make(len(rows), x.shape[1]) for _ in range(2))
        last.forward(do, x, scale, start, mixed=mixed, out=out)
        return out[: last.operators.forward.shape[0]]

    def _drop(self, do: Calls, i: int) -> Tensor:
        """Input of a convolution with entries dropped, to be scaled; ``(n, k d)``."""
        out, noise, k = self.dropped[i], self._noise(i), len(self.models)
        self.conv_masking.numbers(do, self.words.take(do), apart(noise, k))
        self.conv_masking.apply(do, self.hidden[i][: len(out)], noise, out)
        self.conv_masking.rescale(do, apart(out, k))
        return out

    def _noise(self, i: int) -> Tensor:
        return self.noise[i if len(self.noise) > 1 else 0]

    def _loss(self, do: Calls, h: Tensor) -> None:
        """The losses of training, from features after the last activation."""
        self.h, self.x_head, scale = h, h, 1.0
        if self.dense_masking:
            masking, k = self.dense_masking, len(self.models)
            if not self.bends[-1].through_dropout:
                self.x_head = do.make(*h.shape)
            words = self.words.take(do)
            if self.own_rows is None:
                masking.numbers(do, words, apart(self.noise_train, k))
            else:  # a run uses as many numbers as it would alone
                drawn = do.make(k, *apart(self.noise_train, k).shape[1:])
                masking.numbers(do, words, drawn)
                do(torch.gather, drawn, 1, self.own_rows, out=apart(self.noise_train, k))
            masking.apply(do, h, self.noise_train, self.x_head)
            masking.rescale(do, apart(self.x_head, k))
            scale = masking.scale
        self.head.forward(do, self.x_head, scale, self.numbers[0])

    def _backward(self, do: Calls) -> None:
        """Calls that fill all gradients, and add the penalty to the losses."""
        r, n = len(self.train_rows), self.graph.num_nodes
        scale = self.conv_masking.scale if self.conv_masking else 1.0
        dz = self.dz_train
        self.head.backward(do, dz[:r])
        self._through(do, dz[:r], self.dense_masking, self.noise_train, self.x_head, self.h, -1)
        do(self.dstart.zero_)
        layers = [*self.inner, self.last]
        for i in reversed(range(len(layers))):
            above = do.scratch("above", *dz.shape)
            dx = self.down[i % 2]
            layers[i].backward(do, dz, scale, self.dstart, above=above, out=dx[:n])
            if i:
                x, h = self.dropped[i], self.hidden[i][:n]
                self._through(do, dx[:n], self.conv_masking, self._noise(i), x, h, i)
            dz = dx
        self._backward_initial(do, dx[:n])
        self.input.backward(do, dx[:n])
        self._penalty(do)

    def _through(
        self, do: Calls, dx: Tensor, masking: Masking, noise: Tensor, x: Tensor, h: Tensor, i: int
    ) -> None:
        """Gradient before dropout and activation, in place of that after them."""
        if masking:
            if not self.bends[i].through_dropout:
                masking.apply(do, dx, noise, dx)
            masking.rescale(do, apart(dx, len(self.models)))
        self.bends[i].backward(do, dx, x if masking and self.bends[i].through_dropout else h)

    def _backward_initial(self, do: Calls, dx: Tensor) -> None:
        """Gradient before the first activation, whose result goes three ways."""
        n, masking, bend = len(dx), self.conv_masking, self.bends[0]
        x, h, noise = self.dropped[0], self.hidden[0][:n], self._noise(0)
        if not len(self.dstart):
            self._through(do, dx, masking, noise, x, h, 0)
            return
        if masking and bend.through_dropout:
            masking.rescale(do, apart(dx, len(self.models)))
            bend.backward(do, dx, x)
        elif masking:
            masking.apply(do, dx, noise, dx)
            masking.rescale(do, apart(dx, len(self.models)))
        do(dx.add_, self.dstart[:n])
        if self.pools_initial:
            self.operators[0].everywhere.add(do, self.dstart[n:], dx)
        bend.backward(do, dx, h)

    def _penalty(self, do: Calls) -> None:
        """The distance of all weights from their start; it is the same for k runs."""
        first = self.models[0]
        if not isinstance(first, EnergeticGNN):
            return
        convs: Any = first.convs
        names = [f"convs.{i}.weight" for i in range(len(convs))]
        value, grad = (self.stack.layers(part, names) for part in ("value", "grad"))
        start = torch.stack([conv._start().detach() for conv in convs]).unsqueeze(1)
        do(_add_distance, value, grad, start, first.penalty_weight, self.numbers[0])


def _add_distance(value: Tensor, grad: Tensor, start: Tensor, weight: float, loss: Tensor) -> None:
    """Add weighted distances of each layer to the losses, and their gradients; ``(L, k, d, d)``."""
    difference = value - start
    distance = difference.flatten(2).norm(dim=2)
    loss.add_(distance.sum(0), alpha=weight)
    slope = torch.where(distance > 0, weight / distance, 0)
    grad.addcmul_(difference, slope.unsqueeze(2).unsqueeze(3))
