r"""Times of a full epoch, ours and those of the peers, measured in turns in one process.

An epoch is a training step with dropout and Adam, and an evaluation pass for training and
validation accuracy and validation loss. Ours is the step and the validation of
:func:`graphsct.fit` without its bookkeeping of the best epoch, by the engine and, as one more
column, by autograd. The peers are those of :mod:`graphsct.training.peers`; of the forms in which
PyTorch Geometric takes a graph, the fastest counts.

The *limit* is the bare time of our epoch's matrix products, forward, backward and in evaluation,
and of one pass over each resulting activation, on arrays that are allocated before.
"""

from __future__ import annotations

import statistics
import warnings
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from typing import Any, NamedTuple

import torch
from torch import Tensor

from graphsct import nn
from graphsct.datasets import load
from graphsct.datasets.features import sparse_features
from graphsct.engine.engine import LITTLE
from graphsct.engine.input_layer import Features
from graphsct.engine.operators import Operators
from graphsct.engine.program import OneThread
from graphsct.training.autograd import Autograd
from graphsct.training.backend import Backend, EngineBackend, MakeBackend
from graphsct.training.config import TrainConfig
from graphsct.training.data import SplitData
from graphsct.training.peers import COMPILED, EXPERT, PYG, peer_epoch
from graphsct.training.timing import alternate

__all__ = [
    "CASES",
    "CONFIG",
    "GRAPHS",
    "LARGE_PEERS",
    "PEERS",
    "Case",
    "make_engine",
    "make_model",
    "measure",
    "measure_data",
    "open_case",
    "our_epoch",
    "summarize",
]

PEERS = (*PYG, EXPERT)
#: The peers of a large graph: ``edge_index`` takes the memory of a message for each edge and layer.
LARGE_PEERS = ("pyg_sparse", EXPERT)
#: Large graphs without features, and how many random ones they get.
GRAPHS = {"arxiv_graph": 128}
#: As a good user of PyTorch Geometric would begin.
CONFIG = TrainConfig(learning_rate=0.01, conv_weight_decay=5e-4, dense_weight_decay=5e-4)


class Case(NamedTuple):
    """A data set, a model, its number of layers and its width."""

    data: str
    model: str
    layers: int
    width: int

    def __str__(self) -> str:
        return f"{self.data}-{self.model}-L{self.layers}-d{self.width}"


CASES = [
    Case(data, model, layers, width)
    for data, layers, width in [
        ("cora", 2, 64),
        ("cora", 32, 64),
        ("citeseer", 32, 64),
        ("pubmed", 16, 64),
        ("physics", 2, 64),
        ("texas", 8, 16),
        ("chameleon", 8, 16),
        ("squirrel", 8, 16),
    ]
    for model in ("gcn", "gcnii")
]
CASES += [Case("arxiv_graph", "gcn", layers, 64) for layers in (4, 16)]


def make_model(case: Case, data: Any, control: bool, *, dropout: float = 0.5) -> Any:
    """The model of a case, perhaps with its default control."""
    make: Any = nn.MODELS[case.model]
    return make(
        data.num_features,
        case.width,
        data.num_classes,
        case.layers,
        dropout=dropout,
        control=make.default_control if control else None,
        num_components=data.graph.num_components,
    )


def make_engine(case: Case, data: Any, control: bool) -> Backend:
    """One run by the engine."""
    return _backend(make_model(case, data, control), data, EngineBackend)


def our_epoch(model: Any, data: Any, kind: MakeBackend = EngineBackend) -> Callable[[], Any]:
    """A function that trains a model for one epoch and evaluates, like :func:`peer_epoch`."""
    backend = _backend(model, data, kind)

    def epoch() -> Any:
        loss = backend.descend()
        return torch.stack([loss, *backend.validate()])[:, 0].tolist()

    return epoch


def _backend(model: Any, data: Any, kind: MakeBackend) -> Backend:
    return kind([model], [SplitData.of(data, 0, model=model)], [CONFIG])


