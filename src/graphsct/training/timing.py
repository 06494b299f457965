r"""Times of a full epoch, ours and that of plain PyTorch Geometric, measured in one process.

An epoch is a training step with dropout and Adam, and an evaluation pass for training and
validation accuracy and validation loss. The peer is what a good user would write: ``GCNConv`` or
``GCN2Conv`` with ``cached=True`` on dense features, once with ``edge_index`` and once with a
``torch.sparse`` CSR adjacency, of which the faster counts; its smoothness control is the paper's
formula with a dense :math:`\mathbf Q`. Ours is the step and the validation of :func:`graphsct.fit`
without its bookkeeping of the best epoch, by the engine and, as one more column, by autograd.

The *limit* is the bare time of our epoch's matrix products, forward, backward and in evaluation,
and of one pass over each resulting activation, on arrays that are allocated before.
"""

from __future__ import annotations

import math
import statistics
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

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

__all__ = [
    "CASES",
    "PEERS",
    "Case",
    "alternate",
    "make_engine",
    "measure",
    "measure_data",
    "summarize",
]

_DROPOUT = 0.5


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


#: The two ways in which PyTorch Geometric takes a graph.
PEERS = ("pyg_edge_index", "pyg_sparse")


class Peer(torch.nn.Module):
    """The same network in plain PyTorch Geometric, perhaps with a control by a dense basis."""

    def __init__(self, case: Case, data: Any, control: bool) -> None:
        from torch_geometric.nn import GCN2Conv, GCNConv

        super().__init__()
        d, graph = case.width, data.graph
        self.is_gcn = case.model == "gcn"
        self.lin_in = torch.nn.Linear(data.num_features, d)
        self.lin_out = torch.nn.Linear(d, data.num_classes)
        self.convs = torch.nn.ModuleList(
            GCNConv(d, d, cached=True, bias=False)
            if self.is_gcn
            else GCN2Conv(d, alpha=0.1, theta=0.5, layer=layer + 1, cached=True)
            for layer in range(case.layers)
        )
        self.basis = None
        if control:
            members = F.one_hot(graph.component, graph.num_components).to(graph.dtype)
            self.basis = members * graph.basis.unsqueeze(1)  # (n, m)
            zeros = torch.zeros(graph.num_components, d)
            self.scales = torch.nn.ParameterList(zeros.clone() for _ in self.convs)
            self.shifts = torch.nn.ParameterList(torch.zeros(d) for _ in self.convs)
            self.gates = torch.nn.ModuleList(
                torch.nn.Linear(d, d) for _ in self.convs if not self.is_gcn
            )
            self.betas = [math.log(0.5 / (layer + 1) + 1) for layer in range(case.layers)]

    def forward(self, x: Tensor, edges: Tensor) -> Tensor:
        """Scores; shape: ``(n, classes)``."""
        x = F.dropout(x, _DROPOUT, self.training)
        x = x_0 = self.lin_in(x).relu()
        for layer, conv in enumerate(self.convs):
            if self.is_gcn:
                x = conv(x, edges)
            else:
                x = conv(F.dropout(x, _DROPOUT, self.training), x_0, edges)
            if self.basis is not None:
                pooled = self.basis.t() @ x
                x = x + self.basis @ self._coefficients(layer, pooled, x_0)
            x = x.relu()
        out: Tensor = self.lin_out(F.dropout(x, _DROPOUT, self.training))
        return out

    def _coefficients(self, layer: int, pooled: Tensor, x_0: Tensor) -> Tensor:
        assert self.basis is not None
        if self.is_gcn:
            shifted: Tensor = self.scales[layer] * pooled + self.shifts[layer]
            return shifted
        beta, gate = self.betas[layer], self.gates[layer]
        mixed = beta * (self.basis.t() @ x_0) + (1 - beta) * pooled
        out: Tensor = pooled.softmax(1) * gate(mixed)
        return out


def _peer_epoch(case: Case, data: Any, edges: Tensor, control: bool) -> Callable[[], Any]:
    x = data.x if data.x.layout == torch.strided else data.x.to_dense()
    model = Peer(case, data, control)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    train, val, y = data.train_mask, data.val_mask, data.y

    def epoch() -> Any:
        model.train()
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x, edges)[train], y[train])
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        model.eval()
        with torch.no_grad():
            scores = model(x, edges)
            val_loss = F.cross_entropy(scores[val], y[val])
            right = scores.argmax(1) == y
            accuracies = right[train].float().mean(), right[val].float().mean()
        return loss.item(), val_loss.item(), *(a.item() for a in accuracies)

    return epoch


