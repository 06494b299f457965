r"""Full-batch training of k models of the same shape at once, without autograd.

What makes it fast: a tape of operations over arrays that are made once; sparse products whose
transpose is known; each layer only at the nodes that the scores depend on; dropout that costs less
than a product; and, for small graphs, few calls, which are prepared once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from graphsct.datasets.splits import Split
from graphsct.datasets.targets import Kind
from graphsct.engine.adam import Adam, Settings
from graphsct.engine.build import late_convolutions, record
from graphsct.engine.dropout import Noise
from graphsct.engine.input_layer import Features
from graphsct.engine.operators import take_rows
from graphsct.engine.output_layer import LOSSES, Measure
from graphsct.engine.penalties import PENALTIES
from graphsct.engine.products import Matrix
from graphsct.engine.program import Arena, OneThread, Program
from graphsct.engine.tape import Tape
from graphsct.engine.weights import Weights
from graphsct.engine.workspace import GraphOperators, Workspace
from graphsct.graph import Graph
from graphsct.nn.checks import hooks_of
from graphsct.nn.model import Model

__all__ = ["LITTLE", "Engine", "refusal", "supports"]

#: Below this many multiplications in a layer's largest matrix product, one thread is the fastest:
#: several would wait for each other longer than they work.
LITTLE = 1 << 22


def supports(model: torch.nn.Module, x: Tensor, graph: Graph) -> bool:
    """Whether the engine can train a model on these data."""
    return refusal(model, x, graph) is None


def refusal(model: torch.nn.Module, x: Tensor, graph: Graph) -> str | None:
    """Why the engine cannot train a model on these data, ``None`` if it can."""
    named = dict(model.named_parameters(remove_duplicate=False))
    tensors = [*model.parameters(), *model.buffers(), x, graph.degree]
    if any(map(hooks_of, model.modules())):
        return "it has hooks"
    if any(tensor.device.type != "cpu" for tensor in tensors):
        return "it is not on the CPU"
    if not all(weight.requires_grad for weight in named.values()):
        return "some of its weights are frozen"
    if len(named) > len({id(weight) for weight in named.values()}):
        return "some of its weights have two names"
    if getattr(type(model), "penalty", Model.penalty) not in PENALTIES:
        return "its penalty is its own"
    try:
        weights, operators = Weights.view(model), GraphOperators(graph)
        for training in (True, False):
            workspace = Workspace(operators, weights, model)
            rows = torch.arange(graph.num_nodes)
            record([model], workspace, Features(x, 1), rows, training=training)
    except Exception as error:  # a forward pass for tensors may raise anything on nodes
        return f"its forward pass cannot be recorded ({error})"
    return None


class Engine:
    """Weights, optimizer and memory of k runs.

    Args:
        models: of the same class and shape, for which :func:`supports` holds; their settings may
            differ in dropout alone
        x: features, dense or sparse CSR; shape: ``(n, f)``
        graph: the graph
        y: targets; shape: ``(n,)`` or ``(n, t)``
        splits: one per run
        configs: one per run; they may differ in learning rate, warm-up, weight decay and seed
        generators: one per run, which seeds dropout in each epoch
        kind: the kind of the targets
        measure: computes the metric from scores and targets; defaults to the accuracy of classes
    """

    def __init__(
        self,
        models: Sequence[Any],
        x: Tensor,
        graph: Graph,
        y: Tensor,
        splits: Sequence[Split],
        configs: Sequence[Settings],
        generators: Sequence[torch.Generator],
        kind: Kind = "classes",
        measure: Measure | None = None,
    ) -> None:
        self.models, self.splits, self.configs = list(models), list(splits), list(configs)
        self.generators = list(generators)
        self.kind, self.measure = kind, measure
        self._arrange(x, graph, y)
        self._operators = GraphOperators(self.graph)
        splits = self.splits
        train = torch.stack([split.train for split in splits]).any(0)
        val = torch.stack([split.val for split in splits]).any(0)
        self._rows = {True: train.nonzero()[:, 0], False: (train | val).nonzero()[:, 0]}
        self._late: dict[bool, frozenset[int]] = {}
        self._build(Weights(models), steps=0)

    def _arrange(self, x: Tensor, graph: Graph, y: Tensor) -> None:
        """Put the nodes in the graph's order; each node keeps its random numbers."""
        order = self._order = graph.order
        self.x, self.graph, self.y, self._drawn = x, graph.arranged, y, order
        if order is None:
            return
        if x.layout == torch.sparse_csr:
            self.x, self._drawn = take_rows(x, order)
        else:
            self.x = x[order]
        self.y = y[order]
        self.splits = [Split(*(mask[order] for mask in split)) for split in self.splits]

    def _record(self, weights: Weights, features: Features, *, training: bool) -> Tape:
        """A tape of all runs, with the fastest order of products."""

        def tape(late: frozenset[int]) -> Tape:
            workspace, rows = Workspace(self._operators, weights, model), self._rows[training]
            return record(self.models, workspace, features, rows, training=training, late=late)

        model = self.models[0]
        if training in self._late:
            return tape(self._late[training])
        early = tape(frozenset())
        self._late[training] = late_convolutions(early)
        return tape(self._late[training]) if self._late[training] else early

    def _build(self, weights: Weights, steps: int) -> None:
        """Everything that depends on the number of runs, and the programs of an epoch."""
        self._weights, k = weights, len(self.models)
        features = Features(self.x, k, self._drawn)
        self._numbers = torch.zeros(4, k, dtype=torch.float64)
        arena = Arena(next(self.models[0].parameters()).detach())
        tape = self._record(weights, features, training=True)
        loss = LOSSES[self.kind]
        tape.end_with(loss(tape.root, self.y, self.splits, "train", self._numbers[0]))
        drops = [node.words for node in tape.nodes if hasattr(node, "words")]
        self._noise = tape.noise = Noise(self.generators, drops)
        tape.orders = self._order, self._output_order()
        self._training = Program(arena)
        Matrix.refresh(self._training, tape.matrices, weights)
        tape.emit(self._training)
        penalty = getattr(type(self.models[0]), "penalty", Model.penalty)
        PENALTIES[penalty](self._training, self.models[0], weights, self._numbers[0])

        tape = self._record(weights, features, training=False)
        rest = self._numbers[1], self._numbers[2:].t()
        tape.end_with(loss(tape.root, self.y, self.splits, "val", *rest, self.measure))
        self._evaluation = Program(arena)
        Matrix.refresh(self._evaluation, tape.matrices, weights)
        tape.emit(self._evaluation)

        self._optimizer = Adam(weights, self.configs, steps)
        widest = max(weight.shape[-1] for weight in self.models[0].parameters() if weight.dim() > 1)
        work = k * widest * max(self.graph.num_nodes * widest, len(self.graph.matrix.values()))
        self.threads = OneThread(work < LITTLE)

    def _output_order(self) -> Tensor | None:
        """The drawn row that each run would use alone, ``None`` if in order; shape: ``(k, r)``."""
        rows = self._rows[True]
        own = torch.stack([split.train[rows] for split in self.splits])
        if self._order is None and bool(own.all()):
            return None
        by_id = (rows if self._order is None else self._order[rows]).argsort()
        places = torch.empty(own.shape, dtype=torch.long)
        places[:, by_id] = (own[:, by_id].cumsum(1) - 1).clamp_min(0)
        return places

    def remember(self, runs: Tensor) -> None:
        """Keep the weights of these runs as their best; shape: ``(k,)`` of bool."""
        self._weights.remember(runs)

    def keep(self, runs: Tensor) -> None:
        """Continue with these runs only, given by their numbers; shape: ``(k',)``."""
        numbers = runs.tolist()
        steps, weights = self._optimizer.steps, self._weights.take(runs)
        for name in ("models", "splits", "configs", "generators"):
            setattr(self, name, [getattr(self, name)[run] for run in numbers])
        self._build(weights, steps)

    def weights(self, run: int = 0) -> dict[str, Tensor]:
        """The best weights of a run so far, by their names in the model."""
        return self._weights.read("best", run)

    def current(self, run: int = 0) -> dict[str, Tensor]:
        """A copy of the current weights of a run, by their names in the model."""
        return self._weights.read("value", run)

    def gradients(self, run: int = 0) -> dict[str, Tensor]:
        """A copy of the gradients of the last step of a run, by their names in the model."""
        return self._weights.read("grad", run)

    def state(self, run: int = 0, best: Mapping[str, Tensor] | None = None) -> dict[str, Tensor]:
        """Everything that the rest of a run depends on, random numbers included.

        Args:
            run: number of the run
            best: weights to store instead of the run's best ones
        """
        parts = ("value", "mean", "square", "best")
        tensors = {f"engine.{part}": self._weights.flatten(part, run) for part in parts}
        if best is not None:
            tensors["engine.best"] = self._weights.flatten_model(best)
        steps, random = torch.tensor(self._optimizer.steps), self.generators[run].get_state()
        return tensors | {"engine.steps": steps, "random": random}

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """Continue a single run from its :meth:`state`, bit for bit."""
        for part, flat in self._weights.flat.items():
            if part != "grad":
                flat.copy_(tensors[f"engine.{part}"])
        self._optimizer.restore(int(tensors["engine.steps"]))
        self.generators[0].set_state(tensors["random"])

    @torch.no_grad()
    def descend(self) -> Tensor:
        """Make a training step; return the loss of each run before the step; shape: ``(k,)``."""
        with self.threads:
            self._noise.begin()
            self._training.run()
            self._optimizer.step()
        return self._numbers[0].clone()

    @torch.no_grad()
    def validate(self) -> tuple[Tensor, Tensor, Tensor]:
        """Validation loss, and the metric of training and validation nodes; ``(k,)`` each."""
        with self.threads:
            self._evaluation.run()
        val_loss, train_score, val_score = self._numbers[1:].clone()
        return val_loss, train_score, val_score
