r"""Forward and backward of one controlled convolution for k runs at once, written by hand.

The three models are one formula. With :math:`\mathbf M = g \mathbf G + u \mathbf I`,

.. math::
    \mathbf C = \mathbf M \mathbf X + v \mathbf H^0, \qquad
    \mathbf Z = \mathbf C \mathbf V + \mathbf Q \mathbf A(\mathbf P), \qquad
    \mathbf V = s \mathbf I + b \mathbf W

where the coefficients :math:`\mathbf A` of the control are those of its input's coordinates
:math:`\mathbf P = \mathbf Q^\top \mathbf C \mathbf V`. As :math:`\mathbf Q^\top \mathbf G =
\mathbf Q^\top`, they need no propagated features: :math:`\mathbf Q^\top \mathbf C = (g + u)
\mathbf Q^\top \mathbf X + v \mathbf Q^\top \mathbf H^0`. Backward, the control's part goes through
the same sparse product as the convolution's, :math:`[\mathbf M \; (g + u) \mathbf Q]`.

Features of k runs stand side by side, ``(n, k * d)``: one sparse product serves all of them, and
dense products are batched. Every array is made once and written again in each epoch.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from graphsct.graph import Graph
from graphsct.nn.control import SmoothnessControl
from graphsct.nn.conv import EnergeticConv, GCN2Conv, GCNConv
from graphsct.training.stack import Stack

__all__ = [
    "Eigenspace",
    "LateLayer",
    "Layer",
    "Numbers",
    "Operators",
    "csr",
    "multiply",
    "multiply_transposed",
    "read",
    "take_rows",
]


_SMALL = 1 << 18


def multiply(x: Tensor, w: Tensor, out: Tensor | None = None) -> Tensor:
    """Each run's features times its own matrix; ``(n, k d), (k, d, e) -> (n, k e)``."""
    k, _, e = w.shape
    if out is None:
        out = x.new_empty(x.shape[0], k * e)
    if k == 1:
        return torch.mm(x, w[0], out=out)
    if out.numel() < _SMALL:  # one call and a copy are faster than a call for each run
        _apart(out, k).copy_(torch.bmm(_apart(x, k), w))
    else:
        torch.bmm(_apart(x, k), w, out=_apart(out, k))
    return out


def multiply_transposed(x: Tensor, y: Tensor, out: Tensor, scale: float = 1.0) -> Tensor:
    """Gradient of a weight; ``(n, k d), (n, k e) -> (k, d, e)``."""
    k = out.shape[0]
    if k == 1:
        return torch.addmm(out[0], x.t(), y, beta=0, alpha=scale, out=out[0])
    left = _apart(x, k).transpose(1, 2)
    return torch.baddbmm(out, left, _apart(y, k), beta=0, alpha=scale, out=out)