def _limit(case: Case, data: Any) -> Callable[[], Any]:
    """The matrix products of an epoch and one pass over each activation, on allocated arrays."""
    split, d, layers = data.splits[0], case.width, case.layers - 1
    rows = [mask.nonzero()[:, 0] for mask in (split.train, split.train | split.val)]
    everywhere = data.graph.matrix
    train, evaluate = (Operators(data.graph, nodes).forward for nodes in rows)
    back_train = Operators(data.graph, rows[0]).backward
    x = sparse_features(data.x)
    blocks = Features(x, 1).blocks if x.layout == torch.sparse_csr else None
    x, back = (x, x.t()) if blocks is None else (blocks.matrix, blocks.back)
    w, w_in = torch.eye(d), torch.zeros(data.num_features, d)
    grad, grad_in = torch.empty_like(w), torch.empty_like(w_in)
    h, other = (torch.empty(data.graph.num_nodes, d) for _ in range(2))
    small = {
        id(last): (h.new_empty(len(last), d), h.new_empty(len(last), d))
        for last in (train, evaluate)
    }

    def forward(last: Tensor) -> None:
        torch.addmm(h, x, w_in, beta=0, out=h)
        torch.clamp_min(h, 0, out=h)
        for _ in range(layers):
            torch.addmm(other, everywhere, h, beta=0, out=other)
            torch.mm(other, w, out=h)
            torch.clamp_min(h, 0, out=h)
        mixed, out = small[id(last)]
        torch.addmm(mixed, last, h, beta=0, out=mixed)
        torch.mm(mixed, w, out=out)
        torch.clamp_min(out, 0, out=out)

    def products() -> None:
        forward(train)
        mixed, out = small[id(train)]
        torch.mm(out, w, out=mixed)
        torch.mm(mixed.t(), out, out=grad)
        torch.addmm(h, back_train, mixed, beta=0, out=h)
        for _ in range(layers):
            torch.mm(h, w, out=other)
            torch.mm(h.t(), other, out=grad)
            torch.addmm(h, everywhere, other, beta=0, out=h)
        torch.addmm(grad_in, back, h, beta=0, out=grad_in)
        forward(evaluate)

    threads = OneThread(d * max(len(h) * d, len(everywhere.values())) < LITTLE)

    def epoch() -> None:
        with threads:
            products()

    return epoch


def measure(case: Case, **options: Any) -> list[dict[str, Any]]:
    """Times and ratios of a case; the options are those of :func:`measure_data`."""
    data = open_case(case)
    if case.data in GRAPHS:
        options = dict(peers=LARGE_PEERS) | options
    return measure_data(case, data, **options)


def open_case(case: Case) -> Any:
    """The data of a case; a graph without features has random ones."""
    if case.data not in GRAPHS:
        return load(case.data)
    data = load(case.data, features="degree")
    generator = torch.Generator().manual_seed(0)
    data.x = torch.randn(data.num_nodes, GRAPHS[case.data], generator=generator)
    return data


def measure_data(
    case: Case,
    data: Any,
    *,
    seconds: float = 20.0,
    repeats: int = 200,
    peers: Sequence[str] = PEERS,
    controls: Sequence[bool] = (False, True),
) -> list[dict[str, Any]]:
    """Times and ratios of a case on loaded data, a row without and one with control.

    Args:
        case: the model
        data: the data
        seconds: time for all jobs together
        repeats: maximum number of epochs of each job
        peers: some of :data:`PEERS` and :data:`~graphsct.training.peers.COMPILED`
        controls: whether to measure without and with control
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse")
        jobs = {
            control: _jobs(make_model(case, data, control), data, peers) for control in controls
        }
        limit = _limit(case, data)
        flat = [job for own in jobs.values() for job in own.values()]
        torch.manual_seed(0)
        *times, limit_time = alternate([*flat, limit], seconds, repeats)
    left, rows = iter(times), list[dict[str, Any]]()
    for control, own in jobs.items():
        found = {name: 1e3 * next(left) for name in own}
        rows.append(_row(case, control, found, 1e3 * limit_time))
        rows[-1]["overhead"] = rows[-1]["ours_ms"] / rows[0]["ours_ms"] if control else None
    return rows


def _jobs(model: Any, data: Any, peers: Sequence[str]) -> dict[str, Callable[[], Any]]:
    """An epoch by our backends and by each peer, which copies the model before we train it."""
    epochs = {peer: peer_epoch(peer, model, data, CONFIG) for peer in peers}
    ours: dict[str, MakeBackend] = {"ours": EngineBackend, "autograd": Autograd}
    return {name: our_epoch(deepcopy(model), data, kind) for name, kind in ours.items()} | epochs


def _row(case: Case, control: bool, times: dict[str, float], limit: float) -> dict[str, Any]:
    ours = times["ours"]
    row: dict[str, Any] = {
        "case": str(case),
        "control": nn.MODELS[case.model].default_control if control else None,
        **{f"{name}_ms": own for name, own in times.items()},
        "limit_ms": limit,
        "over_limit": ours / limit,
    }
    pyg = [own for name, own in times.items() if name in (*PYG, COMPILED)]
    if pyg:
        row["speedup"] = min(pyg) / ours
    if EXPERT in times:
        row["over_expert"] = times[EXPERT] / ours
    return row


def summarize(rows: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Geometric means over all rows, with the rows as ``cases``."""
    cases = list(rows)

    def values(key: str) -> list[float]:
        return [row[key] for row in cases if row.get(key) is not None]

    mean = statistics.geometric_mean
    return {
        "speedup_geomean": mean(values("speedup")),
        "speedup_min": min(values("speedup")),
        "expert_geomean": mean(values("over_expert")),
        "expert_min": min(values("over_expert")),
        "overhead_geomean": mean(values("overhead")),
        "limit_geomean": mean(values("over_limit")),
        "autograd_geomean": mean(row["autograd_ms"] / row["ours_ms"] for row in cases),
        "threads": torch.get_num_threads(),
        "cases": cases,
    }
