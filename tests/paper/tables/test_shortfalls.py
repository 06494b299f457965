from dataclasses import replace

import pytest
from cells import origin

from graphsct.paper.cell import Key
from graphsct.paper.tables import build

BASE, SCT = Key("cora", "gcn", None, 16), Key("cora", "gcn", "pooled", 16)  # 64.9, 71.4
FOUND = origin(4, max_hidden=32)


@pytest.fixture
def short(make, tmp_path):
    def find(**means):
        for key, mean in ((BASE, means.get("base")), (SCT, means.get("sct"))):
            if mean is not None:
                replace(make(key, [mean - 0.1, mean, mean + 0.1]), found=FOUND).write(tmp_path)
        table = build("depth", cells=tmp_path)
        parts = [part for part in table.parts if part.title.startswith("Cells below")]
        return {row.cell: row for part in parts for row in part.rows}

    return find


def test_cells_that_reach_the_paper_are_not_explained(short):
    assert short(base=64.9, sct=72.0) == {}


def test_a_base_that_is_short_too(short):
    found = short(base=62.9, sct=69.4)
    assert found[SCT.name].reason == (
        "its base is below the paper too: training explains more than the term; its search could "
        "not reach the reference's hidden; 4 trials, at most 32 channels"
    )
    assert found[SCT.name].base_short == pytest.approx(2.0)
    assert found[BASE.name].reason.startswith(
        "the paper copied the number from another paper; its search could not reach"
    )


def test_a_gain_that_is_not_there(short):
    (row,) = short(base=65.0, sct=65.0).values()
    assert row.reason.startswith("we do not find the gain that the paper prints")
    assert (row.short, row.base_short) == pytest.approx((6.4, -0.1))


def test_a_term_that_hurts(short):
    (row,) = short(base=70.0, sct=65.0).values()
    assert row.reason.startswith("the term makes its own base worse")


def test_without_a_base_of_ours(short):
    (row,) = short(sct=65.0).values()
    assert (row.base_short, row.reason) == (
        None,
        "its search could not reach the reference's hidden; 4 trials, at most 32 channels",
    )
