"""Small models around one operation, trained by the engine and by autograd."""

import copy
from dataclasses import dataclass
from types import SimpleNamespace

import pytest
import torch
from torch.nn import functional as F
from torch.testing import assert_close
from zoo import ZOO

from graphsct.datasets.splits import Split
from graphsct.engine import engine as engines
from graphsct.engine.engine import Engine, supports
from graphsct.engine.program import Arena, Program
from graphsct.engine.tape import Tape
from graphsct.nn import CONTROLS, GCNConv
from graphsct.nn.dropout import Masks
from graphsct.nn.linear import Linear

FEATURES, WIDTH, CLASSES = 5, 4, 3
#: No control, and those that the engine records.
RECORDED = [None, *CONTROLS]
#: Settings by which weights stay as they are, so that two steps have the same gradients.
STILL = SimpleNamespace(
    learning_rate=0.0,
    warm_up=0,
    conv_weight_decay=0.0,
    dense_weight_decay=0.0,
    offset_weight_decay=0.0,
)


def random(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, dtype=torch.float64, generator=generator)


def shake(model, seed):
    """The model in float64 with weights none of which is zero or like another."""
    generator = torch.Generator().manual_seed(seed)
    model = model.double()
    for weight in model.parameters():
        noise = torch.randn(weight.shape, dtype=torch.float64, generator=generator)
        weight.data.add_(noise, alpha=0.3)
    return model


class PoisonedArena(Arena):
    """Fills arrays with NaN when they are handed out and when their last user is done."""

    program = None

    def take(self, *shape):
        array = super().take(*shape)
        self.program(array.fill_, torch.nan)
        return array

    def release(self, array):
        super().release(array)
        if not self._users[id(array)]:
            self.program(array.fill_, torch.nan)


class PoisonedProgram(Program):
    """A program whose arrays are of no use to anybody who reads them too early or too late."""

    def __init__(self, arena):
        super().__init__(arena)
        arena.program = self

    def scratch(self, use, *shape):
        array = super().scratch(use, *shape)
        self(array.fill_, torch.nan)
        return array


def arrange(graph):
    """The graph with an order for the engine, as if it were a large one."""
    graph = copy.copy(graph)
    graph.order = torch.randperm(graph.num_nodes, generator=torch.Generator().manual_seed(3))
    return graph


class Problem:
    """One or two runs with splits of their own on a graph of the zoo."""

    def __init__(self, case=ZOO["many_components"], *, sparse=False, runs=2, arranged=False):
        self.graph = arrange(case.graph()) if arranged else case.graph()
        n = case.num_nodes
        self.x = random(n, FEATURES)
        if sparse:
            self.x = (self.x * (self.x > 0)).to_sparse_csr()
        self.y = torch.arange(n) % CLASSES
        place = torch.arange(n)
        self.splits = [
            Split(place % 3 == 0, place % 3 == min(1, n - 1), place % 3 == 2),
            Split(place % 2 == 0, place % 2 == min(1, n - 1), place > n),
        ][:runs]

    def engine(self, models, *, configs=None, seeds=(0, 1), poisoned=False):
        configs = configs or [STILL] * len(models)
        generators = [torch.Generator().manual_seed(seed) for seed in seeds[: len(models)]]
        given = models, self.x, self.graph, self.y, self.splits, configs, generators
        with pytest.MonkeyPatch.context() as patch:
            if poisoned:
                patch.setattr(engines, "Arena", PoisonedArena)
                patch.setattr(engines, "Program", PoisonedProgram)
            return Engine(*given)

    def tapes(self, models):
        """The tapes that an engine emits, in training and in evaluation."""
        found, emit = [], Tape.emit
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Tape, "emit", lambda tape, do: (found.append(tape), emit(tape, do)))
            self.engine(models)
        return found

    def supports(self, model):
        return supports(model, self.x, self.graph)

    def loss(self, model, split):
        scores = model(self.x, self.graph)
        loss = F.cross_entropy(scores[split.train], self.y[split.train])
        return loss + model.penalty() if hasattr(model, "penalty") else loss

    @torch.no_grad()
    def evaluate(self, model, split):
        """Validation loss, training and validation accuracy."""
        scores = model.eval()(self.x, self.graph)
        right = (scores.argmax(1) == self.y).double()
        loss = F.cross_entropy(scores[split.val], self.y[split.val])
        return torch.stack([loss, right[split.train].mean(), right[split.val].mean()])


