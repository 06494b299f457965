import pickle
import re

import pytest

from graphsct import DataError
from graphsct.datasets import CATALOG
from graphsct.datasets.catalog import find

PAPER = ["cora", "citeseer", "pubmed", "physics", "arxiv"]
PAPER += ["cornell", "texas", "wisconsin", "chameleon", "squirrel"]


def test_the_ten_sets_of_the_paper_come_first():
    assert list(CATALOG)[:10] == PAPER
    assert [name for name, entry in CATALOG.items() if entry.paper] == PAPER


# Sets of which no file was here to take a checksum of.
UNSEEN = {"arxiv", "roman_empire", "amazon_ratings", "tolokers", "questions"}
UNSEEN |= {"amazon_photo", "amazon_computers", "coauthor_cs", "wikics"}


@pytest.mark.parametrize("entry", CATALOG.values(), ids=lambda entry: entry.name)
def test_every_raw_file_that_was_seen_has_a_checksum(entry):
    for file in entry.raw:
        digest = entry.sha256(file)
        assert digest is None if entry.name in UNSEEN else re.fullmatch("[0-9a-f]{64}", digest)


def test_the_benchmark_of_heterophily_scores_two_classes_by_roc_auc():
    scored = {name for name, entry in CATALOG.items() if entry.metric == "roc_auc"}
    assert scored == {"minesweeper", "tolokers", "questions"}
    assert all(CATALOG[name].facts.classes == 2 for name in scored)


def test_only_the_misprints_of_the_papers_table_differ():
    for entry in CATALOG.values():
        if entry.paper is None:
            continue
        for column in ("nodes", "features", "classes"):
            agrees = getattr(entry.paper, column) == getattr(entry.facts, column)
            assert agrees != (column in entry.paper.misprints)
    assert [e.name for e in CATALOG.values() if e.paper and e.paper.misprints] == [
        "citeseer",
        "texas",
    ]


@pytest.mark.parametrize("name", ["cora", "citeseer", "pubmed"])
def test_the_paper_counts_the_links_as_listed(name, real):
    entry = CATALOG[name]
    with (real / entry.folder / entry.raw[6]).open("rb") as handle:
        links = pickle.load(handle, encoding="latin1")
    assert sum(map(len, links.values())) == 2 * entry.paper.edges


def test_names_in_any_case_and_the_nearest_right_one():
    assert find("PubMed") is CATALOG["pubmed"]
    with pytest.raises(DataError, match="did you mean 'chameleon'"):
        find("camelon")
    with pytest.raises(DataError, match=r"no data set is called 'zzz'; there are cora, citeseer"):
        find("zzz")
    with pytest.raises(DataError, match="None"):
        find(None)
