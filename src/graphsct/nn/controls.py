r"""The smoothness control term (section 5 of the paper), and the registry of controls by name."""

from __future__ import annotations

import math
from collections.abc import Mapping
from inspect import signature
from typing import Any, ClassVar

import torch
from torch import Tensor

from graphsct.errors import ModelError
from graphsct.graph import Graph
from graphsct.names import nearest, pick
from graphsct.nn.checks import check_positive, check_size
from graphsct.nn.normalized import Normalized
from graphsct.nn.target import Target

__all__ = ["CONTROLS", "TENTHS", "SmoothnessControl", "layer_beta"]

#: The choices of the paper's grid for a share: 0.1, 0.2, ..., 0.9.
TENTHS = tuple(k / 10 for k in range(1, 10))


def layer_beta(theta: Any, layer: Any) -> float:
    r""":math:`\beta_l = \log(\theta / l + 1)`, which falls with depth.

    Example:
        >>> round(layer_beta(0.5, 2), 3)
        0.223
    """
    return math.log(check_positive(theta, "theta") / check_size(layer, "layer") + 1)


class _Pooled(torch.nn.Module):
    r"""Architecture 1, :math:`\mathbf A = \mathbf W \odot (\mathbf Q^\top \mathbf H) + \mathbf
    b`, with :math:`\mathbf W \in \mathbb R^{m \times d}` and :math:`\mathbf b \in \mathbb R^d`.
    """

    needs_initial, needs_components, in_eigenspace = False, True, True
    search_space: ClassVar[Mapping[str, tuple[Any, ...]]] = {}

    def __init__(self, channels: int, num_components: int | None, beta: float) -> None:
        super().__init__()
        if num_components is None:
            raise ModelError(
                "control 'pooled' has one weight for each component of the graph: pass "
                "num_components=graph.num_components, or use 'gated', which fits any graph"
            )
        m = check_size(num_components, "num_components")
        self.weight = torch.nn.Parameter(torch.empty(m, channels))
        self.bias = torch.nn.Parameter(torch.empty(channels))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        torch.nn.init.zeros_(self.weight)
        torch.nn.init.zeros_(self.bias)

    def forward(self, pooled: Tensor, initial: Tensor | None) -> Tensor:
        if len(pooled) != len(self.weight):
            raise ModelError(
                f"control 'pooled' was made for num_components={len(self.weight)}, this graph has "
                f"{len(pooled)}: its weight belongs to one graph; build it with num_components="
                f"{len(pooled)}, or use 'gated', which transfers between graphs"
            )
        return torch.addcmul(self.bias, self.weight, pooled)


class _Gated(torch.nn.Module):
    r"""Architecture 2 as counted in the paper's table of model sizes, with one biased linear map:
    :math:`\mathbf A = \phi(\mathbf Q^\top \mathbf H) \odot \big((\beta_l \mathbf Q^\top
    \mathbf H^0 + (1 - \beta_l) \mathbf Q^\top \mathbf H) \mathbf W + \mathbf b\big)`.
    """

    needs_initial, needs_components, in_eigenspace = True, False, True
    search_space: ClassVar[Mapping[str, tuple[Any, ...]]] = {"theta": TENTHS}

    def __init__(self, channels: int, num_components: int | None, beta: float) -> None:
        super().__init__()
        self.beta = beta
        self.linear = torch.nn.Linear(channels, channels)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        torch.nn.init.zeros_(self.linear.weight)
        torch.nn.init.zeros_(self.linear.bias)

    def forward(self, pooled: Tensor, initial: Tensor) -> Tensor:
        mapped: Tensor = self.linear(torch.lerp(pooled, initial, self.beta))
        return torch.softmax(pooled, dim=1) * mapped


