r"""The central object: an undirected graph with its operator and its eigenspace."""

from __future__ import annotations

import copy
import warnings
from functools import cached_property
from typing import Any

import numpy as np
import torch
from scipy.sparse import issparse
from torch import Tensor

from graphsct.errors import GraphError
from graphsct.graph import kernels
from graphsct.graph.adjacency import Adjacency, build_adjacency
from graphsct.graph.autocast import widened
from graphsct.graph.order import cache_order
from graphsct.graph.sampling import restrict
from graphsct.graph.spectrum import Extremes, extreme_eigenvalues
from graphsct.graph.threads import in_two_threads

__all__ = ["DTYPES", "Graph", "count_nodes", "operator"]

#: Precisions of a graph.
DTYPES = (torch.float32, torch.float64)
#: Rows of the operator that stay in the cache while they are normalised.
_ROWS = 1 << 14


class Graph:
    r"""An undirected graph, its normalised operator and the eigenspace at eigenvalue 1.

    .. math::
        \mathbf G = \tilde{\mathbf D}^{-1/2} (\mathbf A + \mathbf I) \tilde{\mathbf D}^{-1/2},
        \qquad
        \mathbf Q = [\mathbf e_1, \ldots, \mathbf e_m],
        \qquad
        \mathbf e_i = \tilde{\mathbf D}^{1/2} \mathbf u_i /
        \| \tilde{\mathbf D}^{1/2} \mathbf u_i \|

    where :math:`\mathbf u_i` is the indicator of the i-th connected component. The columns of
    :math:`\mathbf Q` are an orthonormal basis of the eigenspace :math:`\mathcal M`. Each row of
    :math:`\mathbf Q` has one non-zero, so it is kept as the two vectors :attr:`basis` and
    :attr:`component` and never built.

    A node with a self-loop keeps it and gets no second one. An edge that is listed several times
    counts once, or with the sum of its weights.

    :meth:`propagate`, :meth:`pool`, :meth:`unpool` and :meth:`project` are linear and
    differentiable; :meth:`subgraph` samples nodes. As in any layer, NaN gives NaN; the measures in
    :mod:`graphsct.smoothness` and :mod:`graphsct.geometry` refuse it.

    Args:
        edge_index: both directions of every edge; shape: ``(2, num_edges)``
        num_nodes: number of nodes; defaults to the largest id plus one
        edge_weight: positive weights, one by default; shape: ``(num_edges,)``
        symmetrize: add missing reverse edges, with the larger weight where the two differ,
            instead of refusing a directed graph
        dtype: ``torch.float32`` or ``torch.float64``; defaults to that of ``edge_weight``, else
            PyTorch's default
        device: device of the tensors; defaults to that of ``edge_index``

    Raises:
        GraphError: if this is not an undirected graph, with the wrong value and a way out

    Example:
        >>> graph = Graph([[0, 1, 1, 2, 3], [1, 0, 2, 1, 3]])
        >>> graph
        Graph(num_nodes=4, num_edges=2, num_components=2)
        >>> graph.degree
        tensor([2., 3., 2., 1.])
    """

    _lost_edges = False
    #: Ids by which edges are numbered, if not those of this graph.
    _ids: Tensor | None = None

    def __init__(
        self,
        edge_index: Any,
        num_nodes: int | None = None,
        edge_weight: Any = None,
        *,
        symmetrize: bool = False,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        adjacency = build_adjacency(
            edge_index, num_nodes=num_nodes, edge_weight=edge_weight, symmetrize=symmetrize
        )
        if dtype is None:
            weight = adjacency.weight
            dtype = torch.get_default_dtype() if weight is None else weight.dtype
        if device is None:
            device = edge_index.device if isinstance(edge_index, Tensor) else "cpu"
        self._materialize(adjacency, dtype, _check_device(device))

    def _materialize(self, adjacency: Adjacency, dtype: Any, device: torch.device) -> None:
        r"""Compute :math:`\mathbf G` and :math:`\mathbf Q` from the exact adjacency."""
        if dtype not in DTYPES:
            raise GraphError(f"dtype is {dtype}, expected torch.float32 or torch.float64")
        largest = adjacency.degree.max().item()
        if largest > torch.finfo(dtype).max:
            raise GraphError(
                f"the weights at one node add up to {largest:.3g}, more than {dtype} holds; "
                "pass dtype=torch.float64, or scale edge_weight down"
            )
        n = len(adjacency.degree)
        volume, component = adjacency.volume, adjacency.component
        basis = (adjacency.degree / volume[component]).sqrt()

        #: The exact augmented adjacency, on the CPU.
        self.adjacency = adjacency
        self.num_nodes = n
        self.num_components = len(volume)
        #: Whether nodes of the whole graph are missing, so that :meth:`pool` is an estimate.
        self.is_sample = n < adjacency.whole
        self.degree = adjacency.degree.to(device, dtype)
        self.matrix = operator(
            adjacency.starts,
            adjacency.columns,
            adjacency.weight,
            adjacency.degree,
            adjacency.degree,
            dtype,
        ).to(device)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Sparse")
            membership = kernels.Membership.build(basis.to(dtype), component, len(volume)).to(
                device
            )
            pooling, gain = membership, None
            if self.is_sample:
                there = torch.zeros_like(volume).index_add_(0, component, adjacency.degree)
                scaled = (basis * (volume / there)[component]).to(dtype)
                pooling = kernels.Membership.build(scaled, component, len(volume)).to(device)
                gain = (adjacency.degree / adjacency.row_sums()).to(device, dtype).unsqueeze(1)
        self._membership, self._pooling, self._gain = membership, pooling, gain
        self.basis = self._membership.basis
        self.component = self._membership.component

    @classmethod
    def from_data(cls, data: Any, **kwargs: Any) -> Graph:
        """Build from a PyTorch Geometric ``Data``: its ``edge_index`` and ``edge_weight``.

        The keyword arguments are those of :class:`Graph`.
        """
        edge_index = getattr(data, "edge_index", None)
        if edge_index is None:
            raise GraphError(
                f"{type(data).__name__} has no edge_index; a homogeneous torch_geometric Data with "
                "edge_index is expected"
            )
        return cls(edge_index, count_nodes(data), getattr(data, "edge_weight", None), **kwargs)

    @classmethod
    def from_scipy(cls, matrix: Any, **kwargs: Any) -> Graph:
        """Build from a SciPy sparse adjacency matrix, whose values are the weights.

        Explicit zeros are not edges. The keyword arguments are those of :class:`Graph`.
        """
        if not issparse(matrix):
            raise GraphError(f"expected a SciPy sparse matrix, got {type(matrix).__name__}")
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise GraphError(f"the adjacency matrix has shape {matrix.shape}, expected (n, n)")
        entries = matrix.tocoo()
        kept = entries.data != 0
        weight = entries.data[kept]
        if bool((weight == 1).all()):
            weight = None
        kwargs.setdefault("dtype", torch.get_default_dtype())
        edge_index = torch.stack([torch.from_numpy(i[kept]).long() for i in entries.coords])
        return cls(edge_index, matrix.shape[0], weight, **kwargs)

    @classmethod
    def from_networkx(cls, graph: Any, weight: str | None = None, **kwargs: Any) -> Graph:
        """Build from a NetworkX graph; node ``i`` is the i-th of ``graph.nodes``.

        Args:
            graph: a NetworkX graph; in a directed one every edge needs its reverse
            weight: the edge attribute that holds the weights; a missing weight is one
            **kwargs: keyword arguments of :class:`Graph`
        """
        if not all(hasattr(graph, name) for name in ("nodes", "edges", "is_directed")):
            raise GraphError(f"expected a NetworkX graph, got {type(graph).__name__}")
        position = {node: i for i, node in enumerate(graph.nodes)}
        edges = list(graph.edges(data=weight, default=1) if weight else graph.edges())
        if not graph.is_directed():
            edges += [(edge[1], edge[0], *edge[2:]) for edge in edges if edge[0] != edge[1]]
        row = torch.tensor([position[edge[0]] for edge in edges], dtype=torch.long)
        col = torch.tensor([position[edge[1]] for edge in edges], dtype=torch.long)
        values = [edge[2] for edge in edges] if weight else None
        return cls(torch.stack([row, col]), len(position), values, **kwargs)

    def subgraph(self, nodes: Any) -> Graph:
        r"""A sample of this graph, to train on some nodes at a time.

        It keeps the degrees, the components and their number :math:`m`, and the basis of the whole
        graph, so :meth:`unpool` is exact. :meth:`pool` and :meth:`propagate` are estimates from the
        sampled nodes :math:`\mathcal S`, scaled up by the share of the degrees that is missing.

        .. math::
            \langle \mathbf x, \mathbf e_i \rangle \approx
            \frac{\sum_{v \in i} d_v}{\sum_{v \in i \cap \mathcal S} d_v}
            \sum_{v \in i \cap \mathcal S} x_v \, (\mathbf e_i)_v ,
            \qquad
            (\mathbf G \mathbf x)_v \approx
            \frac{d_v}{\sum_{u \in \mathcal S} \tilde a_{vu}}
            \sum_{u \in \mathcal S} g_{vu} x_u

        Both are exact for all nodes and, whatever the sample, for features in :math:`\mathcal M`.
        The second is exact at nodes whose neighbours are all sampled, the first is 0 in components
        without a sampled node. :attr:`matrix` is a submatrix of :math:`\mathbf G`, not scaled.
        Measures of smoothness refuse a sample.

        Args:
            nodes: ids without repeats, such as ``batch.n_id`` of a loader of PyTorch Geometric, in
                the order of the features, or a mask; shape: ``(k,)`` or ``(n,)``

        Example:
            >>> graph = Graph([[0, 1, 1, 2, 3], [1, 0, 2, 1, 3]])
            >>> part = graph.subgraph([2, 1])
            >>> part
            Graph(num_nodes=2, num_edges=1, num_components=2)
            >>> part.degree
            tensor([2., 3.])
        """
        return _restore(restrict(self.adjacency, nodes), self.dtype, self.device)

    def keep_edges(self, kept: Tensor) -> Graph:
        r"""The same nodes and the same eigenspace, with some edges left out of the operator.

        Args:
            kept: whether each undirected edge stays, in the order of :attr:`edge_numbers`; shape:
                ``(num_edges,)``

        Returns:
            A graph whose :meth:`propagate` uses the edges that are left, with their own degrees,
            and whose :meth:`pool` and :meth:`unpool` are those of this graph
        """
        if self._lost_edges or kept.shape != (self.num_edges,):
            raise GraphError(
                f"kept has shape {tuple(kept.shape)}, expected one entry for each of the "
                f"{self.num_edges} edges of a graph that has lost none; call keep_edges on that"
            )
        graph = copy.copy(self)
        graph._lost_edges = True
        values = kernels.reweigh(self.matrix, self.entry_weights, self.edge_numbers, kept)
        graph.matrix = torch.sparse_csr_tensor(
            self.matrix.crow_indices(),
            self.matrix.col_indices(),
            values,
            size=self.matrix.shape,
            check_invariants=False,
        )
        numbers = self.edge_numbers[self.edge_numbers < self.num_edges]
        weight, stays = self.edge_weight, kept[numbers]
        graph.edge_index = self.edge_index[:, stays]
        graph.edge_weight = None if weight is None else weight[stays]
        graph.num_edges = int(kept.sum())
        for name in ("extreme_eigenvalues", "order", "_arranged"):
            graph.__dict__.pop(name, None)
        return graph

    @cached_property
    def order(self) -> Tensor | None:
        """Ids of the nodes in an order in which products find more of their rows in the cache.

        ``None`` if the graph is small, or already in such an order. Shape: ``(n,)``.
        """
        whole = not self._lost_edges and not self.is_sample
        return cache_order(self.adjacency) if whole else None

    @property
    def arranged(self) -> Graph:
        """The same graph with its nodes in :attr:`order`; components and edges keep their numbers.

        Its node ``i`` is the node ``order[i]`` of this graph.
        """
        return self if self.order is None else self._arranged

    @cached_property
    def _arranged(self) -> Graph:
        graph = self.subgraph(self.order)
        graph.order = None
        graph._ids = None if self.order is None else self.order.to(self.device)
        return graph

    @cached_property
    def edge_numbers(self) -> Tensor:
        """The undirected edge that each entry of :attr:`matrix` belongs to; self-loops, which are
        no edges, have the number :attr:`num_edges`; shape: ``(num_entries,)``.
        """
        row, columns = self._places
        if self._ids is not None:
            row, columns = self._ids[row], self._ids[columns]
        low, high = torch.minimum(row, columns), torch.maximum(row, columns)
        numbers = torch.full_like(row, self.num_edges)
        edges = low != high
        pairs = low[edges] * self.num_nodes + high[edges]
        numbers[edges] = torch.unique(pairs, return_inverse=True)[1]
        return numbers

    @cached_property
    def entry_weights(self) -> Tensor:
        """The weight of each entry of :attr:`matrix` before normalisation; ``(num_entries,)``."""
        root = self.degree.sqrt()
        row, columns = self._places
        return self.matrix.values() * root[row] * root[columns]

    @property
    def _places(self) -> tuple[Tensor, Tensor]:
        """The row and the column of each entry of the matrix; shape of both: ``(num_entries,)``."""
        starts, columns = self.matrix.crow_indices().long(), self.matrix.col_indices().long()
        nodes = torch.arange(self.num_nodes, device=self.device)
        return nodes.repeat_interleave(starts.diff()), columns

    @cached_property
    def averaging(self) -> kernels.Averaging:
        """Averages over each component, weighted by the degrees, the squares of the basis."""
        self.check_whole()
        return kernels.Averaging.build(self.basis.square(), self.component, self.num_components)

    @cached_property
    def num_edges(self) -> int:
        """Number of undirected edges between different nodes."""
        return (len(self.adjacency.columns) - self.num_nodes) // 2

    @cached_property
    def edge_index(self) -> Tensor:
        """Both directions of every edge between different nodes; shape: ``(2, 2 * num_edges)``."""
        row = torch.arange(self.num_nodes).repeat_interleave(self.adjacency.starts.diff())
        edges = torch.stack([row, self.adjacency.columns.long()])
        return edges[:, edges[0] != edges[1]].to(self.device)

    @cached_property
    def edge_weight(self) -> Tensor | None:
        """Weights of :attr:`edge_index`, ``None`` if all are one; shape: ``(2 * num_edges,)``."""
        weight, columns = self.adjacency.weight, self.adjacency.columns
        if weight is None:
            return None
        row = torch.arange(self.num_nodes).repeat_interleave(self.adjacency.starts.diff())
        return weight[row != columns].to(self.device, self.dtype)

    @property
    def device(self) -> torch.device:
        """The device of the tensors."""
        return self.degree.device

    @property
    def dtype(self) -> torch.dtype:
        """Precision of the operator and of the features that it takes."""
        return self.degree.dtype

    def to(self, *args: Any, **kwargs: Any) -> Graph:
        """Move to a device, a dtype or both, with the arguments of :meth:`torch.Tensor.to`.

        The operator is computed again from the exact adjacency, so ``graph.float().double()`` loses
        nothing.
        """
        try:
            device, dtype, *_ = torch._C._nn._parse_to(*args, **kwargs)  # as torch.nn.Module.to
        except (RuntimeError, TypeError) as error:
            given = ", ".join(map(repr, (*args, *kwargs.values())))
            raise GraphError(
                f"a graph cannot move to {given}; pass a device such as 'cpu' or 'cuda:0', "
                "torch.float32 or torch.float64, or both"
            ) from error
        device = self.device if device is None else _check_device(device)
        dtype = dtype or self.dtype
        if dtype == self.dtype and device == self.device:
            return self
        return _restore(self.adjacency, dtype, device)

    def double(self) -> Graph:
        """The same graph in float64."""
        return self.to(torch.float64)

    def float(self) -> Graph:
        """The same graph in float32."""
        return self.to(torch.float32)

    def cpu(self) -> Graph:
        """The same graph on the CPU."""
        return self.to("cpu")

    def cuda(self) -> Graph:
        """The same graph on the current GPU."""
        return self.to("cuda")

    def propagate(self, x: Tensor) -> Tensor:
        r"""One step of message passing, :math:`\mathbf G \mathbf X`; ``(n, d) -> (n, d)``."""
        out = kernels.propagate(self.matrix, self.check_features(x))
        return out if self._gain is None else self._gain * out

    def pool(self, x: Tensor) -> Tensor:
        r"""Eigenspace coordinates, :math:`\mathbf Q^\top \mathbf X`; ``(n, d) -> (m, d)``."""
        return kernels.pool(self._pooling, self.check_features(x))

    def unpool(self, a: Tensor) -> Tensor:
        r"""From coordinates to features, :math:`\mathbf Q \mathbf A`; ``(m, d) -> (n, d)``."""
        return kernels.unpool(self._membership, self._check(a, self.num_components, "components"))

    def project(self, x: Tensor) -> Tensor:
        r"""The smooth part, :math:`\mathbf X_{\mathcal M} = \mathbf Q \mathbf Q^\top \mathbf X`.

        Shapes: ``(n, d) -> (n, d)``.
        """
        return self.unpool(self.pool(x))

    def mean(self, x: Tensor) -> Tensor:
        """The mean over all nodes; ``(n, d) -> (1, d)``."""
        return self.check_features(x).mean(0, keepdim=True)

    @cached_property
    def extreme_eigenvalues(self) -> Extremes | None:
        r"""The largest and smallest eigenvalue of :math:`\mathbf G` outside
        :math:`\mathcal M`: :math:`\lambda_{m+1}` and :math:`\lambda_n`.

        ``None`` if every node is isolated, so that nothing is outside.
        """
        self.check_whole()
        return extreme_eigenvalues(self.double().cpu())

    def check_features(self, x: Tensor) -> Tensor:
        """Return ``x`` if it has one row of features per node, else raise :class:`GraphError`.

        Features that :class:`torch.autocast` has lowered are returned in float32.
        """
        return self._check(x, self.num_nodes, "nodes")

    def check_whole(self) -> None:
        """Raise :class:`GraphError` if this is a sample, which has no exact measures."""
        if self.is_sample:
            raise GraphError(
                f"this graph is a sample of {self.num_nodes} out of {self.adjacency.whole} nodes, "
                "which has no exact measures; compute features of all nodes, with the whole graph"
            )

    def check_edges(self) -> None:
        """Raise :class:`GraphError` if edges were left out, whose eigenspace is another one."""
        if self._lost_edges:
            raise GraphError(
                "this graph has lost edges by keep_edges, but has the eigenspace of all edges, so "
                "its energies are not defined; measure on the graph with all edges"
            )

    def _check(self, x: Tensor, rows: int, what: str) -> Tensor:
        if not isinstance(x, Tensor) or x.layout != torch.strided:
            sparse = isinstance(x, Tensor)
            kind = f"{x.layout} tensor" if sparse else type(x).__name__
            hint = "; use x.to_dense()" if sparse else ""
            raise GraphError(f"features are a {kind}, expected a dense torch.Tensor{hint}")
        if x.dim() != 2:
            hint = "; a single feature is x.unsqueeze(1)" if x.dim() == 1 else ""
            raise GraphError(f"features have shape {tuple(x.shape)}, expected ({rows}, d){hint}")
        if x.shape[0] != rows:
            hint = "; transpose them: x.t()" if x.shape[1] == rows else ""
            if not hint and what == "nodes" and x.shape[0] < rows:
                hint = "; for a batch of some of them use graph.subgraph(batch.n_id)"
            raise GraphError(
                f"features have {x.shape[0]} rows but the graph has {rows} {what}{hint}"
            )
        if x.device != self.device:
            raise GraphError(
                f"features are on {x.device}, the graph on {self.device}; "
                f"move one: graph.to({str(x.device)!r})"
            )
        x = widened(x)
        if x.dtype != self.dtype:
            out = f"graph.to({x.dtype})" if x.dtype in DTYPES else f"x.to({self.dtype})"
            raise GraphError(f"features are {x.dtype}, the graph is {self.dtype}; use {out}")
        return x

    def __deepcopy__(self, memo: Any) -> Graph:
        return self  # a constant: models that hold it may share it

    def __reduce__(self) -> Any:
        return _restore, (self.adjacency, self.dtype, self.device)

    def __repr__(self) -> str:
        return (
            f"Graph(num_nodes={self.num_nodes}, num_edges={self.num_edges}, "
            f"num_components={self.num_components})"
        )


def operator(
    starts: Tensor,
    columns: Tensor,
    weight: Tensor | None,
    row_degree: Tensor,
    column_degree: Tensor,
    dtype: torch.dtype,
) -> Tensor:
    r"""Rows of :math:`\mathbf G` in CSR, :math:`a_{ij} / \sqrt{d_i d_j}`.

    Args:
        starts: where each row starts; shape: ``(rows + 1,)``
        columns: shape: ``(entries,)``
        weight: :math:`a_{ij}`, one by default; shape: ``(entries,)``
        row_degree: :math:`d_i`, augmented, in float64; shape: ``(rows,)``
        column_degree: :math:`d_j`; shape: ``(columns,)``
        dtype: precision of the result
    """
    roots = row_degree.rsqrt(), column_degree.rsqrt()
    if weight is None:  # weights may be so small or large that float32 overflows
        roots = roots[0].to(dtype), roots[1].to(dtype)
    left, right = (root.numpy() for root in roots)
    values = torch.empty(len(columns), dtype=dtype)
    out, pointers, neighbours = values.numpy(), starts.numpy(), columns.numpy()

    def normalize(first: int) -> None:
        own = pointers[first : first + _ROWS + 1]
        entries = slice(own[0], own[-1])
        scaled = right[neighbours[entries]]
        if weight is not None:
            scaled *= weight[entries].numpy()
        out[entries] = scaled * np.repeat(left[first : first + _ROWS], np.diff(own))

    in_two_threads(normalize, range(0, len(left), _ROWS), edges=len(columns))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse")
        return torch.sparse_csr_tensor(
            starts,
            columns,
            values,
            size=(len(row_degree), len(column_degree)),
            check_invariants=False,
        )


def count_nodes(data: Any) -> Any:
    """The number of nodes of a ``Data``, which PyTorch Geometric may read off its features."""
    try:
        return data.num_nodes
    except (AttributeError, IndexError, TypeError) as error:
        x = getattr(data, "x", None)
        what = tuple(x.shape) if isinstance(x, Tensor) else type(x).__name__
        raise GraphError(
            f"the data do not tell their number of nodes: x is {what}, expected (n, d); set "
            "data.num_nodes"
        ) from error


def _check_device(device: Any) -> torch.device:
    """The device with its index, if it can hold the operator; Apple's MPS cannot yet."""
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Sparse")
            return torch.empty((0, 0), layout=torch.sparse_csr, device=device).device
    except (AssertionError, RuntimeError, TypeError, ValueError) as error:
        reason = str(error).splitlines()[0]
        shown = str(device) if isinstance(device, torch.device) else device
        raise GraphError(
            f"device is {shown!r}, which is not available for graphs here: {reason}"
        ) from error


def _restore(adjacency: Adjacency, dtype: torch.dtype, device: torch.device) -> Graph:
    graph = Graph.__new__(Graph)
    graph._materialize(adjacency, dtype, device)
    return graph
