"""The settings that the authors of GCNII and EGNN publish, and scores they are known to reach.

They need no search: a model with SCT and its base share the settings that others chose for the
base. They come from the scripts in both repositories and are the same at all depths, except for
EGNN's ``c_min`` and ``beta``. GCNII's authors leave the heterophilic graphs directed; ours are
symmetric.
"""

from __future__ import annotations

from typing import Any

from graphsct.paper.cell import Cell, CellSettings, Key
from graphsct.paper.keys import control_of
from graphsct.paper.paper import OTHER_SPLITS, find_table
from graphsct.training.config import ModelConfig, TrainConfig

__all__ = [
    "author_cells",
    "author_settings",
    "published_score",
    "published_settings",
    "repeated_score",
]

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
    ("gcnii", "physics_egnn"): _DEPTHS,
    ("egnn", "physics_egnn"): _DEPTHS,
}
#: Width, alpha, theta, dropout, and the weight decay of convolutions and of dense layers.
_GCNII = {
    "cora": (64, 0.1, 0.5, 0.6, 0.01, 5e-4),
    "citeseer": (256, 0.1, 0.6, 0.7, 0.01, 5e-4),
    "pubmed": (256, 0.1, 0.4, 0.5, 5e-4, 5e-4),
    "physics_egnn": (64, 0.1, 0.5, 0.8, 5e-4, 5e-4),
    "chameleon": (64, 0.2, 1.5, 0.5, 5e-4, 5e-4),
    "cornell": (64, 0.5, 1.0, 0.5, 1e-3, 1e-3),
    "texas": (64, 0.5, 1.5, 0.5, 1e-4, 1e-4),
    "wisconsin": (64, 0.5, 1.0, 0.5, 5e-4, 5e-4),
}
#: Means by validation loss in independent repetitions: ten runs in CYCUCAS/GCNIII, or, with 32
#: layers on Cora and PubMed, 100 runs in VITA-Group/Deep_GCN_Benchmarking.
_REPEATED = {
    ("cora", "gcnii", 64): 85.2,
    ("cora", "gcnii", 32): 85.3,
    ("citeseer", "gcnii", 32): 72.8,
    ("pubmed", "gcnii", 16): 79.8,
    ("pubmed", "gcnii", 32): 79.9,
}


def published_score(key: Key) -> float | None:
    """The test accuracy that the authors publish, in percent; the paper copied most of them."""
    if key[:2] == ("cora", "gcnii") and key.depth == 64:
        return 85.5  # the paper has no such depth
    for cell in (*find_table("depth").cells, *find_table("heterophilic").cells):
        name = OTHER_SPLITS.get(str(cell.dataset), cell.dataset)
        same = (name, cell.model, cell.sct) == (key.dataset, key.model, False)
        if same and cell.depth in (key.depth, None):
            return float(cell.value or 0)
    return None


def repeated_score(key: Key) -> float | None:
    """The test accuracy that others found when they ran the model again, in percent."""
    return _REPEATED.get((key.dataset, key.model, key.depth or 0))


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


def published_settings(key: Key) -> list[CellSettings]:
    """The published settings for a cell of the paper's tables, an empty list if there are none."""
    name = OTHER_SPLITS.get(key.dataset, key.dataset)
    depths = _CELLS.get((key.model, name))
    if depths is None:
        return []
    return [author_settings(key._replace(dataset=name, depth=key.depth or depths[0]))]


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
    deep, own = depth >= 32, dict(hidden=64, c_max=1.0, theta=0.5, offset=-10.0)
    if dataset == "cora":
        own |= dict(c_min=0.15 if deep else 0.2, beta=0.1, dropout=0.6)
        return own, 0.005, (0.0, 5e-4)
    if dataset == "pubmed":
        c_min = 0.11 if deep else 0.12
        own |= dict(c_min=c_min, beta=c_min, dropout=0.5)
        return own | dict(options={"output_dropout": 0.0}), 0.01, (0.0, 5e-4)
    own |= dict(c_min=0.12, beta=0.1, dropout=0.6, offset=-5.0)
    return own, 0.005, (0.0, 5e-5)
