import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader

from graphsct import DataError
from graphsct.datasets import Fractions, GraphList, PerClass, Split, csbm, from_graphs


@pytest.fixture
def graphs():
    found = []
    for seed in range(12):
        graph = csbm(10 + seed, 20, num_features=3, seed=seed)
        found.append(Data(x=graph.x, edge_index=graph.edge_index, y=torch.tensor([seed % 3])))
    return found


def test_graphs_with_classes_and_a_split(graphs):
    found = from_graphs(graphs, split=PerClass(1, 1), name="mine", metric="accuracy")
    assert isinstance(found, GraphList)
    assert (len(found), found.num_features, found.num_classes, found.num_outputs) == (12, 3, 3, 3)
    assert found.y.tolist() == [0, 1, 2] * 4
    assert [int(mask.sum()) for mask in found.splits[0]] == [3, 3, 6]
    assert found.train_mask is found.splits[0].train
    assert [graph.num_nodes for graph in found[:2]] == [10, 11]
    assert repr(found) == "GraphList('mine', 12 graphs, num_features=3, num_outputs=3)"
    assert graphs[0].y.tolist() == [0]  # those of the user are as before
    assert not hasattr(graphs[0], "graph")


def test_pyg_makes_batches_of_them_with_one_component_per_graph(graphs):
    batch = next(iter(DataLoader(list(from_graphs(graphs)), batch_size=5)))
    assert batch.y.tolist() == [0, 1, 2, 0, 1]
    assert batch.graph.num_components == 5


def test_numbers_labels_and_no_targets(graphs):
    for graph in graphs:
        graph.y = 0.5
    numbers = from_graphs(graphs, split=Fractions(0.5, 0.25))
    assert (numbers.num_outputs, int(numbers.train_mask.sum())) == (1, 6)
    with pytest.raises(AttributeError, match="not classes; see num_outputs"):
        _ = numbers.num_classes
    with pytest.raises(DataError, match="targets are numbers; use Fractions"):
        from_graphs(graphs, split=PerClass(1, 1))
    for graph in graphs:
        graph.y = torch.tensor([[1, 0]])
    assert from_graphs(graphs).num_outputs == 2
    for graph in graphs:
        del graph.y
    bare = from_graphs(graphs)
    assert bare.y is None
    for use in (lambda: bare.num_outputs, lambda: from_graphs(graphs, split=Fractions())):
        with pytest.raises(DataError, match="has no targets y"):
            use()


def test_features_are_made_with_the_same_columns_for_all(graphs):
    for graph in graphs:
        graph.num_nodes = len(graph.x)
        del graph.x
    with pytest.raises(DataError, match=r"graph 0 of graphs has no features.*features='degree'"):
        from_graphs(graphs)
    assert from_graphs(graphs, features="degree").num_features == 64
    assert from_graphs(graphs, features="laplacian")[3].x.shape == (13, 16)
    with pytest.raises(DataError, match=r"each graph has other nodes; use features='degree'"):
        from_graphs(graphs, features="one_hot")


def change(number, **values):
    def apply(graphs):
        for key, value in values.items():
            graphs[number][key] = value

    return apply


WRONG = {
    r"graph 4 of graphs has no y, but others have": change(4, y=None),
    r"the y of graph 2 of graphs has shape \(12,\).*one target for the graph": change(
        2, y=torch.zeros(12, dtype=torch.long)
    ),
    r"graph 7 of graphs has 5 features, graph 0 has 3": change(7, x=torch.ones(17, 5)),
    r"graph 1 of graphs: the graph is directed.*symmetrize=True": change(
        1, edge_index=torch.tensor([[0], [1]])
    ),
    r"the features of graph 3 of graphs holds nan in row 0": change(
        3, x=torch.full((13, 3), torch.nan)
    ),
    "graphs holds no graph": lambda graphs: graphs.clear(),
}


@pytest.mark.parametrize("message", WRONG)
def test_every_graph_is_checked(message, graphs):
    WRONG[message](graphs)
    with pytest.raises(DataError, match=message):
        from_graphs(graphs)


def test_masks_of_ones_own_are_checked(graphs):
    masks = torch.arange(12) % 3
    split = Split(masks == 0, masks == 1, masks == 2)
    found = from_graphs(graphs, split=[split, Split(split.val, split.train, split.test)])
    assert found.splits[1].val.equal(split.train)
    with pytest.raises(DataError, match="split 0 of graphs: node 0 is in train and in val"):
        from_graphs(graphs, split=Split(split.train, split.train, split.test))
    with pytest.raises(DataError, match="an empty list of splits"):
        from_graphs(graphs, split=[])


def test_what_is_no_list_is_refused():
    with pytest.raises(DataError, match="graphs is 3, expected a list of graphs"):
        from_graphs(3)
