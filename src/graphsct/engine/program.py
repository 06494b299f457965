"""The calls of an epoch, prepared once, and the arrays they compute in.

All arrays of a training loop are made before it begins, so its calls can be prepared, too: each
is kept with its arguments, including views and transposes, and an epoch runs through the list. On
small graphs, where making calls takes most of the time, this halves it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from graphsct.engine.dense_kernel import dense_addmm_of, threshold
from graphsct.graph.kernels import MANY_NODES

__all__ = ["Arena", "OneThread", "Program", "apart", "multiply", "multiply_transposed"]

#: Below this many numbers, a product of several runs is faster by way of a copy.
_SMALL = 1 << 18
#: Number of pieces into which a sum over many rows is cut.
_PIECES = 16


class Arena:
    """Arrays that are handed out again once their last user has released them.

    Args:
        like: a tensor whose dtype the arrays have

    Example:
        >>> arena = Arena(torch.ones(1))
        >>> array = arena.take(2, 3)
        >>> arena.release(array)
        >>> arena.take(2, 3) is array
        True
    """

    def __init__(self, like: Tensor) -> None:
        self._like = like
        self._free: dict[tuple[int, ...], list[Tensor]] = {}
        self._users: dict[int, int] = {}

    def take(self, *shape: int) -> Tensor:
        """An array with one user; its content is arbitrary."""
        free = self._free.get(shape)
        array = free.pop() if free else self._like.new_empty(shape)
        self._users[id(array)] = 1
        return array

    def share(self, array: Tensor) -> Tensor:
        """The same array with one more user."""
        self._users[id(array)] += 1
        return array

    def release(self, array: Tensor) -> None:
        """One user less; after the last one the array is free."""
        self._users[id(array)] -= 1
        if not self._users[id(array)]:
            self._free.setdefault(tuple(array.shape), []).append(array)


class Program:
    """A list of calls, none of which may create an array that another one needs.

    Args:
        arena: the source of arrays that calls pass to each other

    Example:
        >>> x = torch.ones(2)
        >>> do = Program(Arena(x))
        >>> do(torch.add, x, 1, out=x)
        >>> do.run()
        >>> do.run()
        >>> x
        tensor([3., 3.])
    """

    def __init__(self, arena: Arena) -> None:
        self.arena = arena
        self._calls: list[Callable[[], Any]] = []
        self._scratch: dict[tuple[Any, ...], Tensor] = {}

    def __call__(self, function: Callable[..., Any], *args: Any, **settings: Any) -> None:
        """Add a call."""
        self._calls.append(partial(function, *args, **settings))

    def run(self) -> None:
        """Make all calls."""
        for call in self._calls:
            call()

    def scratch(self, use: str, *shape: int) -> Tensor:
        """An array whose content lasts until the next request with the same use and shape."""
        if (use, *shape) not in self._scratch:
            self._scratch[use, *shape] = self.arena.take(*shape)
        return self._scratch[use, *shape]


class OneThread:
    """A context in which PyTorch uses a single thread.

    Args:
        only: whether to do so; if false, nothing changes
    """

    def __init__(self, only: bool) -> None:
        self._only = only

    def __enter__(self) -> None:
        self._before = torch.get_num_threads()
        if self._only:
            torch.set_num_threads(1)

    def __exit__(self, *error: object) -> None:
        if self._only:
            torch.set_num_threads(self._before)


def apart(x: Tensor, k: int) -> Tensor:
    """Features of k runs side by side as a stack; ``(n, k d) -> (k, n, d)``, a view."""
    n, width = x.shape
    return x.as_strided((k, n, width // k), (width // k, x.stride(0), 1))


def add_products(do: Program, a: Tensor, b: Tensor, out: Tensor) -> None:
    """The sum over nodes of the products of entries; shapes: ``(n, k d) -> (k d,)``."""
    product = do.arena.take(*a.shape)
    do(torch.mul, a, b, out=product)
    do(torch.sum, product, dim=0, out=out)
    do.arena.release(product)


def multiply(
    do: Program,
    x: Tensor,
    w: Tensor,
    out: Tensor,
    *,
    scale: float = 1.0,
    bias: Tensor | None = None,
    add: bool = False,
    mask: Tensor | None = None,
) -> None:
    """Each run's features times its own matrix.

    Args:
        do: where to add the calls
        x: shape: ``(n, k d)``
        w: shape: ``(k, d, e)``
        out: where to write; shape: ``(n, k e)``
        scale: of the product
        bias: shape: ``(k, e)``
        add: add the product to ``out``; for a single run only
        mask: output of ReLU; the product is set to zero where ReLU is; shape: ``(n, k e)``
    """
    k, n = len(w), x.shape[0]
    rest: dict[str, Any] = {"alpha": scale}
    rest |= {} if bias is not None or add else {"beta": 0}
    if k == 1:
        addmm = dense_addmm_of(x, w[0])
        fused = mask is not None and addmm is not torch.addmm
        rest |= {"mask": mask} if fused else {}
        do(addmm, out if bias is None else bias[0], x, w[0], **rest, out=out)
        if mask is not None and not fused:
            do(threshold, out, mask, 0, grad_input=out)
        return
    small = out.numel() < _SMALL
    stack = do.scratch("product", k, n, w.shape[2]) if small else apart(out, k)
    start = stack if bias is None else bias.unsqueeze(1)
    do(torch.baddbmm, start, apart(x, k), w, **rest, out=stack)
    if small:
        do(apart(out, k).copy_, stack)
    if mask is not None:
        do(threshold, out, mask, 0, grad_input=out)


def multiply_transposed(do: Program, x: Tensor, y: Tensor, out: Tensor, scale: float = 1.0) -> None:
    """Gradient of a weight; ``(n, k d), (n, k e) -> (k, d, e)``."""
    k, n = len(out), len(x)
    if k == 1 and n >= MANY_NODES:  # threads share a batch better than a long sum
        rows, rest = divmod(n, _PIECES)
        pieces = do.scratch("pieces", _PIECES, *out.shape[1:])
        left, right = (array[: n - rest].view(_PIECES, rows, -1) for array in (x, y))
        do(torch.baddbmm, pieces, left.transpose(1, 2), right, beta=0, alpha=scale, out=pieces)
        do(torch.sum, pieces, dim=0, out=out[0])
        do(torch.addmm, out[0], x[n - rest :].t(), y[n - rest :], alpha=scale, out=out[0])
    elif k == 1:
        do(dense_addmm_of(x.t(), y), out[0], x.t(), y, beta=0, alpha=scale, out=out[0])
    else:
        left = apart(x, k).transpose(1, 2)
        do(torch.baddbmm, out, left, apart(y, k), beta=0, alpha=scale, out=out)
