"""The settings that the authors of GCNII and EGNN publish, and scores they are known to reach.

With them no search can be blamed: a model with SCT and its base share what others chose for the
base. They are those of the scripts in both repositories, and hold for all depths. GCNII's authors
leave the heterophilic graphs directed; ours are symmetric.
"""

from __future__ import annotations

from typing import Any

from graphsct.paper.cell import Cell, CellSettings, Key
from graphsct.paper.keys import control_of
from graphsct.training.config import ModelConfig, TrainConfig

__all__ = ["author_cells", "author_settings", "published_score"]

_DEPTHS = (2, 4, 16, 32)
#: Depths for each model and data set, the cheap ones first.
_CELLS = {
    ("gcnii", "cornell"): (16,),
    ("gcnii", "texas"): (32,),
    ("gcnii", "wisconsin"): (16,),
    ("gcnii", "chameleon"): (8,),
    ("gcnii", "cora"): (*_DEPTHS, 64),
    ("egnn", "cora"): _DEPTHS,
    ("gcnii", "citeseer"): _DEPTHS,
    ("egnn", "pubmed"): _DEPTHS,
    ("gcnii", "pubmed"): _DEPTHS,
    ("gcnii", "physics"): _DEPTHS,
    ("egnn", "physics"): _DEPTHS,
}
#: Width, alpha, theta, dropout, and the weight decay of convolutions and of dense layers.
_GCNII = {
    "cora": (64, 0.1, 0.5, 0.6, 0.01, 5e-4),
    "citeseer": (256, 0.1, 0.6, 0.7, 0.01, 5e-4),
    "pubmed": (256, 0.1, 0.4, 0.5, 5e-4, 5e-4),
    "physics": (64, 0.1, 0.5, 0.8, 5e-4, 5e-4),
    "chameleon": (64, 0.2, 1.5, 0.5, 5e-4, 5e-4),
    "cornell": (64, 0.5, 1.0, 0.5, 1e-3, 1e-3),
    "texas": (64, 0.5, 1.5, 0.5, 1e-4, 1e-4),
    "wisconsin": (64, 0.5, 1.0, 0.5, 5e-4, 5e-4),
}
#: Means of ten runs by validation loss, in an independent repetition (CYCUCAS/GCNIII).
_PUBLISHED = {
    ("cora", "gcnii", 64): 85.2,
    ("citeseer", "gcnii", 32): 72.8,
    ("pubmed", "gcnii", 16): 79.8,
}


def published_score(key: Key) -> float | None:
    """The test accuracy that others reach without SCT, in percent, if it is known."""
    return _PUBLISHED.get((key.dataset, key.model, key.depth or 0))


def author_cells() -> dict[Key, Cell]:
    """All cells with published settings, without results: the base, with SCT, and with a bias.

    Example:
        >>> [key.name for key in list(author_cells())[:3]]
        ['cornell-gcnii-none-16', 'cornell-gcnii-gated-16', 'cornell-gcnii-bias-16']
    """
    keys = [
        Key(dataset, model, control, depth, "srelu" if model == "egnn" else None)
        for (model, dataset), depths in _CELLS.items()
        for depth in depths
        for control in (None, control_of(model), "bias")
    ]
    return {key: Cell(key, author_settings(key)) for key in keys}


def author_settings(key: Key) -> CellSettings:
    """The published settings of a cell."""
    own, rate, decays = (_gcnii if key.model == "gcnii" else _egnn)(key.dataset, key.depth or 0)
    return CellSettings(
        ModelConfig(key.model, key.control, key.depth, activation=key.activation, **own),
        TrainConfig(
            select="val_loss",
            learning_rate=rate,
            conv_weight_decay=decays[0],
            dense_weight_decay=decays[1],
            offset_weight_decay=1e-4 if key.model == "egnn" else 0.0,
        ),
        normalize=True,
    )


def _gcnii(dataset: str, depth: int) -> tuple[dict[str, Any], float, tuple[float, float]]:
    hidden, alpha, theta, dropout, *decays = _GCNII[dataset]
    own = dict(hidden=int(hidden), alpha=alpha, theta=theta, dropout=dropout, conv_dropout=dropout)
    return own, 0.01, (decays[0], decays[1])


def _egnn(dataset: str, depth: int) -> tuple[dict[str, Any], float, tuple[float, float]]:
    deep = depth >= 32
    if dataset == "cora":
        own = dict(c_min=0.15 if deep else 0.2, beta=0.1, dropout=0.6, offset=-10.0)
        return own | dict(hidden=64), 0.005, (0.0, 5e-4)
    if dataset == "pubmed":
        c_min = 0.11 if deep else 0.12
        own = dict(c_min=c_min, beta=c_min, dropout=0.5, offset=-10.0)
        return own | dict(hidden=64, options={"output_dropout": 0.0}), 0.01, (0.0, 5e-4)
    own = dict(c_min=0.12, beta=0.1, dropout=0.6, offset=-5.0)
    return own | dict(hidden=64), 0.005, (0.0, 5e-5)
