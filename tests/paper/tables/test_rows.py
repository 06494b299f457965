import pytest

from graphsct.paper.paper import PaperCell
from graphsct.paper.tables.rows import PrintedRow, judged, misprints

GOOD = PaperCell(84.6, "cora", "gcnii", True, 16)
BAD = PaperCell(8.46, "arxiv", "gcn", False, right=84.6, why="a digit is missing")


def test_a_row_has_the_titles_and_the_control_of_its_cell():
    row = PrintedRow.of(GOOD)
    assert (row.data_title, row.model_title, row.control) == ("Cora", "GCNII-SCT", "gated")
    assert (row.depth, row.mark, row.why) == (16, "", None)
    row = PrintedRow.of(BAD)
    assert (row.data_title, row.model_title, row.control) == ("Ogbn-arxiv", "GCN", None)
    assert (row.right, row.mark) == (84.6, "*")


def test_misprints_are_sentences():
    unknown = PaperCell(1.0, "texas", "egnn", False, 4, why="it is not an accuracy")
    assert misprints([GOOD, BAD, unknown]) == [
        "* Ogbn-arxiv, GCN: should be 84.6, a digit is missing",
        "* Texas, EGNN, 4 layers: it is not an accuracy",
    ]


@pytest.mark.parametrize(
    ("verdict", "kind", "sign"),
    [("helps", "better", "▲"), ("below", "worse", "▼"), ("agrees", "level", "=")],
)
def test_a_verdict_has_a_colour_and_a_sign(verdict, kind, sign):
    field = judged(verdict)
    assert (field.text, field.kind, field.sign) == (verdict, kind, sign)
    assert judged(None).text == ""
