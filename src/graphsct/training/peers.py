r"""The peers of the bench: the same networks and epochs in PyTorch Geometric and in plain PyTorch.

:class:`Stock` is what a good user of PyTorch Geometric writes: ``GCNConv`` or ``GCN2Conv`` with
``cached=True`` on dense features, and the paper's control with a dense :math:`\mathbf Q`.
:class:`Expert` is what somebody writes who knows PyTorch well: sparse features and a sparse
operator with 32-bit indices, products whose gradient needs no transposition, the two terms of GCNII
in one matrix, scores of labelled nodes only, and the fused Adam. Both begin with the weights of a
model of ours and compute what it computes; dropout draws its own random numbers.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array, diags_array, eye_array
from torch import Tensor
from torch.nn import functional as F

from graphsct.datasets.features import sparse_features
from graphsct.training.config import TrainConfig

__all__ = ["COMPILED", "EXPERT", "PYG", "Expert", "Stock", "peer_epoch"]

#: The three forms in which PyTorch Geometric takes a graph: both rows of ``edge_index``, the same
#: as a sorted ``EdgeIndex``, and a sparse matrix.
PYG = ("pyg_edge_index", "pyg_sorted", "pyg_sparse")
#: The first of them under ``torch.compile``, which takes minutes before the first epoch.
COMPILED = "pyg_compiled"
EXPERT = "expert"


def peer_epoch(
    peer: str, model: torch.nn.Module, data: Any, config: TrainConfig
) -> Callable[[], list[float]]:
    """A function that trains for one epoch and evaluates, as a backend of ours does.

    Args:
        peer: one of :data:`PYG`, :data:`COMPILED` or :data:`EXPERT`
        model: a GCN or GCNII of ours, of which the peer takes a copy
        data: with features, labels, masks and graph
        config: learning rate and weight decay, that of dense layers for all weights

    Returns:
        A function that returns the training loss before the step, and after it the validation loss
        and the training and validation accuracy
    """
    fused = peer == EXPERT
    net: Any = Expert(model, data) if fused else Stock(model, data, _edges(peer, data))
    rate, decay = config.learning_rate, config.dense_weight_decay
    optimizer = torch.optim.Adam(net.parameters(), rate, weight_decay=decay, fused=fused)
    train, val = (mask.nonzero()[:, 0] for mask in (data.train_mask, data.val_mask))
    both, k = torch.cat([train, val]), len(train)
    y, y_both = data.y[train], data.y[both]
    if peer == COMPILED:
        with torch.no_grad():
            net(both)  # the layers compute their normalised edges now, outside the compiled code
        net.compile(dynamic=False)

    def epoch() -> list[float]:
        net.train()
        optimizer.zero_grad()
        loss = F.cross_entropy(net(train), y)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        net.eval()
        with torch.no_grad():
            scores = net(both)
            val_loss = F.cross_entropy(scores[k:], y_both[k:])
            right = (scores.argmax(1) == y_both).float()
            numbers = [loss, val_loss, right[:k].mean(), right[k:].mean()]
            return torch.stack(numbers).tolist()

    return epoch


def _edges(peer: str, data: Any) -> Any:
    n, edges = data.graph.num_nodes, data.edge_index
    if peer == "pyg_sparse":
        return torch.sparse_coo_tensor(edges, torch.ones(edges.shape[1]), (n, n)).to_sparse_csr()
    if peer == "pyg_sorted":
        from torch_geometric import EdgeIndex

        listed = EdgeIndex(edges, sparse_size=(n, n), is_undirected=True)
        return listed.sort_by("col").values
    return edges


def _controls(model: Any) -> Any:
    """For each layer, the function from coordinates to the coefficients of its control."""
    return torch.nn.ModuleList(
        deepcopy(conv.control.coefficients) for conv in model.convs if conv.control is not None
    )


class Stock(torch.nn.Module):
    """A model of ours in PyTorch Geometric.

    Args:
        model: a GCN or GCNII, perhaps with its default control
        data: features and graph
        edges: the graph as a layer of PyTorch Geometric takes it
    """

    def __init__(self, model: Any, data: Any, edges: Any) -> None:
        from torch_geometric.nn import GCN2Conv, GCNConv

        super().__init__()
        d, graph = model.hidden_channels, data.graph
        self.x = data.x if data.x.layout == torch.strided else data.x.to_dense()
        self.edges, self.dropout, self.is_gcn = edges, model.dropout, model.name == "gcn"
        self.input = torch.nn.Linear(model.in_channels, d)
        self.input.load_state_dict(model.input.state_dict())
        self.output = deepcopy(model.output)
        self.convs = torch.nn.ModuleList()
        for layer, own in enumerate(model.convs, 1):
            conv = (
                GCNConv(d, d, cached=True, bias=False)
                if self.is_gcn
                else GCN2Conv(d, alpha=own.alpha, theta=0.5, layer=layer, cached=True)
            )
            weights = own.state_dict()
            conv.load_state_dict({name: weights[name] for name in conv.state_dict()})
            self.convs.append(conv)
        self.controls = _controls(model)
        if self.controls:
            members = F.one_hot(graph.component, graph.num_components).to(graph.dtype)
            self.basis = members * graph.basis.unsqueeze(1)  # (n, m)

    def forward(self, rows: Tensor) -> Tensor:
        """Scores of some nodes; shape: ``(rows, classes)``."""
        x = F.dropout(self.x, self.dropout, self.training)
        x = x_0 = self.input(x).relu()
        for layer, conv in enumerate(self.convs):
            if self.is_gcn:
                x = conv(x, self.edges)
            else:
                x = conv(F.dropout(x, self.dropout, self.training), x_0, self.edges)
            if self.controls:
                pooled, pooled_0 = self.basis.t() @ x, self.basis.t() @ x_0
                x = x + self.basis @ self.controls[layer](pooled, pooled_0)
            x = x.relu()
        out: Tensor = self.output(F.dropout(x, self.dropout, self.training))
        return out[rows]


class Expert(torch.nn.Module):
    """A model of ours in PyTorch alone, as fast as it gets without leaving autograd.

    Args:
        model: a GCN or GCNII, perhaps with its default control
        data: features and graph
    """

    def __init__(self, model: Any, data: Any) -> None:
        super().__init__()
        self.dropout, self.is_gcn = model.dropout, model.name == "gcn"
        alpha = 0 if self.is_gcn else model.convs[0].alpha
        self.alpha, self.betas = alpha, [getattr(conv, "beta", 1) for conv in model.convs]
        self.operator = _tensor((1 - alpha) * _operator(data))
        self.x = x = sparse_features(data.x)
        if x.layout == torch.sparse_csr:
            parts = (x.values(), x.col_indices(), x.crow_indices())
            whole = csr_array(tuple(part.numpy() for part in parts), shape=tuple(x.shape))
            self.dropped, self.back = _tensor(whole), _tensor(whole.T.tocsr())
            whole.data = np.arange(whole.nnz)
            self.order = torch.from_numpy(whole.T.tocsr().data)
        self.weight = _parameter(model.input.weight.t())
        self.bias = _parameter(model.input.bias)
        weights = [conv.lin.weight.t() if self.is_gcn else conv.weight1 for conv in model.convs]
        self.weights = torch.nn.ParameterList(map(_parameter, weights))
        self.output = deepcopy(model.output)
        self.controls = _controls(model)
        if self.controls:
            n, m, component = len(x), data.graph.num_components, data.graph.component.numpy()
            places = (data.graph.basis.numpy(), component, np.arange(n + 1))
            basis = csr_array(places, shape=(n, m))
            self.basis, self.across = _tensor(basis), _tensor(basis.T.tocsr())
            if m == 1:
                self.basis, self.across = self.basis.to_dense(), self.across.to_dense()

    def forward(self, rows: Tensor) -> Tensor:
        """Scores of some nodes; shape: ``(rows, classes)``."""
        x = self._first().relu_()
        start = self.alpha * x
        pooled_0 = _multiply(x, self.across, self.basis) if self.controls else None
        for layer, (weight, beta) in enumerate(zip(self.weights, self.betas, strict=True)):
            if self.is_gcn:
                x = _multiply(x @ weight, self.operator, self.operator)
            else:
                x = F.dropout(x, self.dropout, self.training)
                eye = torch.eye(len(weight), dtype=weight.dtype)
                mix = torch.lerp(eye, weight, beta)
                x = _multiply(x, self.operator, self.operator).add_(start) @ mix
            if self.controls:
                pooled = _multiply(x, self.across, self.basis)
                term = self.controls[layer](pooled, pooled_0)
                x = x.add_(_multiply(term, self.basis, self.across))
            x = x.relu_()
        out: Tensor = self.output(F.dropout(x[rows], self.dropout, self.training))
        return out

    def _first(self) -> Tensor:
        """The first layer before its activation."""
        if self.x.layout != torch.sparse_csr:
            dropped = F.dropout(self.x, self.dropout, self.training)
            return torch.addmm(self.bias, dropped, self.weight)
        if not self.training:
            return (self.x @ self.weight).add_(self.bias)
        values = F.dropout(self.x.values(), self.dropout)
        self.dropped.values().copy_(values)
        torch.index_select(values, 0, self.order, out=self.back.values())
        return _multiply(self.weight, self.dropped, self.back).add_(self.bias)


class _Multiply(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, matrix: Tensor, across: Tensor) -> Tensor:
        ctx.across = across
        return matrix @ x

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return ctx.across @ grads[0], None, None


def _multiply(x: Tensor, matrix: Tensor, across: Tensor) -> Tensor:
    """The product of a constant matrix, whose transpose is at hand for the gradient."""
    return _Multiply.apply(x, matrix, across)  # type: ignore[no-any-return, no-untyped-call]


def _operator(data: Any) -> Any:
    """The normalised adjacency with self-loops."""
    n, ends = data.graph.num_nodes, data.edge_index.numpy()
    both = csr_array((np.ones(len(ends[0]), dtype=np.float32), ends), shape=(n, n)) + eye_array(n)
    both.data[:] = 1  # also where a self-loop was listed
    root = diags_array(both.sum(axis=1) ** -0.5)
    return (root @ both @ root).astype(np.float32)


def _tensor(matrix: Any) -> Tensor:
    """A sparse matrix of SciPy as CSR with 32-bit indices and values of its own."""
    starts, columns = (part.astype(np.int32) for part in (matrix.indptr, matrix.indices))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse")
        return torch.sparse_csr_tensor(
            torch.from_numpy(starts),
            torch.from_numpy(columns),
            torch.from_numpy(matrix.data.copy()),
            size=matrix.shape,
        )


def _parameter(weight: Tensor) -> torch.nn.Parameter:
    return torch.nn.Parameter(weight.detach().clone(memory_format=torch.contiguous_format))
