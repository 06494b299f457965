from graphsct import datasets
from graphsct.paper.keys import Choice
from graphsct.paper.tables import build, find
from graphsct.paper.tables.experiment import Request


def test_every_count_of_the_paper_is_ours_too():
    rows = build("sizes").rows
    assert len(rows) == 30
    assert all(row.paper == row.ours for row in rows)
    assert {row.control for row in rows if row.dataset == "arxiv"} == {None, "pooled"}


def test_the_papers_times_are_beside_them_and_the_wrong_name_is_marked():
    row = build("sizes").rows[1]
    assert (row.model_title, row.mark, row.paper) == ("GCN-SCT", "*", 110_535)
    assert (row.training_seconds, row.inference_milliseconds) == (10.0, 2.1)


def test_our_times_stand_beside_the_papers(tmp_path, monkeypatch):
    monkeypatch.setattr(Request, "load", lambda self, name, normalize: datasets.demo())
    monkeypatch.setattr("graphsct.paper.tables.sizes.is_here", lambda name, root: True)
    said = []
    request = Request(
        choice=Choice.parse("cora", "gcn", controls="none"),
        out=tmp_path,
        work=tmp_path,
        root=None,
        say=said.append,
    )
    assert find("sizes").run(request)
    assert len(said) == 1 and said[0].startswith("cora-gcn-none-")
    first, second, *_ = build("sizes", cells=tmp_path).rows
    assert first.measured.hidden == first.hidden
    assert second.measured is None
