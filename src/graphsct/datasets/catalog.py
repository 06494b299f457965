"""The data sets by name: their files and their expected contents."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files

from graphsct.errors import DataError

__all__ = ["CATALOG", "Entry", "Facts", "PaperRow", "find"]


@dataclass(frozen=True)
class Facts:
    """Counts of a data set. Edges are undirected, without self-loops; ``None`` is not known."""

    nodes: int
    edges: int
    features: int
    classes: int
    components: int | None = None
    homophily: float | None = None


@dataclass(frozen=True)
class PaperRow:
    """A row of the paper's statistics table, as printed.

    Args:
        counts: what the paper's number of edges counts
        misprints: the wrong numbers, by column
    """

    nodes: int
    edges: int
    features: int
    classes: int
    split: str
    counts: str
    misprints: tuple[str, ...] = ()


@dataclass(frozen=True)
class Entry:
    """One data set.

    Args:
        name: its name for :func:`graphsct.datasets.load`
        title: its common name
        source: PyTorch Geometric's class of these files; for Ogbn-arxiv ``OGB``
        key: the name that this class expects
        folder: folder of the raw files below the root
        raw: names of the raw files
        split: ``public``, ``ten``, ``twenty``, ``drawn`` from a seed, ``egnn``, as its
            code draws it, or ``time``
        facts: the expected counts
        paper: row in the paper's table, ``None`` if it has none
        elsewhere: other places below the root where a file with the same content may be
        metric: the usual score, ``accuracy`` or ``roc_auc``
        instead: a data set that can be downloaded instead of this one, which cannot
    """

    name: str
    title: str
    source: str
    key: str
    folder: str
    raw: tuple[str, ...]
    split: str
    facts: Facts
    paper: PaperRow | None = None
    elsewhere: dict[str, str] = field(default_factory=dict)
    metric: str = "accuracy"
    instead: str | None = None

    def sha256(self, file: str) -> str | None:
        """The right checksum of a raw file, ``None`` if none is published."""
        path = self.elsewhere.get(file, f"{self.folder}/{file}")
        return _checksums().get(path)


@cache
def _checksums() -> dict[str, str]:
    text = files("graphsct.datasets").joinpath("SHA256SUMS").read_text()
    return {path: digest for digest, path in (line.split() for line in text.splitlines())}


def find(name: str) -> Entry:
    """The entry of a data set by its name, in upper or lower case."""
    entry = CATALOG.get(name.lower()) if isinstance(name, str) else None
    if entry is None:
        near = difflib.get_close_matches(str(name).lower(), CATALOG, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise DataError(f"no data set is called {name!r}; {hint}there are {', '.join(CATALOG)}")
    return entry


_FEATURES = "out1_node_feature_label.txt"
_LINKS = "links as listed, repeats included"
_DIRECTED = "directed edges, no self-loops"
_ENTRIES = "directed edges and self-loops"
_UNDIRECTED = "undirected edges"
_TEN = "48/32/20%"


def _planetoid(key: str, title: str, facts: Facts, paper: PaperRow) -> Entry:
    parts = ("x", "tx", "allx", "y", "ty", "ally", "graph", "test.index")
    raw = tuple(f"ind.{key.lower()}.{part}" for part in parts)
    folder = f"Planetoid/{key}/raw"
    return Entry(key.lower(), title, "Planetoid", key, folder, raw, "public", facts, paper)


def _ten_splits(name: str, source: str, folder: str, facts: Facts, paper: PaperRow) -> Entry:
    splits = (f"{name}_split_0.6_0.2_{i}.npz" for i in range(10))
    raw = (_FEATURES, "out1_graph_edges.txt", *splits)
    return Entry(name, name.title(), source, name, folder, raw, "ten", facts, paper)


def _web(name: str, facts: Facts, paper: PaperRow) -> Entry:
    return _ten_splits(name, "WebKB", f"WebKB/{name}/raw", facts, paper)


def _wiki(name: str, facts: Facts, paper: PaperRow) -> Entry:
    folder = f"WikipediaNetwork/{name}/geom_gcn/raw"
    return _ten_splits(name, "WikipediaNetwork", folder, facts, paper)


def _heterophilous(
    name: str, title: str, facts: Facts, *, folder: str | None = None, metric: str = "accuracy"
) -> Entry:
    return Entry(
        name,
        title,
        "HeterophilousGraphDataset",
        name,
        folder or f"HeterophilousGraph/{name}/raw",
        (f"{name}.npz",),
        "ten",
        facts,
        metric=metric,
    )


def _drawn(name: str, title: str, source: str, key: str, file: str, facts: Facts) -> Entry:
    return Entry(name, title, source, key, f"{source}/{key}/raw", (file,), "drawn", facts)


_CORNELL = _web(
    "cornell",
    Facts(183, 277, 1703, 5, 1, 0.13),
    PaperRow(183, 295, 1703, 5, _TEN, _DIRECTED),
)

_PHYSICS = Entry(
    name="physics",
    title="Coauthor-Physics",
    source="Coauthor",
    key="Physics",
    folder="Coauthor/Physics/raw",
    raw=("ms_academic_phy.npz",),
    split="drawn",
    facts=Facts(34493, 247962, 8415, 5, 1, 0.93),
    paper=PaperRow(34493, 247962, 8415, 5, "100/150/34,243", _UNDIRECTED),
)

_ARXIV_COUNTS = ("raw/num-node-list.csv.gz", "raw/num-edge-list.csv.gz")
_ARXIV_SPLIT = tuple(f"split/time/{part}.csv.gz" for part in ("train", "valid", "test"))

_ENTRIES_IN_ORDER = (
    _planetoid(
        "Cora",
        "Cora",
        Facts(2708, 5278, 1433, 7, 78, 0.81),
        PaperRow(2708, 5429, 1433, 7, "140/500/1,000", _LINKS),
    ),
    _planetoid(
        "CiteSeer",
        "Citeseer",
        Facts(3327, 4552, 3703, 6, 438, 0.74),
        PaperRow(3727, 4732, 3703, 6, "120/500/1,000", _LINKS, misprints=("nodes",)),
    ),
    _planetoid(
        "PubMed",
        "PubMed",
        Facts(19717, 44324, 500, 3, 1, 0.80),
        PaperRow(19717, 44338, 500, 3, "60/500/1,000", _LINKS),
    ),
    _PHYSICS,
    Entry(
        name="arxiv",
        title="Ogbn-arxiv",
        source="OGB",
        key="arxiv",
        folder="ogbn_arxiv",
        raw=(
            "raw/edge.csv.gz",
            "raw/node-feat.csv.gz",
            "raw/node-label.csv.gz",
            *_ARXIV_COUNTS,
            *_ARXIV_SPLIT,
        ),
        split="time",
        # From the literature, not measured here. No checksum is known, so that the paper's row,
        # compared on loading, stands in for one.
        facts=Facts(169343, 1157799, 128, 40, 1, 0.65),
        paper=PaperRow(169343, 1166243, 128, 40, "90,941/29,799/48,603", _ENTRIES),
    ),
    _CORNELL,
    _web(
        "texas",
        Facts(183, 279, 1703, 5, 1, 0.09),
        PaperRow(181, 309, 1703, 5, _TEN, _DIRECTED, misprints=("nodes",)),
    ),
    _web(
        "wisconsin",
        Facts(251, 450, 1703, 5, 1, 0.19),
        PaperRow(251, 499, 1703, 5, _TEN, _DIRECTED),
    ),
    _wiki(
        "chameleon",
        Facts(2277, 31371, 2325, 5, 1, 0.23),
        PaperRow(2277, 36101, 2325, 5, _TEN, _ENTRIES),
    ),
    _wiki(
        "squirrel",
        Facts(5201, 198353, 2089, 5, 1, 0.22),
        PaperRow(5201, 217073, 2089, 5, _TEN, _ENTRIES),
    ),
    # The file served today for Cornell is Texas's. Older papers were measured on this mixture of
    # Cornell's edges and splits with Texas's features and labels.
    replace(
        _CORNELL,
        name="cornell_as_served",
        title="Cornell as served (features and labels are Texas's)",
        facts=replace(_CORNELL.facts, homophily=0.26),
        paper=None,
        elsewhere={_FEATURES: f"WebKB/texas/raw/{_FEATURES}"},
    ),
    # The split that EGNN's authors draw, on which GCNII and EGNN were published.
    replace(
        _PHYSICS,
        name="physics_egnn",
        title="Coauthor-Physics, EGNN's split",
        split="egnn",
        paper=None,
    ),
    _heterophilous(
        "minesweeper",
        "Minesweeper",
        Facts(10000, 39402, 7, 2, 1, 0.68),
        metric="roc_auc",
    ),
    _heterophilous(
        "chameleon_filtered",
        "Chameleon without duplicates",
        Facts(890, 8854, 2325, 5, 1, 0.24),
        folder="Filtered",
    ),
    _heterophilous(
        "squirrel_filtered",
        "Squirrel without duplicates",
        Facts(2223, 46998, 2089, 5, 1, 0.21),
        folder="Filtered",
    ),
    _heterophilous("actor", "Actor", Facts(7600, 26659, 932, 5, 1, 0.22), folder="Actor"),
    Entry(
        name="arxiv_graph",
        title="Ogbn-arxiv without features",
        source="OGB",
        key="arxiv",
        folder="ogbn_arxiv_graph",
        raw=(
            "raw/edge.csv.gz",
            "raw/node-label.csv.gz",
            "raw/node_year.csv.gz",
            *_ARXIV_COUNTS,
            *_ARXIV_SPLIT,
        ),
        split="time",
        facts=Facts(169343, 1157799, 0, 40, 1, 0.65),
        instead="arxiv",
    ),
    # Counts from the documentation of PyTorch Geometric and the papers, not measured here; those
    # of nodes, features and classes are compared on loading, because no checksum is known.
    _heterophilous("roman_empire", "Roman-empire", Facts(22662, 32927, 300, 18)),
    _heterophilous("amazon_ratings", "Amazon-ratings", Facts(24492, 93050, 300, 5)),
    _heterophilous("tolokers", "Tolokers", Facts(11758, 519000, 10, 2), metric="roc_auc"),
    _heterophilous("questions", "Questions", Facts(48921, 153540, 301, 2), metric="roc_auc"),
    _drawn(
        "amazon_photo",
        "Amazon-Photo",
        "Amazon",
        "Photo",
        "amazon_electronics_photo.npz",
        Facts(7650, 119081, 745, 8),
    ),
    _drawn(
        "amazon_computers",
        "Amazon-Computers",
        "Amazon",
        "Computers",
        "amazon_electronics_computers.npz",
        Facts(13752, 245861, 767, 10),
    ),
    _drawn(
        "coauthor_cs",
        "Coauthor-CS",
        "Coauthor",
        "CS",
        "ms_academic_cs.npz",
        Facts(18333, 81894, 6805, 15),
    ),
    Entry(
        name="wikics",
        title="WikiCS",
        source="WikiCS",
        key="wikics",
        folder="WikiCS/raw",
        raw=("data.json",),
        split="twenty",
        facts=Facts(11701, 216123, 300, 10),
    ),
)

CATALOG = {entry.name: entry for entry in _ENTRIES_IN_ORDER}
