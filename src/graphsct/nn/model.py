r"""The base of all models: a linear layer, convolutions of one width and a linear layer."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, ClassVar, Literal, TypeVar, overload

import torch
from torch import Tensor

from graphsct.errors import ModelError
from graphsct.graph import Graph
from graphsct.graph.cache import as_graph, graph_of
from graphsct.names import nearest, pick
from graphsct.nn.activations import SReLU, make_activation
from graphsct.nn.blueprint import DEFAULTS, MODELS, Space, call_constructor, num_inputs, num_outputs
from graphsct.nn.checks import check_depth, check_rate, check_size
from graphsct.nn.connections import make_connections
from graphsct.nn.controls import CONTROLS, SmoothnessControl
from graphsct.nn.dropout import Kind, drop_edges
from graphsct.nn.drops import drop_messages, drop_nodes
from graphsct.nn.feature_losses import add_feature_loss
from graphsct.nn.jumping import Jumping
from graphsct.nn.linear import Linear, dropout
from graphsct.nn.norms import make_norm
from graphsct.nn.readout import Readout

__all__ = ["Model", "layer_numbers", "register"]

_SIZES = ("depth", "hidden")


class Model(torch.nn.Module):
    r"""The base of all models: everything but the convolution.

    .. math::
        \mathbf H^0 = \sigma(\mathbf X \mathbf W_{in} + \mathbf b_{in}), \qquad
        \mathbf H^l = \sigma(\operatorname{conv}_l(\mathbf H^{l-1}, \mathbf H^0)), \qquad
        \mathbf Y = \mathbf H^L \mathbf W_{out} + \mathbf b_{out}

    with dropout before every linear layer and convolution, and a norm before every activation. With
    ``residual``, :math:`\mathbf H^{l-1}` is added to :math:`\mathbf H^l`, or layers are connected
    in another way; with ``jumping``, the output layer sees the features of all layers, and with
    ``readout`` one row for each graph; ``edge_dropout``, ``node_dropout`` and ``message_dropout``
    leave out edges, nodes and messages in training, and ``dirichlet_loss`` and ``rank_loss`` add a
    :class:`~graphsct.nn.feature_losses.FeatureLoss` to the :meth:`penalty`.

    A subclass that is decorated with :func:`register` can be trained, searched and diagnosed by its
    ``name``. Its constructor takes ``in_channels``, ``hidden_channels``, ``out_channels`` and
    ``num_layers``, then its own options by keyword; with ``**options`` it takes those of its base
    class as well.

    Args:
        in_channels: number of features
        hidden_channels: number of channels :math:`d`
        out_channels: number of classes or other outputs
        convs: the convolutions, called by :meth:`convolve`
        activation: a name in :data:`graphsct.nn.ACTIVATIONS`, or a module such as
            ``torch.nn.LeakyReLU(0.2)``
        dropout: rate before the two linear layers
        conv_dropout: rate before every convolution
        output_dropout: rate before the last linear layer; defaults to ``dropout``
        norm: a norm before every activation, such as ``BatchNorm``, by its name in
            ``graphsct.nn.norms``, or none
        norm_options: options of the norm, such as ``{"scale": 10.0}`` for ``PairNorm``
        residual: add the input of each layer to its output; ``linear`` adds a linear map of it
            before the norm instead; ``initial``, ``dense`` and ``gradient_gating`` are the
            connections of ``graphsct.nn.connections``
        residual_options: options of such a connection, such as ``{"share": 0.2}`` for ``initial``
        jumping: ``cat`` or ``max``: the output layer sees the features of all layers
        edge_dropout: rate at which edges are left out in training (DropEdge)
        node_dropout: rate at which nodes are left out before every convolution (DropNode)
        message_dropout: rate at which entries of messages are left out (DropMessage)
        readout: ``mean``, ``sum`` or ``max``: scores of graphs instead of nodes
        dirichlet_loss: weight of a penalty if the Dirichlet energy falls from the first to the last
            convolution
        rank_loss: weight of a penalty if the effective rank falls
    """

    #: The name in settings and commands, such as ``gcn``.
    name: ClassVar[str]
    #: The name in tables and figures, such as ``GCN``.
    title: ClassVar[str]
    #: The control that suits the model best, by name.
    default_control: ClassVar[str] = "gated"
    #: Good settings, by which a search begins; a setting left out takes its first choice.
    known_settings: ClassVar[tuple[Mapping[str, Any], ...]] = ({},)
    # Attributes of a model only if they are set, so that runs of earlier versions can be resumed.
    output_dropout: float | None = None
    node_dropout: float = 0.0
    message_dropout: float = 0.0
    dirichlet_loss: float = 0.0
    rank_loss: float = 0.0

    @classmethod
    def search_space(cls, control: str | None) -> Space:
        """The choices of this model, which a search adds to those that all models share.

        A name that all models share, such as ``activation`` or ``hidden``, gets new choices.

        Args:
            control: name of the control, or none
        """
        return {}

    @classmethod
    def from_choices(cls, chosen: Mapping[str, Any]) -> dict[str, Any]:
        """The constructor's options for the choices of a search, where the names differ."""
        return dict(chosen)

    @classmethod
    def to_choices(cls, options: Mapping[str, Any]) -> dict[str, Any]:
        """The inverse of :meth:`from_choices`."""
        return dict(options)

    @classmethod
    def options(cls) -> tuple[str, ...]:
        """Names of the options that the constructor takes besides the four sizes."""
        own: Any = cls  # hashable, which mypy doubts
        return _options(own)

    @classmethod
    def takes(cls, setting: str) -> bool:
        """Whether there is such an option, or it is the depth or the width."""
        return setting in (*_SIZES, *cls.options())

    @classmethod
    def defaults(cls) -> Mapping[str, Any]:
        """The depth, width and dropout of a model if they are left out."""
        return {name: value if cls.takes(name) else None for name, value in DEFAULTS.items()}

    @classmethod
    def searched(cls) -> tuple[str, ...]:
        """The settings that models share, of which a search tries several."""
        own = [name for name in ("dropout", "activation") if name in cls.options()]
        return ("conv_weight_decay", "dense_weight_decay", *_SIZES, *own)

    @classmethod
    def build(
        cls,
        data: Any,
        *,
        hidden: int | None,
        depth: int | None,
        control: str | None,
        options: Mapping[str, Any],
    ) -> torch.nn.Module:
        """A new model for some data; see :class:`~graphsct.nn.blueprint.Blueprint`."""
        given = dict(options)
        if control is not None:
            given["control"] = control
            if pick(CONTROLS, control, "control").needs_components:
                given["num_components"] = graph_of(data).num_components
        make: Any = cls
        sizes = num_inputs(data), hidden, num_outputs(data), depth
        model: torch.nn.Module = call_constructor(make, cls.__name__, *sizes, **given)
        return model

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        convs: Iterable[torch.nn.Module],
        *,
        activation: str | torch.nn.Module = "relu",
        dropout: float = 0.0,
        conv_dropout: float = 0.0,
        output_dropout: float | None = None,
        norm: str | torch.nn.Module | None = None,
        norm_options: Mapping[str, Any] | None = None,
        residual: bool | str = False,
        residual_options: Mapping[str, Any] | None = None,
        jumping: str | None = None,
        edge_dropout: float = 0.0,
        node_dropout: float = 0.0,
        message_dropout: float = 0.0,
        readout: str | None = None,
        dirichlet_loss: float = 0.0,
        rank_loss: float = 0.0,
        **unknown: Any,
    ) -> None:
        super().__init__()
        for name in unknown:
            own = type(self)
            raise ModelError(f"{own.__name__} has no option {name!r}{nearest(name, own.options())}")
        self.in_channels = check_size(in_channels, "in_channels")
        self.hidden_channels = hidden_channels
        self.out_channels = check_size(out_channels, "out_channels")
        self.dropout = check_rate(dropout, "dropout")
        self.conv_dropout = check_rate(conv_dropout, "conv_dropout")
        if output_dropout is not None:
            self.output_dropout = check_rate(output_dropout, "output_dropout")
        self.input = Linear(in_channels, hidden_channels)
        self.convs = torch.nn.ModuleList(convs)
        self.residual = residual
        self.connections = torch.nn.ModuleList(
            make_connections(residual, hidden_channels, self.num_layers, residual_options)
        )
        self.skips = torch.nn.ModuleList(
            torch.nn.Linear(hidden_channels, hidden_channels)
            for _ in range(self.num_layers if residual == "linear" else 0)
        )
        self.edge_dropout = check_rate(edge_dropout, "edge_dropout")
        if check_rate(node_dropout, "node_dropout"):
            self.node_dropout = node_dropout
        if check_rate(message_dropout, "message_dropout"):
            self.message_dropout = message_dropout
        self.jumping = None if jumping is None else Jumping(jumping)
        width = hidden_channels
        if self.jumping is not None:
            width = self.jumping.channels(hidden_channels, self.num_layers)
        self.readout = None if readout is None else Readout(readout)
        self.output = torch.nn.Linear(width, out_channels)
        self.norms = torch.nn.ModuleList(
            make_norm(norm, hidden_channels, norm_options) for _ in range(self.num_layers + 1)
        )
        self.activations = torch.nn.ModuleList(
            make_activation(activation, hidden_channels) for _ in range(self.num_layers + 1)
        )
        if isinstance(self.activations[0], SReLU):  # the energetic network shifts after convolving
            self.activations[0] = torch.nn.ReLU()
        for layer, conv in enumerate(self.convs, 1):
            control = getattr(conv, "control", None)
            if isinstance(control, SmoothnessControl):
                control.before(self.activations[layer])
                if layer < control.first:
                    setattr(conv, "control", None)  # noqa: B010, a Module to mypy
        for name, weight in (("dirichlet_loss", dirichlet_loss), ("rank_loss", rank_loss)):
            if weight != 0:
                add_feature_loss(self, self.convs, name, weight)

    @property
    def num_layers(self) -> int:
        """Number of convolutions."""
        return len(self.convs)

    @property
    def _needs_initial(self) -> bool:
        controls = [getattr(conv, "control", None) for conv in self.convs]
        return any(control is not None and control.needs_initial for control in controls)

    def reset_parameters(self) -> None:
        """Bring all weights back to their first values, drawn anew where they are random."""
        parts = (self.input, self.output, *self.convs, *self.skips, *self.connections)
        for module in (*parts, *self.norms, *self.activations):
            if hasattr(module, "reset_parameters"):
                module.reset_parameters()

    @overload
    def forward(
        self,
        x: Tensor,
        edge_index: Graph | Tensor,
        edge_weight: Tensor | None = None,
        *,
        batch: Tensor | None = None,
        return_layers: Literal[False] = False,
    ) -> Tensor: ...

    @overload
    def forward(
        self,
        x: Tensor,
        edge_index: Graph | Tensor,
        edge_weight: Tensor | None = None,
        *,
        batch: Tensor | None = None,
        return_layers: Literal[True],
    ) -> tuple[Tensor, list[Tensor]]: ...

    def forward(
        self,
        x: Tensor,
        edge_index: Graph | Tensor,
        edge_weight: Tensor | None = None,
        *,
        batch: Tensor | None = None,
        return_layers: bool = False,
    ) -> Tensor | tuple[Tensor, list[Tensor]]:
        r"""Scores of all nodes, or of all graphs if there is a ``readout``.

        Args:
            x: features, dense or sparse CSR; shape: ``(n, in_channels)``
            edge_index: a graph, or edges; shape: ``(2, num_edges)``
            edge_weight: weights of the edges; shape: ``(num_edges,)``
            batch: the graph of each node, for the readout; one graph if left out; shape: ``(n,)``
            return_layers: also return :math:`\mathbf H^0, \ldots, \mathbf H^L`

        Returns:
            Scores, with ``return_layers`` followed by ``num_layers + 1`` hidden features of
            shape ``(n, hidden_channels)``; shape: ``(n, out_channels)``, or ``(num_graphs,
            out_channels)``
        """
        graph = drop_edges(as_graph(edge_index, edge_weight, x), self.edge_dropout, self.training)
        noisy = drop_messages(graph, self.message_dropout, self.training)
        x = self.input(dropout(x, self.dropout, self.training))
        x = x_0 = self.activations[0](self.norms[0](x))
        pooled_0 = graph.pool(x_0) if self._needs_initial else None
        layers: list[Tensor] = [x]
        for number, conv in enumerate(self.convs):
            dropped = dropout(x, self.conv_dropout, self.training)
            dropped = drop_nodes(dropped, self.node_dropout, self.training)
            out = self.convolve(conv, dropped, x_0, noisy, pooled_0)
            if self.skips:
                out = out + self.skips[number](dropped)
            out = self.activations[number + 1](self.norms[number + 1](out))
            if self.connections:
                out = self.connections[number](out, layers, graph)
            x = out + x if self.residual is True else out
            layers.append(x)
        if self.jumping is not None:
            x = self.jumping(layers)
        kind: Kind = "output"
        if self.readout is not None:
            x, kind = self.readout(x, batch), "nodes"
        rate = self.dropout if self.output_dropout is None else self.output_dropout
        scores: Tensor = self.output(dropout(x, rate, self.training, kind=kind))
        return (scores, layers) if return_layers else scores

    def convolve(
        self, conv: Any, x: Tensor, x_0: Tensor, graph: Graph, pooled_0: Tensor | None
    ) -> Any:
        """Apply one convolution; override it for convolutions that take other arguments.

        Args:
            conv: the convolution
            x: features after dropout; shape: ``(n, d)``
            x_0: initial features; shape: ``(n, d)``
            graph: the graph
            pooled_0: ``graph.pool(x_0)`` if a control needs it; shape: ``(m, d)``
        """
        return conv(x, x_0, graph, pooled_0=pooled_0)

    def penalty(self) -> Tensor:
        """The term that training adds to the loss; zero for most models."""
        return self.output.weight.new_zeros(())

    def param_groups(
        self,
        *,
        conv_weight_decay: float = 0.0,
        dense_weight_decay: float = 0.0,
        offset_weight_decay: float = 0.0,
    ) -> list[dict[str, Any]]:
        """Parameters for an optimizer, with weight decay for convolutions and dense layers apart.

        Controls and connections between layers go with the convolutions, norms with the dense
        layers; the offsets of activations have their own.

        Example:
            >>> from graphsct.nn import GCN
            >>> model = GCN(5, 8, 3, num_layers=2)
            >>> groups = model.param_groups(conv_weight_decay=0.01, dense_weight_decay=5e-4)
            >>> optimizer = torch.optim.Adam(groups, lr=0.01)
        """
        own = (self.convs, self.skips, self.connections)
        conv = [weight for part in own for weight in part.parameters()]
        dense = [*self.input.parameters(), *self.output.parameters(), *self.norms.parameters()]
        offsets = [*self.activations.parameters()]
        groups = [
            dict(name="conv", params=conv, weight_decay=conv_weight_decay),
            dict(name="dense", params=dense, weight_decay=dense_weight_decay),
            dict(name="offset", params=offsets, weight_decay=offset_weight_decay),
        ]
        return [group for group in groups if group["params"]]


