r"""The control that normalises the rough part of the features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor

from graphsct.graph import Graph
from graphsct.nn.checks import check_flag, check_number

__all__ = ["EPSILON", "Normalized", "unit_eigenvectors"]

#: Added to mean squares before their root, as in batch normalisation.
EPSILON = 1e-5


class Normalized(torch.nn.Module):
    r"""Scales the rough part of each channel to one size and sets its smooth part:

    .. math::
        \mathbf z \mapsto \gamma \frac{\mathbf z_{\mathcal M^\perp}}
        {\sqrt{\|\mathbf z_{\mathcal M^\perp}\|^2 / n + \epsilon}} +
        \beta \sum_i \sqrt{n_i} \, \mathbf e_i

    with :math:`\epsilon = 10^{-5}` and :math:`n_i` the nodes of component :math:`i`, so that both
    summands have root mean square 1 where :math:`\gamma = \beta = 1`.

    A shift in the eigenspace moves the smoothness of the output through a whole interval (section 4
    of the paper), and for a rough part of a given shape, the sizes of the two parts :math:`\mathbf
    z_{\mathcal M}` and :math:`\mathbf z_{\mathcal M^\perp}` decide where. Depth changes the ratio
    of these sizes, and the paper's term has to follow. Here both sizes are weights, so
    :math:`\beta / \gamma` sets the smoothness up to that shape, whatever the graph and the layer.

    A network has it from the fifth layer on, unless ``first`` says otherwise. In all layers it
    costs several points where depth does not hurt. Of 29 forms that were tried, only those that
    begin at layer 5 cost nothing in networks with 2 and 4 layers and helped deep ones, by
    validation accuracy. Where weights start at the identity, so that 8 layers do not hurt, it still
    costs several points there (``docs/smoothness.md``).

    On a regular connected graph this is batch normalisation, which subtracts the mean; on any other
    the mean is not the smooth part. A rough part of zero, such as that of an isolated node, stays
    zero, and its gradient is finite.

    Args:
        channels: number of channels :math:`d`
        num_components: not used, as all weights depend on the width alone
        layer_share: not used
        beta: where every :math:`\beta` starts; :math:`\gamma` starts at 1
        mix: where :math:`g` starts in :math:`\mathbf z + g (\hat{\mathbf z} - \mathbf z)`, which
            is learned: at 0 it is the plain layer, at 1 the normalised :math:`\hat{\mathbf z}`;
            without it the layer is normalised
        per_component: scale each component by its own size, as graphs of a batch need it
    """

    needs_initial, needs_components, in_eigenspace = False, False, False
    search_space: ClassVar[Mapping[str, tuple[Any, ...]]] = {}
    batch_options: ClassVar[Mapping[str, Any]] = {"per_component": True}
    first_layer: ClassVar[int] = 5

    def __init__(
        self,
        channels: int,
        num_components: int | None,
        layer_share: float,
        *,
        beta: float = 0.5,
        mix: float | None = None,
        per_component: bool = False,
    ) -> None:
        super().__init__()
        self.per_component = check_flag(per_component, "per_component")
        self._beta = check_number(beta, "beta")
        self._mix = None if mix is None else check_number(mix, "mix")
        self.gamma = torch.nn.Parameter(torch.empty(channels))
        self.beta = torch.nn.Parameter(torch.empty(channels))
        self.mix = None if mix is None else torch.nn.Parameter(torch.empty(()))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Bring all weights back to their first values."""
        torch.nn.init.ones_(self.gamma)
        torch.nn.init.constant_(self.beta, self._beta)
        if self.mix is not None and self._mix is not None:
            torch.nn.init.constant_(self.mix, self._mix)

    def forward(self, x: Tensor, graph: Graph) -> Tensor:
        """What is added to the features; ``(n, d) -> (n, d)``."""
        rough = x - graph.unpool(graph.pool(x))
        size = (self._mean_square(rough, graph) + EPSILON).sqrt()
        term = self.gamma * (rough / size) + self.beta * unit_eigenvectors(graph) - x
        return term if self.mix is None else self.mix * term

    def _mean_square(self, rough: Tensor, graph: Graph) -> Tensor:
        """Over the graph, shape ``(1, d)``, or the component of each node, shape ``(n, d)``."""
        if not self.per_component:
            return graph.mean(rough.square())
        each = graph.basis.reciprocal().unsqueeze(1)  # pooling undoes it and leaves sums
        count = graph.pool(each).clamp_min(1)
        return (graph.pool(each * rough.square()) / count).index_select(0, graph.component)


def unit_eigenvectors(graph: Graph) -> Tensor:
    r"""The sum of all :math:`\sqrt{n_i} \mathbf e_i`, of root mean square 1 in each component;
    shape: ``(n, 1)``.
    """
    return graph.unpool(graph.pool(graph.basis.reciprocal().unsqueeze(1)).sqrt())