class _GatedFull(torch.nn.Module):
    r"""Architecture 2 as written in the paper, with two linear maps: :math:`\mathbf A =
    \phi(\mathbf Q^\top \mathbf H) \odot (\beta_l \mathbf Q^\top \mathbf H^0 \mathbf W_0 +
    (1 - \beta_l) \mathbf Q^\top \mathbf H \mathbf W_1)`.
    """

    needs_initial, needs_components, in_eigenspace = True, False, True
    search_space: ClassVar[Mapping[str, tuple[Any, ...]]] = {"theta": TENTHS}

    def __init__(self, channels: int, num_components: int | None, beta: float) -> None:
        super().__init__()
        self.beta = beta
        self.initial = torch.nn.Linear(channels, channels, bias=False)
        self.current = torch.nn.Linear(channels, channels, bias=False)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        torch.nn.init.zeros_(self.initial.weight)
        torch.nn.init.zeros_(self.current.weight)

    def forward(self, pooled: Tensor, initial: Tensor) -> Tensor:
        mixed = torch.lerp(self.current(pooled), self.initial(initial), self.beta)
        return torch.softmax(pooled, dim=1) * mixed


class _Bias(torch.nn.Module):
    r"""The null hypothesis, a bias for each channel: the term :math:`\mathbf 1 \mathbf b^\top` with
    :math:`\mathbf b \in \mathbb R^d`.
    """

    needs_initial, needs_components, in_eigenspace = False, False, False
    search_space: ClassVar[Mapping[str, tuple[Any, ...]]] = {}

    def __init__(self, channels: int, num_components: int | None, beta: float) -> None:
        super().__init__()
        self.bias = torch.nn.Parameter(torch.empty(channels))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        torch.nn.init.zeros_(self.bias)

    def forward(self, x: Tensor, graph: Graph) -> Tensor:
        return self.bias


#: The controls by name. Each is a module that says whether its term lies in the eigenspace
#: (``in_eigenspace``, true if left out). If so, it computes the term's coefficients from the
#: features' own coordinates; if not, it computes the term itself from the features and the graph.
#: It also says whether it needs the coordinates of the initial features (``needs_initial``)
#: and the number of components (``needs_components``), which of its settings a search may choose
#: (``search_space``), which options it needs for a batch of graphs (``batch_options``, none if left
#: out), and the first layer of a network that has it (``first_layer``, 1 if left out).
CONTROLS: dict[str, Any] = {
    "pooled": _Pooled,
    "gated": _Gated,
    "gated_full": _GatedFull,
    "bias": _Bias,
    "normalized": Normalized,
    "target": Target,
}


