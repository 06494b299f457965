import json

import pytest

from graphsct import datasets
from graphsct.errors import ExperimentError
from graphsct.paper.paper import PaperCell, PaperTable
from graphsct.paper.times import find_time, measure_times, read_times

CELLS = tuple(
    PaperCell(0.01, "demo", "gcn", sct, 2, quantity="epoch_seconds") for sct in (False, True)
)
TABLE = PaperTable(11, "time", "label", "title", "s", (), CELLS)


@pytest.fixture
def measure(tmp_path):
    def go():
        return list(
            measure_times(TABLE, {}, load=lambda *_: datasets.demo(), out=tmp_path, seconds=0.01)
        )

    return go


def test_both_are_measured_kept_and_not_measured_again(measure, tmp_path):
    rows = measure()
    assert [row.control for row in rows] == [None, "pooled"]
    assert all(row.ours_ms > 0 and row.case.width == 16 for row in rows)
    content = json.loads((tmp_path / "times" / "time.json").read_text())
    assert content["command"] == "graphsct reproduce table11 --seconds 0.01"
    assert content["rows"] == [row.to_dict() for row in rows]
    assert read_times(TABLE, tmp_path) == rows
    assert measure() == []
    assert find_time(CELLS[1], {}, rows) == rows[1]


def test_most_accurate_models_without_a_cell_have_no_time():
    cell = PaperCell(0.7, "texas", "gcn", False, quantity="epoch_centiseconds")
    assert find_time(cell, {}, []) is None


def test_nothing_measured_and_a_damaged_file(tmp_path):
    assert read_times(TABLE, tmp_path) == []
    (tmp_path / "times").mkdir()
    (tmp_path / "times" / "time.json").write_text("[]")
    with pytest.raises(ExperimentError, match=r"time\.json has no times"):
        read_times(TABLE, tmp_path)
