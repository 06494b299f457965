"""Remedies that normalise the features of each layer."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch

from graphsct.nn.model import Model
from graphsct.nn.norms import make_norm
from graphsct.remedies.convolutions import NormalizedConv, change_convolutions
from graphsct.remedies.remedy import Number, Remedy

__all__ = ["NORMALIZATIONS"]


def _normalize(
    model: torch.nn.Module, data: Any, value: Any, *, norm: str, number: str | None, **options: Any
) -> None:
    """Give every layer a norm, which replaces any that it has."""
    if number is not None:
        options[number] = value
    if isinstance(model, Model):
        for place in range(len(model.norms)):
            made = make_norm(norm, model.hidden_channels, options)
            model.norms[place] = made.to(model.output.weight)
        return
    change_convolutions(
        model, data, lambda conv, width: NormalizedConv(conv, make_norm(norm, width, options))
    )


def _norm(
    name: str,
    title: str,
    source: str,
    link: str,
    claim: str,
    norm: str,
    number: Number | None = None,
    **options: Any,
) -> Remedy:
    """A remedy that is a norm."""
    shown = {**options, **({} if number is None else {number.name: number.choices[0]})}
    line = f'GCN(..., norm="{norm}"' + (f", norm_options={shown})" if shown else ")")
    change = partial(
        _normalize, norm=norm, number=None if number is None else number.name, **options
    )
    settings = {"norm": norm, **({"norm_options": options} if options else {})}
    return Remedy(name, title, "norms", source, link, claim, line, settings, number, change=change)


_PAIR = ("Zhao and Akoglu, 2020", "https://arxiv.org/abs/1909.12223")
_SCALE = Number("norm_options.scale", (1.0, 10.0))

NORMALIZATIONS = (
    _norm(
        "batch_norm",
        "batch norm",
        "Ioffe and Szegedy, 2015",
        "https://arxiv.org/abs/1502.03167",
        "Channels keep mean zero and variance one over the nodes, so they cannot become constant.",
        "BatchNorm",
    ),
    _norm(
        "layer_norm",
        "layer norm",
        "Ba et al., 2016",
        "https://arxiv.org/abs/1607.06450",
        "Features keep their size in every layer.",
        "LayerNorm",
    ),
    _norm(
        "pair_norm",
        "PairNorm",
        *_PAIR,
        "The total distance between all pairs of nodes stays the same in every layer.",
        "PairNorm",
        _SCALE,
    ),
    _norm(
        "pair_norm_si",
        "PairNorm-SI",
        *_PAIR,
        "Nodes are centered and then all put at the same distance from the center.",
        "PairNorm",
        _SCALE,
        scale_individually=True,
    ),
    _norm(
        "pair_norm_scs",
        "PairNorm-SCS",
        *_PAIR,
        "Nodes get the same length, and are centered at the same time.",
        "PairNormSCS",
        _SCALE,
    ),
    _norm(
        "mean_subtraction",
        "mean subtraction",
        "Yang et al., 2020",
        "https://arxiv.org/abs/2003.13663",
        "Without their mean, features approach the second eigenvector, which separates clusters.",
        "MeanSubtractionNorm",
    ),
    _norm(
        "graph_norm",
        "GraphNorm",
        "Cai et al., 2021",
        "https://arxiv.org/abs/2009.03294",
        "Batch norm that subtracts a learnable share of the mean keeps the information in it.",
        "GraphNorm",
    ),
    _norm(
        "group_norm",
        "differentiable group norm",
        "Zhou et al., 2020",
        "https://arxiv.org/abs/2006.06972",
        "Nodes of one group become alike, and groups stay apart.",
        "DiffGroupNorm",
        Number("norm_options.lamda", (0.01, 0.001)),
        groups=10,
    ),
    _norm(
        "node_norm",
        "NodeNorm",
        "Zhou et al., 2021",
        "https://arxiv.org/abs/2006.07107",
        "Deep networks fail as the variance of each node's features grows, so it is scaled down.",
        "NodeNorm",
        Number("norm_options.power", (2.0, 1.0)),
    ),
    _norm(
        "contra_norm",
        "ContraNorm",
        "Guo et al., 2023",
        "https://arxiv.org/abs/2303.06562",
        "Nodes move away from those that they resemble, as in contrastive learning.",
        "ContraNorm",
        Number("norm_options.scale", (0.5, 1.0)),
    ),
)
