import os
from pathlib import Path

import pytest

from graphsct.paper.tables import build


def find(table, dataset, quantity):
    (row,) = (r for r in table.rows if (r.dataset, r.quantity) == (dataset, quantity))
    return row


def test_without_files_there_are_only_the_papers_counts(tmp_path, monkeypatch):
    monkeypatch.setenv("GRAPHSCT_CACHE", str(tmp_path))
    table = build("statistics", root=tmp_path)
    assert len(table.rows) == 50
    assert {row.ours for row in table.rows} == {None}
    assert find(table, "cora", "nodes").missing == "its files are missing"


def test_what_loads_stands_beside_the_paper(tmp_path):
    if "GRAPHSCT_DATA" not in os.environ:
        pytest.skip("GRAPHSCT_DATA is not set: the real data sets are not here")
    for name in ("Planetoid", "WebKB"):  # Physics takes long to load
        (tmp_path / name).symlink_to(Path(os.environ["GRAPHSCT_DATA"]) / name)
    table = build("statistics", root=tmp_path)
    nodes = find(table, "citeseer", "nodes")
    assert (nodes.paper, nodes.ours, nodes.right, nodes.mark) == (3727, 3327, 3327, "*")
    assert find(table, "cora", "edges").counts.startswith("the paper counts links")
    assert find(table, "texas", "split").ours == "87/59/37"