def layer_numbers(num_layers: Any, hidden_channels: Any) -> range:
    """The numbers of the layers, from 1."""
    check_size(hidden_channels, "hidden_channels")
    return range(1, check_depth(num_layers, "num_layers") + 1)


M = TypeVar("M", bound=type[Model])


def register(model: M) -> M:
    """Register a model by its name; a class decorator.

    Example:
        >>> from graphsct.nn import GCN
        >>> @register
        ... class Wide(GCN):
        ...     name, title = "wide", "Wide GCN"
        >>> MODELS.pop("wide").title
        'Wide GCN'
    """
    if not isinstance(model, type):
        raise ModelError(
            f"{model!r} is no class of models: register a subclass of graphsct.nn.Model"
        )
    for attribute in ("name", "title"):
        if not isinstance(vars(model).get(attribute), str):
            raise ModelError(f"{model.__name__} has no {attribute}: add {attribute} = '...' to it")
    pick(CONTROLS, model.default_control, "control")
    sizes = list(inspect.signature(model).parameters)[:4]
    expected = ["in_channels", "hidden_channels", "out_channels", "num_layers"]
    if sizes != expected:
        raise ModelError(
            f"the first arguments of {model.__name__} are {', '.join(sizes)}, expected "
            f"{', '.join(expected)}"
        )
    owner: Any = MODELS.get(model.name, model)
    # A file that is executed again, perhaps under another module name, defines the class anew.
    if (_file(owner), owner.__qualname__) != (_file(model), model.__qualname__):
        raise ModelError(
            f"the name {model.name!r} belongs to {owner.__qualname__} of {owner.__module__}: give "
            f"{model.__qualname__} another name"
        )
    MODELS[model.name] = model
    return model


def _file(model: type[Model]) -> str | None:
    found = getattr(sys.modules.get(model.__module__), "__file__", None)
    return None if found is None else os.path.realpath(found)


@cache
def _options(kind: type[Model]) -> tuple[str, ...]:
    names: list[str] = []
    for base in (base for base in kind.__mro__ if "__init__" in vars(base)):
        taken = list(inspect.signature(vars(base)["__init__"]).parameters.values())
        names += [p.name for p in taken[5:] if p.kind is not p.VAR_KEYWORD]
        if base is Model or all(p.kind is not p.VAR_KEYWORD for p in taken):
            break
    return tuple(dict.fromkeys(names))
