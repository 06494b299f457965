r"""The rows of a graph that one process holds."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import torch
import torch.distributed as dist
from torch import Tensor

from graphsct.distributed.collectives import total
from graphsct.errors import GraphError
from graphsct.graph import kernels
from graphsct.graph.graph import Graph, operator

__all__ = ["Shard", "Traffic"]


@dataclass
class Traffic:
    """Bytes that this process sent for its layers, backward included.

    Args:
        halo: rows of features, and of their gradients, for other processes
        pooled: coordinates of components in several processes
    """

    halo: int = 0
    pooled: int = 0


class Shard(Graph):
    r"""Some rows of :math:`\mathbf G` and :math:`\mathbf Q`, which layers use as a whole graph.

    With the nodes of this process first and the others that they have edges to, its *halo*, last,

    .. math::
        (\mathbf G \mathbf X)_p = \mathbf G_{pp} \mathbf X_p + \mathbf G_{ph} \mathbf X_h, \qquad
        \mathbf Q^\top \mathbf X = \sum_q \mathbf Q_q^\top \mathbf X_q

    so :meth:`propagate` exchanges the halo while it computes the first product, and :meth:`pool`
    adds up the components that are in several processes. All processes call them in the same
    order, and so do their gradients. :meth:`pool` gives all m rows; those of components that are
    in other processes alone are zero, and no node of this process reads them.

    ``num_nodes``, ``degree``, ``basis`` and ``component`` are those of this process,
    ``num_components`` is that of the whole graph.

    Args:
        arrays: arrays of :meth:`graphsct.distributed.layout.Layout.open`
        num_components: number of components of the whole graph
        dtype: precision of the operator
        device: device of the operator
    """

    def __init__(
        self,
        arrays: Mapping[str, Tensor],
        num_components: int,
        *,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
    ) -> None:
        degree, halo_degree = arrays["degree"], arrays["halo_degree"]
        self.inner, self.outer = (
            operator(
                arrays[f"{name}_starts"],
                arrays[f"{name}_columns"],
                arrays.get(f"{name}_weight"),
                degree,
                other,
                dtype,
            ).to(device)
            for name, other in (("inner", degree), ("outer", halo_degree))
        )
        self.num_nodes, self.num_components = len(degree), num_components
        self.is_sample = True  # so that nobody takes it for the whole graph
        self.degree = degree.to(device, dtype)
        basis = (degree / arrays["volume"]).sqrt().to(dtype)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Sparse")
            membership = kernels.Membership.build(basis, arrays["component"], num_components)
        self._membership = membership.to(torch.device(device))
        self.basis, self.component = self._membership.basis, self._membership.component
        self.nodes = arrays["nodes"]
        self.crossing = arrays["crossing"].to(device)
        self._send = arrays["send"].to(device)
        self._received, self._sent = (
            arrays[f"{way}_counts"].tolist() for way in ("receive", "send")
        )
        self.traffic = Traffic()

    def propagate(self, x: Tensor) -> Tensor:
        r"""Own rows of :math:`\mathbf G \mathbf X`; ``(n, d) -> (n, d)``."""
        return _propagate(self, self._check(x, self.num_nodes, "nodes here"))

    def pool(self, x: Tensor) -> Tensor:
        r"""Eigenspace coordinates, :math:`\mathbf Q^\top \mathbf X`; ``(n, d) -> (m, d)``."""
        pooled = kernels.pool(self._membership, self._check(x, self.num_nodes, "nodes here"))
        if not len(self.crossing):
            return pooled
        return pooled.index_copy(0, self.crossing, self._total(pooled[self.crossing]))

    def mean(self, x: Tensor) -> Tensor:
        """The mean over the nodes of all processes; ``(n, d) -> (1, d)``."""
        count = x.new_full((), len(x))
        return total(x.sum(0, keepdim=True)) / total(count)

    def _total(self, part: Tensor) -> Tensor:
        count = part.numel() * part.element_size()
        self.traffic.pooled += count
        if part.requires_grad:  # its gradient will be as large
            self.traffic.pooled += count
        return total(part)

    def exchange(self, x: Tensor) -> tuple[Tensor, Any]:
        """Start to exchange rows; return the halo and the work to wait for before its use."""
        given = x.index_select(0, self._send)
        halo = x.new_empty(self.outer.shape[1], x.shape[1])
        self.traffic.halo += given.numel() * given.element_size()
        work = dist.all_to_all_single(halo, given, self._received, self._sent, async_op=True)
        return halo, work

    def check_whole(self) -> NoReturn:
        """Refuse measures, which need all rows of the graph."""
        raise GraphError(
            "one process holds only some rows of the graph, which cannot be measured; load the "
            "whole graph with graphsct.datasets.load"
        )

    def check_features(self, x: Tensor) -> NoReturn:
        """Refused, as in :meth:`check_whole`."""
        self.check_whole()

    def project(self, x: Tensor) -> NoReturn:
        """Refused, as in :meth:`check_whole`."""
        self.check_whole()

    @property
    def num_edges(self) -> NoReturn:
        """Refused: no process holds all edges."""
        raise GraphError("no process holds all edges; use the number in part.layout.edges")

    def to(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refused: a shard stays where it was loaded."""
        raise GraphError("a shard stays where it was loaded; pass dtype to Part.load")

    def __repr__(self) -> str:
        return (
            f"Shard(num_nodes={self.num_nodes}, halo={self.outer.shape[1]}, "
            f"num_components={self.num_components})"
        )


class _Propagate(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, shard: Shard, x: Tensor) -> Tensor:
        ctx.shard = shard
        halo, work = shard.exchange(x)
        out = x.new_empty(x.shape)
        kernels.addmm_of(shard.inner, x)(out, shard.inner, x, beta=0, out=out)
        work.wait()
        return kernels.addmm_of(shard.outer, halo)(out, shard.outer, halo, out=out)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return None, _propagate(ctx.shard, grads[0])


def _propagate(shard: Shard, x: Tensor) -> Tensor:
    r"""The gradient is the same product, since :math:`\mathbf G` is symmetric."""
    return _Propagate.apply(shard, x)  # type: ignore[no-any-return, no-untyped-call]
