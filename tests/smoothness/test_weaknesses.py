from pathlib import Path

import pytest

from graphsct.smoothness import MEASURES, Axiom
from graphsct.smoothness.weaknesses import weakness_table

PAGE = Path(__file__).parents[2] / "docs" / "measures.md"


def test_the_page_has_the_table():
    if weakness_table() not in PAGE.read_text("utf-8"):
        pytest.fail(f"docs/measures.md is out of date, it should contain\n{weakness_table()}")


def row(name):
    (found,) = [line for line in weakness_table().splitlines() if line.startswith(f"| [`{name}`]")]
    return [cell.strip() for cell in found.strip("|").split("|")][1:]


def test_every_measure_has_a_row():
    assert len(weakness_table().splitlines()) == 2 + len(MEASURES)
    assert row("distance_to_eigenspace") == [
        "the eigenspace",
        "fooled",
        "fooled",
        "–",
        "–",
        "fooled",
    ]
    assert row("mean_average_distance")[0] == "the eigenspace, constants, more"
    assert row("effective_rank")[:2] == ["–", "–"]


def test_a_changed_declaration_changes_the_table(monkeypatch):
    before = row("effective_rank")
    function, axioms = MEASURES["effective_rank"]
    monkeypatch.setitem(MEASURES, "effective_rank", (function, axioms | {Axiom.SHIFT_INVARIANT}))
    assert row("effective_rank") != before
