import json
from dataclasses import replace

import pytest
from cells import origin

from graphsct.paper.cell import Key
from graphsct.paper.paper import find_table
from graphsct.paper.tables import build
from graphsct.training.significance import compare, holm

BASE, SCT = Key("cora", "gcn", None, 16), Key("cora", "gcn", "pooled", 16)
SHALLOW = Key("cora", "gcn", None, 2), Key("cora", "gcn", "pooled", 2)
LOW, HIGH = [60.0, 61.0, 62.0], [70.0, 71.0, 75.0]
EQUAL = [80.0, 81.0, 82.0], [80.5, 81.0, 82.0]


@pytest.fixture
def folder(make, tmp_path):
    make(BASE, LOW, by_loss=[50.0, 51.0]).write(tmp_path)
    make(SCT, HIGH, by_loss=[40.0, 41.0]).write(tmp_path)
    for key, runs in zip(SHALLOW, EQUAL, strict=True):
        make(key, runs).write(tmp_path)
    return tmp_path


def find(rows, **wanted):
    (row,) = (
        row for row in rows if all(getattr(row, key) == value for key, value in wanted.items())
    )
    return row


def test_ours_stands_beside_the_paper(folder):
    table = build("table1", cells=folder)
    assert len(table.rows) == 120
    row = find(table.rows, dataset="cora", model="gcn", control="pooled", depth=16)
    assert (row.paper, row.paper_std, row.ours, row.n) == (71.4, None, 72.0, 3)
    assert row.std == pytest.approx(7**0.5)
    assert row.difference == pytest.approx(0.6)
    assert row.verdict == "agrees"
    assert row.paper_gain == pytest.approx(6.5)
    assert row.cell == "cora-gcn-pooled-16"
    assert json.loads(json.dumps(table.to_dict(), allow_nan=False))["cells"]


@pytest.mark.parametrize(
    ("runs", "verdict"),
    [([66.0, 66.1], "above"), ([64.0, 66.0], "agrees"), ([63.0, 63.1], "below"), ([90.0], None)],
)
def test_the_verdict_against_the_paper(make, tmp_path, runs, verdict):
    make(BASE, runs).write(tmp_path)  # printed: 64.9
    row = find(build("depth", cells=tmp_path).rows, cell=BASE.name)
    assert row.verdict == verdict


def test_the_verdict_against_its_own_base_is_welch_and_holm(folder):
    rows = build("depth", cells=folder).rows
    deep, shallow = (find(rows, cell=key.name).gain for key in (SCT, SHALLOW[1]))
    expected = [compare(HIGH, LOW), compare(*reversed(EQUAL))]
    for gain, difference in zip((deep, shallow), expected, strict=True):
        assert gain.mean == pytest.approx(difference.mean)
        assert (gain.low, gain.high) == pytest.approx((difference.low, difference.high))
    adjusted = holm([difference.p for difference in expected])
    assert [deep.p_holm, shallow.p_holm] == pytest.approx(adjusted)
    assert (deep.verdict, shallow.verdict) == ("helps", "unclear")
    assert find(rows, cell=BASE.name).gain is None


def test_a_comparison_with_another_budget_is_told(make, tmp_path):
    def note(trials):
        for key, runs, allowed in ((BASE, LOW, 20), (SCT, HIGH, trials)):
            replace(make(key, runs), found=origin(allowed)).write(tmp_path)
        table = build("depth", cells=tmp_path)
        assert find(table.rows, cell=SCT.name).gain.same_budget is (trials == 20)
        return any(SCT.name in note for note in table.notes)

    assert not note(20)
    assert note(30)


def test_both_rules_are_reported_for_deep_cells(folder):
    part = build("depth", cells=folder).parts[0]
    assert "validation loss" in part.title
    assert [row.cell for row in part.rows] == [BASE.name, SCT.name]
    assert part.rows[1].ours == 40.5
    assert part.rows[1].gain.verdict == "hurts"


def test_cells_that_nobody_has_run_say_so(folder):
    rows = build("depth", cells=folder).rows
    missing = find(rows, cell="cora-gcnii-none-4")
    assert (missing.ours, missing.n, missing.verdict) == (None, 0, None)
    assert missing.missing == "not run yet"
    assert find(rows, cell="arxiv-gcn-none-4").missing == "data set not available"


def test_misprints_are_marked_and_explained(tmp_path):
    table = build("depth", cells=tmp_path)
    row = find(table.rows, cell="cora-gcnii-gated-4")
    assert (row.mark, row.right) == ("*", 84.8)
    assert any(n.startswith("* Cora, GCNII-SCT, 4 layers: should be 84.8") for n in table.notes)


def test_a_depth_that_was_searched_is_told(make, tmp_path):
    key = Key("texas", "gcn", None, None, "leaky_relu")
    make(key, [60.0, 62.0], depth=4).write(tmp_path)
    table = build("heterophilic", cells=tmp_path)
    row = find(table.rows, cell=key.name)
    assert (row.depth, row.our_depth, row.ours) == (None, 4, 61.0)
    (layers,) = (column for column in table.columns if column.title == "layers")
    assert layers.text(row) == "4 (found)"


def test_fixed_activations_are_compared_with_the_base_of_the_main_table(make, tmp_path):
    relu = Key("cora", "gcn", "pooled", 2, "relu")
    make(SHALLOW[0], [60.0, 60.5]).write(tmp_path)
    make(relu, [80.0, 80.5]).write(tmp_path)
    row = find(build("activations", cells=tmp_path).rows, cell=relu.name)
    assert row.gain.mean == pytest.approx(20)
    assert row.paper == 81.2


@pytest.mark.parametrize("name", ["heterophilic", "srelu", "activations", "heterophilic-std"])
def test_every_table_of_accuracies_is_built(name, tmp_path):
    table = build(name, cells=tmp_path)
    assert len(table.rows) == len(find_table(name).cells)


def test_results_from_before_another_search_stay_beside_ours(make, tmp_path):
    key = Key("cora", "gcn", "pooled", 2)
    replace(make(key, [80.0, 81.0]), found=origin(40, space=2)).write(tmp_path)
    narrow = replace(make(key, [78.0, 79.0]), found=origin(4, max_hidden=16))
    narrow.write(tmp_path / "earlier")
    table = build("depth", cells=tmp_path)
    (row,) = (row for row in table.rows if row.cell == key.name)
    assert (row.ours, row.earlier.ours, row.earlier.trials) == (80.5, 78.5, 4)
    assert "78.5 ± 0.7 (4 trials, at most 16 channels)" in table.to_markdown()


def test_cells_on_egnns_split_are_a_part_with_the_same_numbers_of_the_paper(make, tmp_path):
    key = Key("physics_egnn", "gcnii", None, 16)
    make(key, [92.0, 93.0]).write(tmp_path)
    table = build("depth", cells=tmp_path)
    (part,) = (part for part in table.parts if "EGNN" in part.title)
    (row,) = (row for row in part.rows if row.n)
    assert (row.data_title, row.paper, row.ours) == ("Coauthor-Physics, EGNN's split", 92.9, 92.5)
    assert {row.dataset for row in part.rows} == {"physics_egnn"}
    assert not any(row.dataset == "physics_egnn" for row in table.rows)
