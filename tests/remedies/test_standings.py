from dataclasses import replace

import pytest
from board import board_cell
from scipy import stats

from graphsct.remedies.standings import (
    NARROW,
    best_table,
    boards,
    cost_table,
    score_table,
)

GOOD, FAIR, POOR = [0.80, 0.84, 0.82, 0.85], [0.70, 0.73, 0.72, 0.74], [0.71, 0.72, 0.73, 0.70]
CELLS = [
    board_cell("none", FAIR),
    board_cell("residual", GOOD),
    board_cell("pair_norm", POOR),
    board_cell("none", FAIR, 4),
    board_cell("pair_norm", POOR, 4),
    board_cell("residual", [], 4, chosen=None, failure="the weights diverged"),
    board_cell("none", GOOD, 2, data="texas"),
]


def texts(table, column):
    place = [each.heading for each in table.columns].index(column)
    return [row[place].text for row in table.fields()]


def test_the_best_is_tested_against_the_second_with_holms_correction():
    table = best_table(CELLS)
    first, second, alone = table.rows
    assert (first.best, first.second) == ("residual", "none")
    assert (second.best, second.second) == ("none", "pair_norm")
    assert (alone.best, alone.second, alone.p) == ("none", None, None)
    p = [stats.ttest_rel(*pair).pvalue for pair in ((GOOD, FAIR), (FAIR, POOR))]
    assert [first.p, second.p] == pytest.approx([2 * p[0], p[1]])
    assert texts(table, "verdict") == ["differs", "no difference shown", "not tested"]
    assert first.difference.mean == pytest.approx(10.5)
    assert first.score == "82.8 ± 2.2"


def test_what_was_not_run_is_counted():
    rows = best_table(CELLS).rows
    assert "batch_norm" in rows[0].not_run
    assert "glorot" not in rows[0].not_run  # it is how GCN starts anyway
    assert len(rows[2].not_run) == len(rows[0].not_run) + 2
    assert "residual" in rows[1].not_run


def test_scores_and_costs_by_depth():
    own = boards(CELLS)["cora", "gcn"]
    table = score_table(own, "val_score")
    found = dict(zip(texts(table, "remedy"), texts(table, "4 layers"), strict=True))
    assert found["none"] == "72.2 ± 1.7"
    assert (found["residual connections"], found["DropEdge"]) == ("diverged", "not run")
    halved = score_table(own, "val_loss")
    assert texts(halved, "2 layers")[0] == "36.1 ± 0.9"
    assert texts(cost_table(own), "2 layers")[0] == "12.5 ms"
    assert "by validation loss" in halved.title


def test_scores_are_marked_where_they_differ_from_no_remedy():
    own = boards(CELLS)["cora", "gcn"]
    place = {row.title: number for number, row in enumerate(score_table(own, "val_score").rows)}

    def kinds(select):
        fields = score_table(own, select).fields()
        return [
            fields[place[title]][1].kind for title in ("residual connections", "PairNorm", "none")
        ]

    assert kinds("val_score") == ["better", "level", ""]
    assert kinds("val_loss") == ["", "", ""]


def test_costs_are_multiples_of_that_without_a_remedy():
    cells = [CELLS[0], board_cell("residual", FAIR, cost=1.62), board_cell("residual", FAIR, 4)]
    found = dict(zip(texts(cost_table(cells), "remedy"), cost_table(cells).fields(), strict=True))
    assert [field.text for field in found["none"]][1:] == ["12.5 ms", "not run"]
    assert [field.text for field in found["residual connections"]][1:] == ["1.6 ×", "not measured"]


def test_the_narrow_table_fits_a_terminal():
    names = ["mean_subtraction", "initial_residual"]
    cells = [
        board_cell(n, [s / 2 for s in scores], 64)
        for n, scores in zip(names, (GOOD, FAIR), strict=True)
    ]
    table = replace(best_table(cells), columns=NARROW, notes=())
    assert max(map(len, str(table).splitlines())) <= 80
    assert [field.text for field in table.fields()[0]] == [
        "64",
        "mean_subtraction",
        "41.4 ± 1.1",
        "initial_residual",
        "+5.25",
        "0.000",
        "yes",
    ]
