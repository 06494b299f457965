from graphsct.paper.tables import build


def test_the_papers_grid_is_tried_by_ours():
    rows = build("grid").rows
    of_paper = [row for row in rows if row.paper]
    assert len(of_paper) == 10
    assert all(set(row.paper) <= set(row.ours) for row in of_paper)


def test_what_only_ours_has_comes_after():
    rows = build("grid").rows
    more = {(row.model, row.quantity) for row in rows if not row.paper}
    assert ("gcn", "init") in more and ("gcnii", "activation") in more
    assert not any(quantity == "learning_rate" for _, quantity in more)
    assert ("gcn", "theta") not in more  # pooled has none
