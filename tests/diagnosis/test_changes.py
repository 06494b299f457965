from dataclasses import replace

import faulty
import pytest

from graphsct import diagnose

pytestmark = pytest.mark.usefixtures("seed")


@pytest.fixture(scope="module")
def dead(data):
    return diagnose(faulty.dead(), data)


@pytest.fixture(scope="module")
def sound(data):
    return diagnose(faulty.over_smoothed(5), data)


def cells(table, title):
    (column,) = (column for column in table.columns if column.title == title)
    return [column.field(row) for row in table.rows]


def texts(table, title):
    return [cell.text for cell in cells(table, title)]


def test_layers_are_matched_by_number_and_a_missing_one_is_said(dead, sound):
    table = dead.compare(sound)
    assert texts(table, "dead") == ["0", "0", "16 → 0", "16 → 0", "16 → 0", "16 → –"]
    assert texts(table, "layer")[-2:] == ["convs.4", "convs.5 → –"]
    assert texts(table, "s, median")[2] == f"– → {sound.layers[2].quartiles[1]:.3f}"
    assert texts(sound.compare(dead), "layer")[-1] == "– → convs.5"
    assert table.rows[2].measures["norm"].before == dead.layers[2].norm
    assert table.rows[2].measures["norm"].after == sound.layers[2].norm


def test_a_state_gets_better_or_worse(dead, sound):
    assert [cell.kind for cell in cells(dead.compare(sound), "state")] == [
        *["better"] * 5,
        "",
    ]
    assert cells(sound.compare(dead), "state")[2].kind == "worse"


def test_it_is_text_markdown_and_escaped_html(dead, sound):
    table = replace(dead, model="<b>").compare(sound)
    assert "16 → 0" in str(table)
    assert "| 3 | convs.2 | dead, vanishing gradient → ok |" in table.to_markdown()
    assert "&lt;b&gt; on demo" in table._repr_html_()
    assert "<b>" not in table._repr_html_()
    assert table.to_dict()["cells"][2]["measures"]["dead"] == {"before": 16, "after": 0}
