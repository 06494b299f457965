import pytest

from graphsct.paper.report.findings import agreement, breakdown, effect, missing


def test_effect_counts_pairs(tables):
    found = effect(tables["depth"].rows)
    assert (found.printed, found.pairs, found.fair) == (60, 3, 3)
    assert (found.helps, found.unclear, found.hurts) == (1, 1, 1)
    assert (found.above, found.below) == (1, 1)
    assert found.mean == pytest.approx((5.0 - 10.0 + 0.1) / 3)
    assert found.paper_mean == pytest.approx((1.8 + 6.5 + 1.7) / 3)
    assert (found.best.depth, found.worst.depth) == (2, 16)


def test_effect_of_no_runs(tables):
    rows = [row for row in tables["depth"].rows if row.dataset == "pubmed"]
    found = effect(rows)
    assert (found.printed, found.pairs, found.mean, found.best) == (12, 0, None, None)


def test_agreement_counts_cells(tables):
    with_sct = agreement(row for row in tables["depth"].rows if row.sct)
    assert (with_sct.cells, with_sct.above, with_sct.agrees, with_sct.below) == (3, 1, 1, 1)
    assert (with_sct.means_below, with_sct.cells) == (2, 3)
    assert agreement([]).mean is None


def test_missing_counts_each_cell_once(tables):
    everything = {row.cell for t in tables.values() for row in t.rows if hasattr(row, "cell")}
    found = missing(tables)
    assert len(found) == 2
    assert sum(found.values()) == len(everything) - 8


def test_breakdown_has_groups_with_runs(tables):
    rows = breakdown(tables).rows
    assert [(row.table, row.model, row.depth) for row in rows] == [
        ("depth", "GCN", 2),
        ("depth", "GCN", 16),
        ("depth", "GCNII", 4),
        ("heterophilic", "GCN", None),
    ]
    assert [row.effect.helps for row in rows] == [1, 0, 0, 1]
