from graphsct.paper.tables.yardsticks import yardsticks


def test_they_are_of_the_data_sets_asked_for():
    (table,) = yardsticks({"chameleon", "squirrel", "texas"})
    assert [(row.dataset, row.value) for row in table.rows] == [
        ("chameleon", 64.8),
        ("squirrel", 53.4),
    ]
    assert table.title == "Results of others"
    assert len(table.notes) == 1


def test_the_citation_sets_have_drop_edge_at_every_depth():
    (table,) = yardsticks({"cora", "citeseer", "pubmed"})
    assert len(table.rows) == 24
    assert [r.value for r in table.rows if r.dataset == "citeseer" and r.depth == 16] == [57.2]


def test_without_any_there_is_no_table():
    assert yardsticks({"texas"}) == ()