def _apart(x: Tensor, k: int) -> Tensor:
    """``(n, k d) -> (k, n, d)``, a view."""
    n, width = x.shape
    return x.as_strided((k, n, width // k), (width // k, width, 1), x.storage_offset())


class Eigenspace:
    r"""The basis restricted to some nodes, :math:`\mathbf Q_{rows}`, and both its products.

    Args:
        graph: the graph
        rows: which nodes; shape: ``(r,)``
    """

    def __init__(self, graph: Graph, rows: Tensor) -> None:
        self.single = graph.num_components == 1
        self.basis = graph.basis[rows]
        if not self.single:
            component = graph.component[rows]
            indices = torch.stack([torch.arange(len(rows)), component])
            size = (len(rows), graph.num_components)
            self.matrix = csr(_coo(indices, self.basis, size))
            self.transpose = csr(_coo(indices.flip(0), self.basis, size[::-1]))

    def pool(self, x: Tensor) -> Tensor:
        """``(r, k d) -> (m, k d)``"""
        if self.single:
            return (self.basis @ x).unsqueeze(0)
        return self.transpose @ x

    def add(self, a: Tensor, x: Tensor) -> Tensor:
        """Add the features with coordinates ``a`` to ``x`` in place; ``(m, k d) -> (r, k d)``."""
        if self.single:
            return x.addr_(self.basis, a[0])
        return torch.addmm(x, self.matrix, a, out=x)


def _coo(indices: Tensor, values: Tensor, size: tuple[int, int]) -> Tensor:
    return torch.sparse_coo_tensor(indices, values, size, check_invariants=False)


def csr(matrix: Tensor) -> Tensor:
    """In CSR with 32-bit indices, which are read faster."""
    matrix = matrix.coalesce().to_sparse_csr() if matrix.layout == torch.sparse_coo else matrix
    index = torch.int32 if max(matrix.values().numel(), *matrix.shape) < 2**31 else torch.int64
    return torch.sparse_csr_tensor(
        matrix.crow_indices().to(index),
        matrix.col_indices().to(index),
        matrix.values(),
        size=matrix.shape,
        check_invariants=False,
    )


class Numbers(NamedTuple):
    """Those of the formula at the top; they are those of GCN unless told."""

    g: float = 1.0
    u: float = 0.0
    v: float = 0.0
    s: float = 0.0
    b: float = 1.0


def read(conv: Any, name: str) -> tuple[Numbers, str]:
    """The numbers of the formula, and where the weight is."""
    if isinstance(conv, GCNConv):
        return Numbers(), f"{name}.lin.weight"
    if isinstance(conv, GCN2Conv):
        a, b = conv.alpha, conv.beta
        return Numbers(g=1 - a, v=a, s=1 - b, b=b), f"{name}.weight1"
    assert isinstance(conv, EnergeticConv)
    return Numbers(g=1 - conv.c_min, u=conv.c_min - conv.beta, v=conv.beta), f"{name}.weight"


class Operators:
    """What a layer multiplies by, for all layers with the same numbers and nodes.

    Args:
        graph: the graph
        numbers: of the formula
        control: whether there is one
        rows: nodes whose output is needed, all if ``None``; shape: ``(r,)``
    """

    def __init__(
        self, graph: Graph, numbers: Numbers, control: bool, rows: Tensor | None = None
    ) -> None:
        self.rows = rows
        self.everywhere = Eigenspace(graph, torch.arange(graph.num_nodes))
        self.here = self.everywhere if rows is None else Eigenspace(graph, rows)
        g, u = numbers.g, numbers.u
        full = graph.matrix
        if (g, u) != (1.0, 0.0):
            node = torch.arange(graph.num_nodes).repeat_interleave(full.crow_indices().diff())
            loops = (node == full.col_indices()).to(graph.dtype)
            values = g * full.values() + u * loops
            full = torch.sparse_csr_tensor(
                full.crow_indices(),
                full.col_indices(),
                values,
                size=full.shape,
                check_invariants=False,
            )
        self.forward = full if rows is None else take_rows(full, rows)
        back = full if rows is None else csr(self.forward.to_sparse(layout=torch.sparse_coo).t())
        if control:
            back = _append(back, (g + u) * graph.basis, graph.component, graph.num_components)
        self.backward = back


class Layer:
    """One convolution of k runs.

    Args:
        conv: the convolution of one of the runs, for its settings
        name: of the convolution in the model
        stack: the weights of all runs
        operators: what to multiply by
    """

    def __init__(self, conv: Any, name: str, stack: Stack, operators: Operators) -> None:
        self.numbers, weight = read(conv, name)
        self.weight, self.weight_grad = stack.value[weight], stack.grad[weight]
        self.operators = operators
        self.control = None
        if conv.control is not None:
            self.control = _COEFFICIENTS[conv.control.kind](conv.control, name, stack)
        k, d = self.weight.shape[:2]
        self.matrix = self.weight
        if self.numbers.s:
            self.matrix = self.weight.new_empty(k, d, d)
            self.eye = self.numbers.s * torch.eye(d, dtype=self.weight.dtype)

    def forward(
        self,
        x: Tensor,
        scale: float,
        h_0: Tensor,
        pooled_0: Tensor | None,
        *,
        mixed: Tensor,
        out: Tensor,
    ) -> Tensor:
        r"""Features before the activation; ``(n, k d) -> (r, k d)``.

        Args:
            x: the layer's input, to be multiplied by ``scale``; shape: ``(n, k d)``
            scale: of dropout
            h_0: initial features; shape: ``(n, k d)``
            pooled_0: :math:`\mathbf Q^\top \mathbf H^0`, if one needs it; shape: ``(m, k d)``
            mixed: where to write :math:`\mathbf C`; shape: ``(r, k d)``
            out: where to write the result; shape: ``(r, k d)``
        """
        g, u, v, s, b = self.numbers
        do = self.operators
        if s:
            torch.add(self.eye, self.weight, alpha=b, out=self.matrix)
        if self.control is not None:  # first, while x is still near the processor
            center = do.everywhere.pool(x).mul_((g + u) * scale)
            if v:
                assert pooled_0 is not None
                center.add_(pooled_0, alpha=v)
            self.center = center
            a = self.control.forward(multiply(center, self.matrix), pooled_0)
        if v:
            start = h_0 if do.rows is None else h_0.index_select(0, do.rows)
            torch.addmm(start, do.forward, x, beta=v, alpha=scale, out=mixed)
        else:
            torch.addmm(mixed, do.forward, x, beta=0, alpha=scale, out=mixed)
        self.mixed = mixed
        multiply(mixed, self.matrix, out=out)
        return out if self.control is None else do.here.add(a, out)

    def backward(
        self,
        dz: Tensor,
        scale: float,
        dh_0: Tensor,
        dpooled_0: Tensor | None,
        *,
        above: Tensor,
        out: Tensor,
    ) -> Tensor:
        """Gradient of the input; adds to those of the initial features, fills those of weights.

        Args:
            dz: gradient of what :meth:`forward` returned; shape: ``(r, k d)``
            scale: that of :meth:`forward`
            dh_0: gradient of the initial features so far; shape: ``(n, k d)``
            dpooled_0: gradient of their coordinates so far; shape: ``(m, k d)``
            above: room for gradients between; shape: ``(r + m, k d)``, ``(r, k d)`` uncontrolled
            out: where to write the result; shape: ``(n, k d)``
        """
        _, _, v, _, b = self.numbers
        rows, r = self.operators.rows, dz.shape[0]
        transposed = self.matrix.transpose(1, 2)
        if self.control is not None:
            dp, dp_0 = self.control.backward(self.operators.here.pool(dz))
        dmixed = multiply(dz, transposed, out=above[:r])
        multiply_transposed(self.mixed, dz, self.weight_grad, b)
        if self.control is not None:
            dcenter = multiply(dp, transposed, out=above[r:])
            k = self.weight.shape[0]
            self.weight_grad.baddbmm_(
                _apart(self.center, k).transpose(1, 2), _apart(dp, k), alpha=b
            )
            if dpooled_0 is not None:
                dpooled_0.add_(dcenter, alpha=v)
                if dp_0 is not None:
                    dpooled_0.add_(dp_0)
        if v and rows is not None:
            dh_0.index_add_(0, rows, dmixed, alpha=v)
        elif v:
            dh_0.add_(dmixed, alpha=v)
        return torch.addmm(out, self.operators.backward, above, beta=0, alpha=scale, out=out)


class LateLayer(Layer):
    r"""A convolution of GCN in the other order, :math:`\mathbf Z = \mathbf G \mathbf T + \mathbf Q
    \mathbf A(\mathbf Q^\top \mathbf T)` with :math:`\mathbf T = \mathbf X \mathbf W`.

    Then the control goes through the convolution's own sparse product in both directions,
    :math:`[\mathbf G \; \mathbf Q]`, and no product of coordinates is left.
    """

    #: The gradient of the output and room for that of the control behind it; ``(n + m, k d)``.
    dz_room: Tensor

    def forward(
        self,
        x: Tensor,
        scale: float,
        h_0: Tensor,
        pooled_0: Tensor | None,
        *,
        mixed: Tensor,
        out: Tensor,
    ) -> Tensor:
        r"""As :meth:`Layer.forward`, with ``mixed`` for :math:`[\mathbf T; \mathbf A]`; its shape:
        ``(n + m, k d)``, ``(n, k d)`` uncontrolled.
        """
        self.x = x
        self.matrix = self.weight if scale == 1 else scale * self.weight
        t = multiply(x, self.matrix, out=mixed[: x.shape[0]])
        if self.control is not None:
            a = self.control.forward(self.operators.everywhere.pool(t), pooled_0)
            mixed[x.shape[0] :].copy_(a)
        return torch.addmm(out, self.operators.backward, mixed, beta=0, out=out)

    def backward(
        self,
        dz: Tensor,
        scale: float,
        dh_0: Tensor,
        dpooled_0: Tensor | None,
        *,
        above: Tensor,
        out: Tensor,
    ) -> Tensor:
        """As :meth:`Layer.backward`, with ``dz`` the first rows of ``dz_room``."""
        if self.control is not None:
            dp, dp_0 = self.control.backward(self.operators.everywhere.pool(dz))
            self.dz_room[dz.shape[0] :].copy_(dp)
            if dpooled_0 is not None and dp_0 is not None:
                dpooled_0.add_(dp_0)
        dt = above[: dz.shape[0]]
        torch.addmm(dt, self.operators.backward, self.dz_room, beta=0, out=dt)
        multiply_transposed(self.x, dt, self.weight_grad, scale)
        return multiply(dt, self.matrix.transpose(1, 2), out=out)


def take_rows(matrix: Tensor, rows: Tensor) -> Tensor:
    """Rows of a CSR matrix; shapes: ``(n, c), (r,) -> (r, c)``."""
    starts, counts = matrix.crow_indices().long(), matrix.crow_indices().diff().long()
    taken = counts[rows]
    ends = taken.cumsum(0)
    inside = torch.arange(int(ends[-1])) - (ends - taken).repeat_interleave(taken)
    place = starts[rows].repeat_interleave(taken) + inside
    return torch.sparse_csr_tensor(
        torch.cat([ends.new_zeros(1), ends]).to(matrix.crow_indices().dtype),
        matrix.col_indices()[place],
        matrix.values()[place],
        size=(len(rows), matrix.shape[1]),
        check_invariants=False,
    )


def _append(matrix: Tensor, basis: Tensor, component: Tensor, m: int) -> Tensor:
    """The matrix with the columns of the basis behind its own."""
    n, columns = matrix.shape
    entries = matrix.to_sparse(layout=torch.sparse_coo)
    indices = torch.cat(
        [entries.indices(), torch.stack([torch.arange(n), component + columns])], dim=1
    )
    values = torch.cat([entries.values(), basis])
    return csr(_coo(indices, values, (n, columns + m)))


class _Pooled:
    def __init__(self, control: SmoothnessControl, name: str, stack: Stack) -> None:
        name = f"{name}.control.coefficients"
        # (k, m, d) as (m, k, d), like the coordinates
        self.weight = stack.value[f"{name}.weight"].transpose(0, 1)
        self.weight_grad = stack.grad[f"{name}.weight"].transpose(0, 1)
        self.bias, self.bias_grad = stack.value[f"{name}.bias"], stack.grad[f"{name}.bias"]

    def forward(self, p: Tensor, p_0: Tensor | None) -> Tensor:
        self.p = p.view(self.weight.shape)
        out = torch.empty_like(self.p)
        return torch.addcmul(self.bias, self.weight, self.p, out=out).view(p.shape)

    def backward(self, da: Tensor) -> tuple[Tensor, Tensor | None]:
        da = da.view(self.p.shape)
        torch.mul(da, self.p, out=self.weight_grad)
        torch.sum(da, dim=0, out=self.bias_grad)
        return torch.mul(da, self.weight, out=torch.empty_like(da)).view(da.shape[0], -1), None


class _Gated:
    """Both controls with a gate: softmax of the coordinates times a linear map of them."""

    def __init__(self, control: SmoothnessControl, name: str, stack: Stack) -> None:
        coefficients: Any = control.coefficients
        self.beta: float = coefficients.beta
        self._take(f"{name}.control.coefficients", stack)

    def _take(self, name: str, stack: Stack) -> None:
        self.weight, self.weight_grad = (
            part[f"{name}.linear.weight"] for part in (stack.value, stack.grad)
        )
        self.bias, self.bias_grad = (
            part[f"{name}.linear.bias"] for part in (stack.value, stack.grad)
        )

    def _map(self, p: Tensor, p_0: Tensor) -> Tensor:
        self.mixed = torch.lerp(p, p_0, self.beta)
        return multiply(self.mixed, self.weight).add_(self.bias.view(-1))

    def _map_backward(self, du: Tensor) -> tuple[Tensor, Tensor]:
        multiply_transposed(self.mixed, du, self.weight_grad)
        torch.sum(du, dim=0, out=self.bias_grad.view(-1))
        dmixed = multiply(du, self.weight.transpose(1, 2))
        return (1 - self.beta) * dmixed, self.beta * dmixed

    def forward(self, p: Tensor, p_0: Tensor | None) -> Tensor:
        assert p_0 is not None
        k = self.weight.shape[0]
        self.gate = torch.softmax(p.view(p.shape[0], k, -1), dim=2).view(p.shape)
        self.mapped = self._map(p, p_0)
        return self.gate * self.mapped

    def backward(self, da: Tensor) -> tuple[Tensor, Tensor | None]:
        dp, dp_0 = self._map_backward(da * self.gate)
        runs = da.shape[0], self.weight.shape[0], -1
        through = torch.ops.aten._softmax_backward_data(
            (da * self.mapped).view(runs), self.gate.view(runs), 2, da.dtype
        )
        return dp.add_(through.view(da.shape)), dp_0


class _GatedFull(_Gated):
    def _take(self, name: str, stack: Stack) -> None:
        self.weight, self.weight_grad = (
            part[f"{name}.current.weight"] for part in (stack.value, stack.grad)
        )
        self.initial, self.initial_grad = (
            part[f"{name}.initial.weight"] for part in (stack.value, stack.grad)
        )

    def _map(self, p: Tensor, p_0: Tensor) -> Tensor:
        self.inputs = p, p_0
        return torch.lerp(multiply(p, self.weight), multiply(p_0, self.initial), self.beta)

    def _map_backward(self, du: Tensor) -> tuple[Tensor, Tensor]:
        p, p_0 = self.inputs
        multiply_transposed(p, du, self.weight_grad, 1 - self.beta)
        multiply_transposed(p_0, du, self.initial_grad, self.beta)
        dp = multiply(du, self.weight.transpose(1, 2)).mul_(1 - self.beta)
        return dp, multiply(du, self.initial.transpose(1, 2)).mul_(self.beta)


_COEFFICIENTS: dict[str, Any] = {"pooled": _Pooled, "gated": _Gated, "gated_full": _GatedFull}
