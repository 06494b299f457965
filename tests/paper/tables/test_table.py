from graphsct.paper.paper import find_table
from graphsct.paper.tables import Column, Table

NUMBER = Column("n", ("{n:d}", "{n:s}", "none"))


def test_the_first_text_that_fits_counts():
    assert [NUMBER.show({"n": n}) for n in (3, "x", None)] == ["3", "x", "none"]
    gain = Column("gain", ("{gain[mean]:+.1f}",))
    assert gain.show({"gain": {"mean": 1.25}}) == "+1.2"
    assert gain.show({"gain": None}) == ""


def test_some_rows_of_a_table_and_its_parts():
    part = Table("part", (NUMBER,), ({"n": 1},))
    table = Table("whole", (NUMBER,), ({"n": 1}, {"n": 2}), parts=(part,))
    assert table.only(lambda row: row["n"] == 1) == Table(
        "whole", (NUMBER,), ({"n": 1},), parts=(part,)
    )
    assert table.only(lambda row: row["n"] == 2).parts == ()


def test_plain_values():
    paper = find_table("depth")
    table = Table("title", (NUMBER,), ({"n": 1},), ("note",), paper, (Table("part", (), ()),))
    assert table.to_dict() == {
        "title": "title",
        "table": "table1",
        "name": "depth",
        "label": "table:node:variable-layers",
        "unit": "%",
        "cells": [{"n": 1}],
        "notes": ["note"],
        "parts": [{"title": "part", "cells": [], "notes": [], "parts": []}],
    }
