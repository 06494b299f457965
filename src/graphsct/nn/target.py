r"""The control by which every channel has exactly the wanted smoothness."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor

from graphsct.errors import ModelError
from graphsct.geometry.activations import negative_slope_of, resolve
from graphsct.geometry.target_map import TargetMap
from graphsct.graph import Graph
from graphsct.names import pick
from graphsct.nn.checks import check_flag, check_share

__all__ = ["LARGEST", "SOURCES", "Target"]

#: Where the wanted smoothness comes from, and whether it has a weight for each channel and for each
#: pair of channels.
SOURCES = {"fixed": (False, False), "learned": (True, False), "read": (True, True)}
#: The largest smoothness that can be wanted; 1 is that of a smooth or zero output alone.
LARGEST = 0.999


class _Shift(torch.autograd.Function):
    """The map of :class:`~graphsct.geometry.target_map.TargetMap`."""

    @staticmethod
    def forward(ctx: Any, z: Tensor, target: Tensor, own: TargetMap) -> Tensor:
        out = torch.empty_like(z)
        own.forward(z, target, out, _work(z))
        ctx.map = own
        ctx.save_for_backward(out)
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        (out,), of_z = ctx.saved_tensors, torch.empty_like(grads[0])
        return of_z, ctx.map.backward(out, grads[0], of_z, _work(out)), None


def _work(like: Tensor) -> tuple[Tensor, ...]:
    return tuple(torch.empty_like(like) for _ in range(3))


def _signed_smoothness(x: Tensor, graph: Graph) -> Tensor:
    r"""Coordinates over norms, in each component, 0 for features of 0; ``(n, d) -> (m, d)``."""
    each = graph.basis.reciprocal().unsqueeze(1)  # pooling undoes it and leaves sums
    square = graph.pool(each * x.square())
    alive = square > 0
    return torch.where(alive, graph.pool(x) * torch.where(alive, square, 1).rsqrt(), 0)


class Target(torch.nn.Module):
    r"""Shifts every channel so that its output has the smoothness :math:`t` in each component:

    .. math::
        \mathbf z \mapsto r \, (\mathbf z - \mathbf Q \boldsymbol\alpha), \qquad
        s\big(\sigma(\mathbf z - \mathbf Q \boldsymbol\alpha)\big) = t, \qquad
        r = \|\mathbf z\| / \|\sigma(\mathbf z - \mathbf Q \boldsymbol\alpha)\|

    The rough part of ReLU's output lies on a sphere around half the rough part of its input, and
    the smooth parts alone decide where on it (section 3 of the paper), so a shift in the eigenspace
    moves the smoothness of the output through a whole interval (section 4). The paper's term learns
    such a shift and hopes that the smoothness follows. Here the shift is the exact one for the
    wanted smoothness, found by :func:`~graphsct.geometry.newton.find_shift` and differentiated
    implicitly; the factor :math:`r`, one for each component, gives the output the size of the
    input, as the size that a shift leaves may fade with depth.

    A component that cannot reach :math:`t` is not shifted: one without a rough part, such as an
    isolated node or a dead channel, and with ReLU one whose largest entry alone is smoother. There
    :math:`\alpha` is a constant 0 with gradient 0. At a kink of the activation the slope is that of
    PyTorch, which is that below the kink, so that the gradient is one of the two one-sided ones.
    With ELU and SELU, features below 1e-19 in float32 are not shifted: their squares count as 0.

    A wanted smoothness that is learned or read starts at ``target`` and stays in the interval from
    :math:`t_i`, above which component :math:`i` reaches every smoothness whatever its features, to
    0.999. One that is read from the features is

    .. math::
        t = t_i + (0.999 - t_i) \operatorname{sigmoid}(\mathbf W \mathbf p + \mathbf b), \qquad
        p_c = \langle \mathbf z_c, \mathbf e_i \rangle / \|\mathbf z_c\|

    on component :math:`i`, as the gated term reads its coefficients from the coordinates of the
    features. Here each coordinate is divided by the norm of its channel :math:`\mathbf z_c` on the
    component, so that it is the channel's own smoothness, with its sign, and depth does not fade
    it. The weights start at 0, fit any graph, and do not depend on the order of the nodes. Without
    :math:`\mathbf W \mathbf p` the smoothness is learned.

    Args:
        channels: number of channels :math:`d`
        num_components: not used, as all weights depend on the width alone
        layer_share: not used
        target: the wanted smoothness :math:`t`, above 0 and at most 0.999
        source: where :math:`t` comes from: ``fixed``; ``learned`` for each channel; or ``read``
            from the features, for each component and channel
        rescale: multiply by :math:`r`; by default where the activation allows it. ELU and SELU do
            not, since a factor on their input is not a factor on their output
        activation: the one that follows: ReLU, leaky ReLU, identity, ELU or SELU, by name or as a
            module; a :class:`~graphsct.nn.Model` puts its own here
    """

    needs_initial, needs_components, in_eigenspace = False, False, False
    search_space: ClassVar[Mapping[str, tuple[Any, ...]]] = {}

    def __init__(
        self,
        channels: int,
        num_components: int | None,
        layer_share: float,
        *,
        target: float = 0.8,
        source: str = "fixed",
        rescale: bool | None = None,
        activation: str | torch.nn.Module = "relu",
    ) -> None:
        super().__init__()
        if not 0 < check_share(target, "target") <= LARGEST:
            raise ModelError(f"target is {target}, expected a number above 0 and at most {LARGEST}")
        self.target = float(target)
        self._rescale = None if rescale is None else check_flag(rescale, "rescale")
        has_logit, has_weight = pick(SOURCES, source, "source of the wanted smoothness")
        self.logit = torch.nn.Parameter(torch.empty(channels)) if has_logit else None
        self.weight = torch.nn.Parameter(torch.empty(channels, channels)) if has_weight else None
        self.before(resolve(activation))
        self.reset_parameters()

    def before(self, activation: torch.nn.Module) -> None:
        """Take the activation that follows."""
        linear = negative_slope_of(activation) is not None
        if self._rescale and not linear:
            raise ModelError(
                f"rescale=True needs ReLU, leaky ReLU or the identity, not {activation}: leave it "
                "out, or use one of these"
            )
        self.rescale = linear if self._rescale is None else self._rescale
        own: Any = copy.deepcopy(activation)
        own.inplace = False  # the features before it are needed as well
        self._activation = (own,)  # no part of the control, for whoever looks for activations

    @property
    def activation(self) -> torch.nn.Module:
        """The activation that follows."""
        own: torch.nn.Module = self._activation[0]
        return own

    def reset_parameters(self) -> None:
        """Bring the wanted smoothness back to its start."""
        if self.logit is not None:
            share = min(self.target / LARGEST, 1 - 1e-6)
            torch.nn.init.constant_(self.logit, math.log(share / (1 - share)))
        if self.weight is not None:
            torch.nn.init.zeros_(self.weight)

    def forward(self, x: Tensor, graph: Graph) -> Tensor:
        """What is added to the features; ``(n, d) -> (n, d)``."""
        graph.check_whole()
        x = graph.check_features(x)
        targets, own = self.targets(x, graph), self.map(graph)
        shifted: Tensor = _Shift.apply(x, targets, own)  # type: ignore[no-untyped-call]
        return shifted - x

    def map(self, graph: Graph) -> TargetMap:
        """The map from features to shifted features."""
        return TargetMap(graph, self.activation, rescale=self.rescale)

    def targets(self, x: Tensor, graph: Graph) -> Tensor:
        """The wanted smoothness of each component and channel; shape: ``(m, d)``."""
        if self.logit is None:
            return x.new_full((graph.num_components, x.shape[1]), self.target)
        lower, logit = self.least(graph), self.logit.expand(graph.num_components, -1)
        if self.weight is not None:
            logit = torch.addmm(logit, _signed_smoothness(x, graph), self.weight.t())
        return lower + (LARGEST - lower) * torch.sigmoid(logit)

    def least(self, graph: Graph) -> Tensor:
        """The smoothness above which each component reaches all, whatever its features; shape:
        ``(m, 1)``.
        """
        lower = torch.zeros_like(graph.basis[: graph.num_components])
        if negative_slope_of(self.activation) == 0:
            lower = lower.scatter_reduce(0, graph.component, graph.basis, "amax")
        return lower.clamp_max(LARGEST).unsqueeze(1)