def make_engine(case: Case, data: Any, control: bool) -> Backend:
    """One run by the engine."""
    return _backend(case, data, control, EngineBackend)


def _backend(case: Case, data: Any, control: bool, kind: MakeBackend) -> Backend:
    make: Any = nn.MODELS[case.model]
    model = make(
        data.num_features,
        case.width,
        data.num_classes,
        case.layers,
        dropout=_DROPOUT,
        control=make.default_control if control else None,
        num_components=data.graph.num_components,
    )
    return kind([model], [SplitData.of(data, 0, model=model)], [TrainConfig()])


def _our_epoch(backend: Backend) -> Callable[[], Any]:
    def epoch() -> Any:
        loss = backend.descend()
        return torch.stack([loss, *backend.validate()]).tolist()

    return epoch


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


def alternate(jobs: Sequence[Callable[[], Any]], seconds: float, repeats: int) -> list[float]:
    """Median seconds of each job, in turns after two warm-ups, until time or repeats run out."""
    times: list[list[float]] = [[] for _ in jobs]
    started = time.perf_counter()
    for turn in range(repeats + 2):
        for job, collected in zip(jobs, times, strict=True):
            start = time.perf_counter()
            job()
            if turn > 1:
                collected.append(time.perf_counter() - start)
        if turn > 3 and time.perf_counter() - started > seconds:
            break
    return [statistics.median(collected) for collected in times]


def measure(case: Case, *, seconds: float = 20.0, repeats: int = 200) -> list[dict[str, Any]]:
    """Times and ratios of a case without and with control."""
    return measure_data(case, load(case.data), seconds=seconds, repeats=repeats)


def measure_data(
    case: Case, data: Any, *, seconds: float, repeats: int, peers: Sequence[str] = PEERS
) -> list[dict[str, Any]]:
    """The same for loaded data, and on request with one of the peers only."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse")
        return _measure(case, data, seconds, repeats, peers)


def _measure(
    case: Case, data: Any, seconds: float, repeats: int, peers: Sequence[str]
) -> list[dict[str, Any]]:
    n = data.graph.num_nodes
    ones = torch.ones(data.edge_index.shape[1])
    csr = torch.sparse_coo_tensor(data.edge_index, ones, (n, n)).to_sparse_csr()
    edges = dict(zip(PEERS, (data.edge_index, csr), strict=True))
    jobs: list[Callable[[], Any]] = []
    for control in (False, True):
        jobs.append(_our_epoch(make_engine(case, data, control)))
        jobs.append(_our_epoch(_backend(case, data, control, Autograd)))
        jobs += [_peer_epoch(case, data, edges[peer], control) for peer in peers]
    jobs.append(_limit(case, data))
    torch.manual_seed(0)
    *times, limit = alternate(jobs, seconds, repeats)
    half = 2 + len(peers)
    rows = []
    for control, (ours, autograd, *theirs) in ((False, times[:half]), (True, times[half:])):
        rows.append(
            {
                "case": str(case),
                "control": nn.MODELS[case.model].default_control if control else None,
                "ours_ms": 1e3 * ours,
                "autograd_ms": 1e3 * autograd,
                **{f"{peer}_ms": 1e3 * each for peer, each in zip(peers, theirs, strict=True)},
                "speedup": min(theirs) / ours,
                "overhead": ours / times[0] if control else None,
                "limit_ms": 1e3 * limit,
                "over_limit": ours / limit,
            }
        )
    return rows


def summarize(rows: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Geometric means over all rows, with the rows as ``cases``."""
    cases = list(rows)

    def mean(key: str) -> float:
        return statistics.geometric_mean(row[key] for row in cases if row[key] is not None)

    return {
        "speedup_geomean": mean("speedup"),
        "speedup_min": min(row["speedup"] for row in cases),
        "overhead_geomean": mean("overhead"),
        "limit_geomean": mean("over_limit"),
        "autograd_geomean": statistics.geometric_mean(
            row["autograd_ms"] / row["ours_ms"] for row in cases
        ),
        "threads": torch.get_num_threads(),
        "cases": cases,
    }