def check_gradients(problem, models, *, steps=2):
    """The engine's losses, gradients, buffers and evaluation are those of autograd.

    The models are supported, and the arrays of the engine are poisoned where nobody may read them.
    """
    assert all(problem.supports(model) for model in models)
    engine = problem.engine(models, poisoned=True)
    before = torch.stack(engine.validate())
    losses = [engine.descend() for _ in range(steps)][-1]
    after = torch.stack(engine.validate())
    for run, (model, split) in enumerate(zip(models, problem.splits, strict=True)):
        model = copy.deepcopy(model)
        assert_close(before[:, run], problem.evaluate(model, split))
        masks = Masks(torch.Generator().manual_seed(run), split.train)
        for _ in range(steps):
            model.train().zero_grad()
            with masks.active():
                loss = problem.loss(model, split)
            loss.backward()
        assert_close(losses[run], loss.detach())
        found = engine.gradients(run)
        close = dict(rtol=1e-8, atol=1e-10)
        for key, weight in model.named_parameters():
            assert_close(found[key], weight.grad, **close, msg=lambda m, key=key: f"{key}: {m}")
        for key, value in model.named_buffers():
            assert_close(engine.current(run)[key], value)
        assert_close(after[:, run], problem.evaluate(model, split))


class Net(torch.nn.Module):
    """A body between two linear layers.

    Args:
        body: a function of the net, features and graph
        width: of what the body returns
        parts: modules and parameters of the body
    """

    def __init__(self, body, width=WIDTH, **parts):
        super().__init__()
        self.input, self.output = Linear(FEATURES, WIDTH), torch.nn.Linear(width, CLASSES)
        for name, part in parts.items():
            setattr(self, name, copy.deepcopy(part))
        self.body = body

    def forward(self, x, graph):
        return self.output(self.body(self, self.input(x), graph))


#: What stands around a body: it is computed at some rows, or at all; a control leaves coordinates
#: behind its input, or behind its output.
PLACES = {
    "some rows": lambda net, body, x, graph: body(net, x, graph),
    "all rows": lambda net, body, x, graph: graph.propagate(body(net, x, graph)),
    "after a control": lambda net, body, x, graph: body(net, net.around(x, graph), graph),
    "before a control": lambda net, body, x, graph: net.around(body(net, x, graph), graph),
}


@dataclass(frozen=True)
class Context:
    """Where a body stands, how often it is used and by how many runs."""

    place: str
    twice: bool
    runs: int

    def models(self, body, width, parts, components):
        whole = _twice(body) if self.twice else body
        if "control" in self.place:
            size = WIDTH if self.place.startswith("after") else width
            control = dict(control="pooled", num_components=components)
            parts = {**parts, "around": GCNConv(size, size, bias=False, **control)}

        def surrounded(net, x, graph):
            return PLACES[self.place](net, whole, x, graph)

        return [shake(Net(surrounded, width, **parts), seed) for seed in range(self.runs)]

    def check(self, body, *, width=WIDTH, sparse=False, **parts):
        """Train a net with this body by the engine and by autograd."""
        problem = Problem(sparse=sparse, runs=self.runs)
        models = self.models(body, width, parts, problem.graph.num_components)
        check_gradients(problem, models)


def _twice(body):
    """Inputs, weights and outputs are all used twice."""

    def forward(net, x, graph):
        once = body(net, x, graph)
        return once * 0.5 + body(net, torch.tanh(x), graph) + once

    return forward


#: Every place once and twice; each of the two is seen with one run and with two.
CONTEXTS = [
    Context(place, twice, 1 + (number + twice) % 2)
    for number, place in enumerate(PLACES)
    for twice in (False, True)
]