class SmoothnessControl(torch.nn.Module):
    r"""The learnable term that a layer adds before its activation to control its smoothness, of
    `"Learning to Control the Smoothness of Graph Convolutional Network Features"
    <https://arxiv.org/abs/2410.14604>`_ (Wang et al., 2024).

    .. math::
        \mathbf B = \mathbf Q \mathbf A, \qquad
        \mathbf H^l = \sigma(\mathbf G \mathbf H^{l-1} \mathbf W^l + \mathbf B)

    lies in the eigenspace :math:`\mathcal M`, so it changes how smooth the features are and not
    how far they are from :math:`\mathcal M`. Its coefficients :math:`\mathbf A \in \mathbb R^{m
    \times d}` are learned from the features' own coordinates :math:`\mathbf Q^\top \mathbf H`:

    - ``pooled``, :math:`\mathbf W \odot (\mathbf Q^\top \mathbf H) + \mathbf b`, for one graph,
      with a row of :math:`\mathbf W` for each component, numbered by its first node;
    - ``gated``, :math:`\phi(\mathbf Q^\top \mathbf H) \odot (\mathbf P \mathbf W + \mathbf b)` with
      :math:`\mathbf P = \beta_l \mathbf Q^\top \mathbf H^0 + (1 - \beta_l) \mathbf Q^\top \mathbf
      H`, for any graph, with softmax :math:`\phi`, initial features :math:`\mathbf H^0` and
      :math:`\beta_l = \log(\theta / l + 1)`;
    - ``gated_full``, the same with two weights: :math:`\beta_l \mathbf Q^\top \mathbf H^0 \mathbf
      W_0 + (1 - \beta_l) \mathbf Q^\top \mathbf H \mathbf W_1` in the place of :math:`\mathbf P
      \mathbf W + \mathbf b`.

    ``bias`` is what the others are compared with: :math:`\mathbf B = \mathbf 1 \mathbf b^\top`, a
    plain bias for each channel, which is no function of the features and does not lie in the
    eigenspace. The paper's convolutions have no bias, so a control that is no better than this one
    has only helped by the bias it brings.

    All their weights start at zero: a new control changes nothing.

    ``normalized`` sets both parts of the features: the rough one to :math:`\gamma` and the smooth
    one to :math:`\beta` in root mean square, from the start; see
    :class:`~graphsct.nn.normalized.Normalized`. ``target`` shifts the features so that the output
    of the activation has exactly the wanted smoothness; see :class:`~graphsct.nn.target.Target`.

    Args:
        channels: number of channels :math:`d`
        kind: a name in :data:`CONTROLS`, such as ``pooled``
        num_components: number of connected components :math:`m`, needed by ``pooled``
        theta: the :math:`\theta` of :math:`\beta_l`
        layer: which layer :math:`l` this is, from 1
        first: the first layer of a network that has a control; those below it have none. Defaults
            to 5 for ``normalized`` and to 1 for all others
        options: those of the kind, such as ``beta`` of ``normalized`` and ``target`` of ``target``

    Example:
        >>> graph = Graph([[0, 1, 2, 3], [1, 0, 3, 2]])
        >>> control = SmoothnessControl(8, "pooled", num_components=graph.num_components)
        >>> control(torch.randn(4, 8), graph).shape
        torch.Size([4, 8])
    """

    def __init__(
        self,
        channels: int,
        kind: str = "pooled",
        *,
        num_components: int | None = None,
        theta: float = 0.5,
        layer: int = 1,
        first: int | None = None,
        **options: Any,
    ) -> None:
        super().__init__()
        self.channels = check_size(channels, "channels")
        self.kind = kind
        make: Any = pick(CONTROLS, kind, "control")
        self.first = (
            getattr(make, "first_layer", 1) if first is None else check_size(first, "first")
        )
        known = ["first"] + [
            p.name for p in signature(make).parameters.values() if p.kind is p.KEYWORD_ONLY
        ]
        for name in options.keys() - known:
            raise ModelError(f"control {kind!r} has no option {name!r}{nearest(name, known)}")
        self.coefficients = make(channels, num_components, layer_beta(theta, layer), **options)

    def reset_parameters(self) -> None:
        """Bring all weights back to their first values."""
        self.coefficients.reset_parameters()

    def before(self, activation: torch.nn.Module) -> None:
        """Tell a control that depends on it which activation follows."""
        if hasattr(self.coefficients, "before"):
            self.coefficients.before(activation)

    @property
    def needs_initial(self) -> bool:
        """Whether the initial features are needed."""
        return bool(self.coefficients.needs_initial)

    @property
    def in_eigenspace(self) -> bool:
        """Whether the term lies in the eigenspace."""
        return getattr(self.coefficients, "in_eigenspace", True)

    def forward(
        self,
        x: Tensor,
        graph: Graph,
        x_0: Tensor | None = None,
        *,
        pooled_0: Tensor | None = None,
    ) -> Tensor:
        r"""The term :math:`\mathbf B`, of the shape of ``x``.

        Args:
            x: the features :math:`\mathbf H`; shape: ``(n, d)``
            graph: the graph they live on
            x_0: initial features :math:`\mathbf H^0`, which the gated kinds need; shape: ``(n, d)``
            pooled_0: ``graph.pool(x_0)``, to save a deep model doing it in every layer; shape:
                ``(m, d)``
        """
        self._check(x, "features")
        if not self.in_eigenspace:
            term: Tensor = self.coefficients(x, graph)
            return term.expand_as(x)
        pooled = graph.pool(x)
        if self.needs_initial and pooled_0 is None:
            if x_0 is None:
                raise ModelError(
                    f"control {self.kind!r} needs the initial features: pass x_0, the (n, "
                    f"{self.channels}) output of the first layer, or use 'pooled', which does not"
                )
            pooled_0 = graph.pool(self._check(x_0, "initial features"))
        return graph.unpool(self.coefficients(pooled, pooled_0))

    def _check(self, x: Tensor, what: str) -> Tensor:
        if x.dim() == 2 and x.shape[1] != self.channels:
            raise ModelError(
                f"{what} have {x.shape[1]} channels, this control has channels={self.channels}"
            )
        return x

    def extra_repr(self) -> str:
        """Channels and kind."""
        return f"{self.channels}, {self.kind!r}"
