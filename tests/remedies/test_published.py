import json
from importlib.resources import files

import pytest
from board import board_cell

from graphsct.remedies import REMEDIES
from graphsct.remedies.published import PublishedTable, published, published_table

CELLS = [
    board_cell("gcnii", [0.80, 0.84], 2),
    board_cell("gcnii", [0.80, 0.82], 16),
    board_cell("gcnii", [0.90, 0.92], 32),
    board_cell("gcnii", [0.10, 0.12], 2, model="gcnii"),
    board_cell("none", [0.5, 0.6], 2, data="texas"),
]


def by_title(cells):
    return {each.table.title: each for each in published(cells)}


def test_the_stored_tables_are_complete():
    text = files("graphsct.remedies").joinpath("published.json").read_text(encoding="utf-8")
    for values in json.loads(text)["tables"]:
        table = PublishedTable.from_dict(values)
        assert table.remedy in REMEDIES
        assert table.reproduced in {"yes", "no", "not known"}
        assert table.link.startswith("https://")
        assert set(table.scores) == {"cora", "citeseer", "pubmed"}
        assert all(10 < score < 90 for own in table.scores.values() for score in own.values())


def test_a_score_holds_if_ours_is_within_two_points():
    gcnii = by_title(CELLS)["GCNII"]
    assert gcnii.both == pytest.approx({2: 82 - 82.2, 16: 81 - 84.6, 32: 91 - 85.4})
    assert gcnii.holds == [2]
    assert by_title(CELLS)["GCN + DropEdge"].both == {}


def test_ours_stand_below_theirs():
    table = published_table(CELLS)
    lines = dict(enumerate(table.rows))
    at = next(n for n, line in lines.items() if line.title == "GCNII")
    theirs, ours = lines[at], lines[at + 1]
    assert (theirs.whose, theirs.reproduced, ours.whose) == ("Chen et al., 2020", "yes", "ours")
    assert theirs.fields[16].text == "84.6"
    kinds = {depth: (field.text, field.kind) for depth, field in ours.fields.items()}
    assert kinds[2] == ("82.0 ± 2.8", "level")
    assert kinds[16][1] == "worse"
    assert kinds[32][1] == "better"
    assert kinds[64] == ("not run", "missing")
    assert {line.whose for line in table.rows} >= {"ours, without DropEdge"}
    assert {line.data for line in table.rows} == {"cora"}
    assert {line.reproduced for line in table.rows if "DropEdge" in line.title} == {"no", ""}


def test_other_data_and_models_have_none():
    assert published_table(CELLS[3:]).rows == ()
