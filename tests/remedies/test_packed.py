import gzip

import pytest
from board import board_cell

from graphsct.errors import ExperimentError
from graphsct.extras import stored_results
from graphsct.remedies import REMEDIES
from graphsct.remedies.board_cell import BoardLayer
from graphsct.remedies.packed import pack, read_packed

LAYER = BoardLayer(None, 0.25, 1e-3, 3.5, 2.0, 1e-4)
CELLS = [
    board_cell("none", [0.5, 0.75], 4, layers=(LAYER, LAYER), versions={"torch": "2"}),
    board_cell("pair_norm", [0.812345678, 0.5], 2, seconds=0.012345),
    board_cell("dense", [], 2, chosen=None, failure="the weights diverged"),
    board_cell("none", [0.25], 2, model="pyg:GAT"),
]


def test_cells_come_back_in_order_with_fewer_digits(tmp_path):
    paths = pack(CELLS, tmp_path)
    assert [path.name for path in paths] == ["cora-gcn.jsonl.gz", "cora-pyg_GAT.jsonl.gz"]
    dense, pair_norm, none, other = read_packed(tmp_path)
    assert (dense, none, other) == (CELLS[2], CELLS[0], CELLS[3])
    assert pair_norm.scores() == [81.23, 50]
    assert pair_norm.seconds == 0.0123


def test_the_same_cells_give_the_same_bytes(tmp_path):
    first = [path.read_bytes() for path in pack(CELLS, tmp_path)]
    assert [path.read_bytes() for path in pack(CELLS[::-1], tmp_path)] == first[::-1]


def test_packing_one_board_leaves_the_others(tmp_path):
    pack(CELLS, tmp_path)
    pack([board_cell("none", [0.5], 8)], tmp_path)
    assert [cell.key[1:3] for cell in read_packed(tmp_path)] == [("gcn", 8), ("pyg:GAT", 2)]


@pytest.mark.parametrize(
    "content", [b"no gzip", gzip.compress(b"{}", mtime=0), gzip.compress(b"x" * 9, mtime=0)[:-9]]
)
def test_other_files_are_refused(content, tmp_path):
    (tmp_path / "cora-gcn.jsonl.gz").write_bytes(content)
    with pytest.raises(ExperimentError, match=r"cora-gcn.*is not a file of packed cells"):
        read_packed(tmp_path)


def test_the_cells_that_come_with_graphsct_are_whole_and_small():
    cells = read_packed()
    assert len({cell.key for cell in cells}) == len(cells) > 0
    assert {cell.key.remedy for cell in cells} <= set(REMEDIES)
    for cell in cells:
        assert (
            cell.failure or len(cell.scores()) == len(cell.scores("val_loss")) == cell.seeds == 10
        )
        assert len(cell.tried) == 8
        assert cell.failure or cell.layers
        assert f"--remedy {cell.key.remedy} " in cell.command
    assert sum(path.stat().st_size for path in stored_results("remedies").iterdir()) < 600 * 1024
