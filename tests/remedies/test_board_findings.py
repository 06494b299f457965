import pytest
from board import board_cell

from graphsct.remedies.board_findings import board_findings, survivors

NOISE = [0.0, 0.01, -0.01, 0.005, -0.005]


def cell(remedy, mean, depth, **more):
    """Five runs whose differences to those of other remedies are not constant."""
    turn = sum(map(ord, remedy)) % len(NOISE)
    scores = [mean + 0.2 * n for n in (*NOISE[turn:], *NOISE[:turn])]
    return board_cell(remedy, scores, depth, **more)


MEANS = {
    "none": {2: 0.80, 16: 0.40, 32: 0.20},
    "shallower": {2: 0.80, 16: 0.79, 32: 0.79},
    "gcnii": {2: 0.80, 16: 0.83, 32: 0.82},
    "residual": {2: 0.80, 16: 0.79, 32: 0.60},
    "pair_norm": {2: 0.70, 16: 0.69, 32: 0.69},
}
COSTS = {"gcnii": 1.2}
CELLS = [
    cell(name, mean, d, cost=COSTS.get(name))
    for name, own in MEANS.items()
    for d, mean in own.items()
]
CELLS.append(board_cell("dense", [], 32, chosen=None, failure="the weights diverged"))


def by_question(cells):
    return {finding.question: finding for finding in board_findings(cells)}


def test_survivors_lose_little_against_their_own_best_depth():
    kept, _ = survivors(CELLS, 16)
    assert [each.key.remedy for each in kept] == ["gcnii", "residual", "pair_norm"]
    kept, tested = survivors(CELLS, 32)
    assert [each.key.remedy for each in kept] == ["gcnii", "pair_norm"]
    assert [each.key.remedy for each in tested] == ["gcnii", "residual", "pair_norm"]


def test_survivors_by_an_error_are_those_whose_error_stays_small():
    means = {"residual": (0.5, 0.51), "gcnii": (0.5, 0.6)}
    cells = [
        cell(name, mean, depth, metric="mae")
        for name, own in means.items()
        for depth, mean in zip((2, 16), own, strict=True)
    ]
    assert [each.key.remedy for each in survivors(cells, 16)[0]] == ["residual"]


def test_what_survives_is_named_with_its_score_and_cost():
    found = by_question(CELLS)["What survives depth, and at what cost?"]
    assert found.answer == "GCNII (1 of 1); PairNorm (1 of 1)"
    assert found.lines == (
        "Cora, GCN: 3 of 3 at 16, 2 of 3 at 32 layers. At 32: GCNII 82.0 (1.2 ×); PairNorm 69.0.",
    )


def test_survivors_are_counted_over_the_data_at_the_greatest_depth():
    other = [
        cell(n, m, d, data="texas") for n in ("gcnii", "pair_norm") for d, m in MEANS[n].items()
    ]
    other += [cell("residual", 0.8, d, data="texas") for d in (2, 16)]
    question = "What survives depth, and at what cost?"
    found = by_question([*CELLS, *other])[question]
    assert found.answer == "GCNII (2 of 2); PairNorm (2 of 2)"
    assert len(found.lines) == 2
    shallow = [cell(n, 0.5, 2, data="texas") for n in MEANS]
    assert len(by_question([*CELLS, *shallow])[question].lines) == 1
    assert by_question(shallow)[question].answer.startswith("Not known yet")
    fading = [cell("residual", m, d) for d, m in MEANS["residual"].items()]
    assert by_question(fading)[question].answer == "Nothing"


def test_a_depth_at_which_only_the_rivals_were_run_counts_for_nothing():
    rivals = [cell(name, 0.5, 64) for name in ("none", "shallower")]
    question = "What survives depth, and at what cost?"
    assert by_question([*CELLS, *rivals])[question] == by_question(CELLS)[question]


def test_gains_are_counted_by_depth():
    found = by_question(CELLS)["What is better than no remedy?"]
    assert found.answer == "0 of 3 at 2 layers, 3 of 3 at 32 layers"
    (line,) = found.lines
    assert "3 of 3 at 16" in line
    assert line.endswith("At 32: GCNII +62.0; PairNorm +49.0; residual connections +40.0.")


def test_metrics_that_are_not_in_percent_have_more_digits():
    cells = [cell(n, m, 2, metric="r2") for n, m in (("none", 0.5), ("gcnii", 0.75))]
    (line,) = by_question(cells)["What is better than no remedy?"].lines
    assert line.endswith("At 2: GCNII +0.250.")


def test_what_hurts_and_what_is_not_better_than_fewer_layers():
    found = by_question(CELLS)
    assert found["What hurts a shallow model?"].lines == ("Cora, GCN, 2 layers: PairNorm -10.0",)
    fewer = found["What is better than fewer layers?"]
    assert fewer.answer == "1 of 3 at some depth"
    assert fewer.lines == (
        "Cora, GCN: GCNII (at 16, 32)",
        "Not shown to be better at any depth: residual connections; PairNorm",
    )
    better = [cell("gcnii", 0.99, 2), cell("none", 0.8, 2), cell("shallower", 0.8, 2)]
    assert by_question(better)[fewer.question].answer == "Not tested"  # these are no fewer layers


def test_costs_are_relative_to_no_remedy():
    slow = [
        board_cell("none", [0.5], 2),
        board_cell("gcnii", [0.5], 2, cost=2.0),
        board_cell("residual", [0.5], 2, cost=3.0),
    ]
    found = by_question(slow)["What does a remedy cost?"]
    assert found.answer == "2.5 × the time, in the median"
    assert found.lines == (
        "Cora, GCN, 2 layers: 2.0 to 3.0 × (residual connections), median 2.5 ×",
    )


def test_published_scores_that_do_not_hold_are_named():
    found = by_question(CELLS)["Do published scores by depth hold?"]
    assert found.answer == "2 of 6 do"  # GCN at 2 layers and GCNII at 16
    assert "GCN: 1 of 3; ours is up to 40.3 points below (Cora, 32 layers)" in found.lines
    above = by_question([cell("none", 0.8, 64), cell("none", 0.8, 2)])[found.question]
    assert above.lines == ("GCN: 1 of 2; ours is up to 51.3 points above (Cora, 64 layers)",)
    texas = [cell("none", 0.5, 2, data="texas")]
    assert found.question not in by_question(texas)


def test_cells_that_were_not_run_are_counted():
    found = by_question(CELLS)["What was not run?"]
    (line,) = found.lines
    assert line.startswith("Cora, GCN, 2, 16, 32 layers: 16 cells run, ")
    assert line.endswith(" not run, 1 diverged")
    assert found.answer.split()[0] in line


@pytest.mark.parametrize("scores", [[0.5], []])
def test_one_run_or_none_is_enough_for_a_page(scores):
    failure = None if scores else "the weights diverged"
    found = by_question([board_cell("none", scores, failure=failure)])
    assert found["What is better than no remedy?"].answer == "Not tested"
    assert found["What does a remedy cost?"].answer == "Not measured"


def test_whether_a_control_wins_is_counted():
    found = by_question([*CELLS, cell("target", 0.8, 16), cell("batch_norm", 0.3, 32)])
    own = found["Is there a control that wins?"]
    assert own.answer == "Open"
    assert (
        "wanted smoothness: better in 1, worse in 0 of 1 deep cells that were run, 41 of 42 not "
        "run: open"
    ) in own.lines
    assert len(own.lines) == 6
