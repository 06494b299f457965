import pytest
from board import board_cell
from scipy import stats

from graphsct.remedies.rivals import contests

NONE, GOOD = [0.70, 0.73, 0.72, 0.74], [0.80, 0.84, 0.82, 0.85]
POOR, SAME = [0.50, 0.52, 0.55, 0.51], [0.71, 0.72, 0.73, 0.73]
CELLS = [
    board_cell("residual", GOOD),
    board_cell("none", NONE),
    board_cell("pair_norm", POOR),
    board_cell("dropout", SAME),
    board_cell("batch_norm", GOOD[:2]),
    board_cell("residual", GOOD, 4),
    board_cell("dense", [], chosen=None, failure="the weights diverged"),
]


def test_runs_are_paired_and_corrected_together():
    found = contests(CELLS, "none")
    assert [each.cell.key.remedy for each in found] == ["residual", "pair_norm", "dropout"]
    assert [each.verdict for each in found] == ["better", "worse", "level"]
    p = [stats.ttest_rel(scores, NONE).pvalue for scores in (GOOD, POOR, SAME)]
    first, second = sorted(p[:2])
    assert [each.p for each in found[:2]] == pytest.approx(
        [3 * value if value == first else 2 * value for value in (p[0], p[1])]
    )
    assert second < p[2] == pytest.approx(found[2].p)


def test_a_smaller_error_is_better():
    cells = [board_cell(n, s, metric="mae") for n, s in (("none", NONE), ("residual", GOOD))]
    assert [each.verdict for each in contests(cells, "none")] == ["worse"]


def test_without_the_rival_there_is_nothing_to_test():
    assert contests(CELLS, "shallower") == []
