import pytest

from graphsct.datasets import demo
from graphsct.training import bench
from graphsct.training.bench import Case, measure_data, open_case, summarize

CASES = [Case("demo", model, 2, 8) for model in ("gcn", "gcnii")]


@pytest.fixture(scope="module")
def data():
    return demo()


def test_rows_and_summary(data):
    rows = [row for case in CASES for row in measure_data(case, data, seconds=0.0, repeats=3)]
    assert [row["control"] for row in rows] == [None, "pooled", None, "gated"]
    for row in rows:
        theirs = min(row[f"pyg_{form}_ms"] for form in ("edge_index", "sorted", "sparse"))
        assert row["speedup"] == pytest.approx(theirs / row["ours_ms"])
        assert row["over_expert"] == pytest.approx(row["expert_ms"] / row["ours_ms"])
        assert row["over_limit"] == pytest.approx(row["ours_ms"] / row["limit_ms"])
    summary = summarize(rows)
    assert summary["cases"] == rows
    assert summary["speedup_min"] <= summary["speedup_geomean"]
    ratio = (rows[1]["overhead"] * rows[3]["overhead"]) ** 0.5
    assert summary["overhead_geomean"] == pytest.approx(ratio)
    assert summary["expert_min"] <= summary["expert_geomean"]
    assert summary["limit_geomean"] > 0


def test_some_peers_without_control(data):
    only = dict(peers=["expert"], controls=[False], seconds=0.0, repeats=3)
    (row,) = measure_data(CASES[0], data, **only)
    assert row["expert_ms"] > 0
    assert not {"speedup", "pyg_sparse_ms"} & row.keys()


def test_a_graph_without_features_gets_random_ones(data, monkeypatch):
    monkeypatch.setattr(bench, "GRAPHS", {"bare": 7})
    monkeypatch.setattr(bench, "load", lambda name, features: data.clone())
    first, second = (open_case(Case("bare", "gcn", 2, 8)).x for _ in range(2))
    assert first.shape == (300, 7)
    assert first.equal(second)
