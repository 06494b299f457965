import pytest
from scipy import stats

from graphsct.paper.cell import Key
from graphsct.paper.tables import build

BASE, SCT = Key("cora", "gcn", None, 2), Key("cora", "gcn", "pooled", 2)
WITHOUT, WITH = [80.0, 81.0, 82.5], [81.0, 83.0, 82.0]


@pytest.fixture
def table(make, tmp_path):
    make(BASE, WITHOUT).write(tmp_path)
    make(SCT, WITH).write(tmp_path)
    return build("t-tests", cells=tmp_path)


def test_welchs_t_and_the_papers_formula(table):
    row = table.rows[0]
    expected = stats.ttest_ind(WITH, WITHOUT, equal_var=False)
    assert (row.cell, row.paper, row.n) == (SCT.name, 13.77, 3)
    assert row.ours == pytest.approx(expected.statistic)
    assert row.gain.p == pytest.approx(expected.pvalue)
    # With as many runs in both, the two differ in the number of runs only.
    assert row.t_of_100 == pytest.approx(expected.statistic * (100 / 3) ** 0.5)


def test_scores_that_nobody_has_run_say_so(table):
    assert len(table.rows) == 36
    assert {row.missing for row in table.rows[1:]} == {"not run yet"}


def test_signs_that_contradict_the_main_table_are_marked(table):
    marked = {(row.dataset, row.model, row.depth) for row in table.rows if row.mark}
    assert marked == {
        ("cora", "egnn", 16),
        ("citeseer", "gcn", 2),
        ("citeseer", "gcnii", 16),
        ("pubmed", "gcn", 2),
    }
