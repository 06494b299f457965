import pytest

from graphsct import datasets
from graphsct.pages.tables import Column
from graphsct.paper.cell import Key
from graphsct.paper.keys import Choice
from graphsct.paper.tables import experiment, find
from graphsct.paper.tables.experiment import Request
from graphsct.paper.workplace import CellOutcome

BASE, SCT = Key("cora", "gcn", None, 2), Key("cora", "gcn", "pooled", 2)
DEPTH = find("depth")


@pytest.fixture
def request_of(tmp_path):
    """A request of the cells of a choice, and what it is told."""
    told = []

    def build(*choice, **more):
        out, work = tmp_path / "out", tmp_path / "work"
        places = dict(out=out, work=work, root=tmp_path)
        return Request(choice=Choice.parse(*choice), **places, say=told.append, **more), told

    return build


def test_the_last_data_set_is_kept(request_of, monkeypatch):
    calls = []

    def load(name, root, *, normalize):
        calls.append((name, root, normalize))

    monkeypatch.setattr(datasets, "load", load)
    request, _ = request_of()
    for name in ("cora", "cora", "texas", "cora"):
        request.load(name, False)
    assert calls == [(name, request.root, False) for name in ("cora", "texas", "cora")]


def test_a_table_has_the_title_of_the_paper():
    printed = DEPTH.printed
    table = DEPTH.table([Column("data", "{dataset:s}")], [], notes=["ours"])
    assert table.title.startswith(f"Table {printed.number} (depth): {printed.title}")
    assert table.notes == (*printed.notes, "ours")


def test_cells_that_are_there_are_not_run_again(request_of, make, monkeypatch):
    ran = []

    def run_cells(keys, budget, **_):
        ran.extend(keys)
        assert budget.seeds == 2
        yield CellOutcome(SCT, None, "the disk is full")

    monkeypatch.setattr(experiment, "run_cells", run_cells)
    monkeypatch.setattr(experiment, "estimate", lambda *_, **__: 7200.0)
    request, told = request_of("cora", "gcn", "2", seeds=2)
    make(BASE, [80.0, 81.0], by_loss=[80.0, 81.0]).write(request.out)
    assert DEPTH.run(request) is False
    assert ran == [SCT]
    assert told[0].endswith("(depth): 1 cells to run, 2 in all")
    assert told[1] == "about 2:00:00; you can stop at any time and resume later"
    assert told[2] == f"[1/1, 0 s] {SCT.name}: failed: the disk is full"
    make(SCT, [80.0, 81.0], by_loss=[80.0, 81.0]).write(request.out)
    assert DEPTH.run(request) is True
    assert told[3].endswith("0 cells to run, 2 in all")


def test_arxiv_is_not_downloaded_unasked(request_of):
    request, told = request_of("arxiv", "gcn", "4", seeds=1)
    assert DEPTH.run(request) is False
    assert told[0].endswith("0 cells to run, 2 in all")
    assert told[1].startswith("left out: 2 cells of Ogbn-arxiv, whose files are missing")
