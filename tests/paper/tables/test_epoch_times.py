import shutil

import pytest

from graphsct.extras import stored_results
from graphsct.files import write_json
from graphsct.paper.cell import Key
from graphsct.paper.paper import find_table
from graphsct.paper.tables import build


def row(control, ours, layers=8, width=16):
    where = {"data": "texas", "model": "gcn", "layers": layers, "width": width, "control": control}
    return where | dict(ours_ms=ours, pyg_edge_index_ms=9.0, pyg_sparse_ms=8.0, limit_ms=1.0)


def write(path, *rows):
    write_json(path, {"command": "graphsct", "versions": {}, "rows": rows})


def find(table, sct):
    (found,) = (r for r in table.rows if (r.dataset, r.model, r.sct) == ("texas", "gcn", sct))
    return found


def test_times_and_what_control_costs(tmp_path):
    write(tmp_path / "times" / "time.json", row(None, 2.0), row("pooled", 3.0))
    table = build("time", cells=tmp_path)
    assert len(table.rows) == 20
    without, with_control = find(table, False), find(table, True)
    assert (without.paper, without.ours, without.pyg) == (13.0, 2.0, 8.0)
    assert with_control.our_cost == 1.5
    assert with_control.paper_cost == pytest.approx(17 / 13)
    assert without.our_cost is None
    others = [r for r in table.rows if r.dataset != "texas"]
    assert {r.missing for r in others} == {"not measured yet"}


def test_the_most_accurate_models_are_those_of_the_cells(make, tmp_path):
    key = Key("texas", "gcn", None, None, "leaky_relu")
    make(key, [60.0], depth=4, hidden=32).write(tmp_path)
    rows = row(None, 5.0, layers=2), row(None, 2.5, layers=4, width=32)
    write(tmp_path / "times" / "time-best.json", *rows)
    found = find(build("time-best", cells=tmp_path), False)
    assert (found.paper, found.ours, found.our_depth) == (7.0, 2.5, 4)
    assert find_table("table3").name == "time-best"


def test_times_of_cells_that_come_with_graphsct_are_shown_from_another_folder(tmp_path):
    shutil.copytree(stored_results("paper") / "times", tmp_path / "times")
    assert build("time-best", cells=tmp_path).rows == build("time-best").rows
