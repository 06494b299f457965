from graphsct.paper.tables import build


def test_every_count_of_the_paper_is_ours_too():
    rows = build("sizes").rows
    assert len(rows) == 30
    assert all(row.paper == row.ours for row in rows)
    assert {row.control for row in rows if row.dataset == "arxiv"} == {None, "pooled"}


def test_the_papers_times_are_beside_them_and_the_wrong_name_is_marked():
    row = build("sizes").rows[1]
    assert (row.model_title, row.mark, row.paper) == ("GCN-SCT", "*", 110_535)
    assert (row.training_seconds, row.inference_milliseconds) == (10.0, 2.1)
