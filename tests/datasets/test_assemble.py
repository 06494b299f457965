import pytest
import torch

from graphsct import DataError, Graph
from graphsct.datasets import Split
from graphsct.datasets.assemble import assemble, describe, edge_homophily, self_loops

EDGES = torch.tensor([[0, 1, 1, 2, 2], [1, 0, 2, 1, 2]])
X = torch.tensor([[1.0, 3.0], [2.0, 2.0], [0.0, 0.0]])
Y = torch.tensor([0, 1, 1])
SPLIT = Split(*(torch.arange(3) == node for node in range(3)))


def build(**change):
    parts = dict(graph=Graph(EDGES), loops=[2], x=X.numpy(), y=Y, splits=[SPLIT])
    return assemble("mine", **parts | change)


def test_edges_come_in_both_directions_with_the_self_loops_that_were_listed():
    half = torch.tensor([[2, 2], [1, 2]])
    data = build(graph=Graph(half, symmetrize=True), loops=self_loops(half))
    assert data.edge_index.tolist() == [[1, 2, 2], [2, 1, 2]]
    assert "edge_weight" not in data
    weight = [2.0, 2.0, 3.0, 3.0, 5.0]
    assert build(graph=Graph(EDGES, edge_weight=weight)).edge_weight.tolist() == weight


def test_masks_are_those_of_the_split_and_rows_may_sum_to_one():
    other = Split(SPLIT.test, SPLIT.val, SPLIT.train)
    data = build(splits=[SPLIT, other], split=1, normalize=True)
    assert data.train_mask.tolist() == [False, False, True]
    assert data.x.to_dense().tolist() == [[0.25, 0.75], [0.5, 0.5], [0, 0]]
    assert data.num_classes == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": None}, "mine has a split but no labels"),
        ({"split": 1}, "mine has 1 splits; split=1 is not among them"),
        ({"y": Y[:2]}, "y of mine has 2 rows, expected 3"),
        ({"y": Y - 3}, "y of mine runs from -3 to -2"),
        ({"every_class": True}, "split 0 of mine"),
        ({"x": X[:2].numpy()}, "the features of mine"),
        ({"x": X[:, :0].numpy()}, "features of mine has no columns; .* features='degree'"),
    ],
)
def test_parts_that_do_not_belong_together_are_refused(change, message):
    with pytest.raises(DataError, match=message):
        build(**change)


def test_homophily_counts_edges_between_labelled_nodes():
    assert edge_homophily(EDGES, Y) == pytest.approx(3 / 5)
    assert edge_homophily(EDGES, torch.tensor([0, 0, -1])) == 1
    for edges in (EDGES - 1, EDGES + 1):
        with pytest.raises(DataError, match=r"edge_index has ids from .*; ids run from 0 to 2"):
            edge_homophily(edges, Y)
    facts = describe(build())
    assert (facts.nodes, facts.edges, facts.features, facts.classes) == (3, 2, 2, 2)
    assert (facts.components, facts.homophily) == (1, pytest.approx(3 / 5))


def test_features_that_are_no_matrix_are_not_counted():
    data = build()
    data.x = torch.tensor(1.0)
    with pytest.raises(DataError, match=r"mine: the features x have shape \(\), expected \(n, d\)"):
        describe(data)


def test_edges_of_many_nodes_are_copied_block_by_block(monkeypatch):
    ids = torch.randint(9, (2, 40), generator=torch.Generator().manual_seed(0))
    weight = torch.rand(40, generator=torch.Generator().manual_seed(1))
    graph = Graph(ids, 9, weight, symmetrize=True)
    loops = self_loops(ids)
    rows, columns = graph.adjacency.starts.diff(), graph.adjacency.columns
    row = torch.arange(9).repeat_interleave(rows)
    listed = (row != columns) | torch.isin(row, torch.from_numpy(loops))
    assert 0 < int((row == columns)[listed].sum()) < 9
    for block in (1 << 14, 2):
        monkeypatch.setattr("graphsct.datasets.assemble._NODES", block)
        monkeypatch.setattr("graphsct.datasets.assemble._EDGES", block)
        assert self_loops(ids).tolist() == loops.tolist()
        data = build(graph=graph, loops=loops, x=None, y=None, splits=[])
        assert data.edge_index.tolist() == [row[listed].tolist(), columns[listed].tolist()]
        assert data.edge_weight.equal(graph.adjacency.weight[listed])
