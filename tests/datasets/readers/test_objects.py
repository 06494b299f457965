import networkx as nx
import numpy as np
import pytest
import torch
from torch_geometric.data import Data, InMemoryDataset
from torch_geometric.transforms import ToSparseTensor

from graphsct import DataError
from graphsct.datasets import Fractions, PerClass, Split, csbm, from_data, from_networkx


def test_a_pyg_data_comes_through_whole():
    source = csbm(60, 150, num_classes=3)
    data = from_data(source)
    assert data.graph.num_edges == 150
    assert data is not source
    for key in ("edge_index", "x", "y", "train_mask", "test_mask"):
        assert data[key].equal(source[key])


def test_all_splits_come_through():
    source = csbm(60, 150)
    source.splits = [source.splits[0], PerClass(5, 5).draw(source.y)]
    data = from_data(source)
    assert len(data.splits) == 2
    assert data.splits[1].train.equal(source.splits[1].train)


def test_sparse_features_columns_of_masks_and_weights_of_a_data():
    masks = torch.eye(4, dtype=torch.bool)
    x = torch.zeros(4, 50)
    x[1, 3] = 2
    source = Data(
        x=x.to_sparse_csr(),
        y=torch.tensor([[5], [5], [9], [9]]),
        edge_index=torch.tensor([[0, 1, 1, 2, 2, 2], [1, 0, 2, 1, 2, 2]]),
        edge_weight=torch.tensor([1.0, 1, 3, 3, 2, 2]),
        train_mask=(masks[0] | masks[2])[:, None].repeat(1, 2),
        val_mask=masks[:, [1, 3]],
        test_mask=masks[:, [3, 1]],
    )
    with pytest.raises(DataError, match="split 0 of data: node 0 is in train and in val"):
        from_data(Data(**{**source.to_dict(), "val_mask": masks[:, :2]}))
    data = from_data(source)
    assert len(data.splits) == 2
    assert data.class_names == [5, 9]
    assert data.x.equal(x)
    assert data.edge_index.tolist() == [[0, 1, 1, 2, 2], [1, 0, 2, 1, 2]]
    assert data.edge_weight.tolist() == [1, 1, 3, 3, 4]
    own = Split(masks[0] | masks[2], masks[1], masks[3])
    assert from_data(source, split=own).train_mask.equal(own.train)


@pytest.fixture
def source():
    data = csbm(60, 150, num_classes=3, num_features=40)
    keys = ("x", "y", "edge_index", "train_mask", "val_mask", "test_mask")
    return Data(**{key: data[key] for key in keys})


FORMS = {
    "y (n, 1)": lambda data: {"y": data.y[:, None]},
    "y int32": lambda data: {"y": data.y.int()},
    "y list": lambda data: {"y": data.y.tolist()},
    "masks of indices": lambda data: {"train_mask": data.train_mask.nonzero()[:, 0]},
    "masks of lists": lambda data: {"val_mask": data.val_mask.nonzero()[:, 0].tolist()},
    "masks uint8": lambda data: {"test_mask": data.test_mask.to(torch.uint8)},
    "x array": lambda data: {"x": data.x.numpy()},
    "x csr": lambda data: {"x": data.x.to_sparse_csr()},
    "x coo": lambda data: {"x": data.x.to_sparse_coo()},
    "x csc": lambda data: {"x": data.x.to_sparse_csc()},
    "x double": lambda data: {"x": data.x.double()},
}


@pytest.mark.parametrize("form", FORMS)
def test_the_same_data_from_every_form(form, source):
    expected = from_data(source)
    for key, value in FORMS[form](source).items():
        source[key] = value
    found = from_data(source)
    for key in ("x", "y", "edge_index", "train_mask", "val_mask", "test_mask"):
        assert found[key].equal(expected[key])


@pytest.mark.parametrize("layout", [torch.sparse_csr, torch.sparse_coo])
@pytest.mark.parametrize("weighted", [False, True])
def test_adj_t_instead_of_edge_index(layout, weighted, source):
    if weighted:
        source.edge_weight = 1.0 + (source.edge_index.sum(0) % 3)
    expected = from_data(source)
    found = from_data(ToSparseTensor(layout=layout)(source.clone()))
    assert found.edge_index.equal(expected.edge_index)
    assert (found.edge_weight is not None) is weighted
    assert not weighted or found.edge_weight.equal(expected.edge_weight)
    assert found.graph.degree.equal(expected.graph.degree)


def test_datasets_of_one_graph_and_of_many(source):
    class Own(InMemoryDataset):
        def __init__(self, graphs):
            super().__init__()
            self.data, self.slices = self.collate(graphs)

    assert from_data(Own([source])).y.equal(source.y)
    assert from_data([source]).y.equal(source.y)
    with pytest.raises(DataError, match=r"holds 2 graphs; take one .*from_graphs\(data\)"):
        from_data(Own([source, source]))


def test_targets_that_are_not_classes(source):
    source.y = torch.rand(60, dtype=torch.float64)
    numbers = from_data(source)
    assert (numbers.num_outputs, numbers.y.dtype) == (1, torch.float32)
    assert not hasattr(numbers, "num_classes")
    source.y = (torch.rand(60, 4) > 0.5).long()
    labels = from_data(source, split=Fractions(0.5, 0.25))
    assert labels.num_outputs == 4
    source.y[0, 0] = 7
    with pytest.raises(DataError, match=r"data.y has 4 columns of whole numbers"):
        from_data(source)
    source.y = torch.full((60,), torch.inf)
    with pytest.raises(DataError, match=r"data.y holds infinite numbers"):
        from_data(source)


def test_other_attributes_are_kept_and_a_missing_mask_is_named(source):
    source.pos, source.origin, source.split = torch.rand(60, 2), "here", "random"
    found = from_data(source)
    assert found.pos is source.pos
    assert (found.origin, found.split) == ("here", "random")
    del source.val_mask
    with pytest.raises(DataError, match=r"data has other masks, but no val_mask.*Fractions"):
        from_data(source)
    assert from_data(source, split=Fractions()).val_mask.any()
    with pytest.raises(DataError, match="neither edge_index nor adj_t"):
        from_data(Data(x=torch.ones(2, 2)))


@pytest.mark.parametrize(
    "bad", ["word", object(), [[1.0], [1.0, 2.0]], torch.ones(2, device="meta")]
)
@pytest.mark.parametrize("part", ["x", "y"])
def test_features_and_targets_without_numbers_are_named(bad, part):
    data = Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=2)
    data[part] = bad
    with pytest.raises(DataError, match=rf"data\.{part} is a {type(bad).__name__} without numbers"):
        from_data(data)


@pytest.mark.parametrize("part", ["x", "y"])
def test_a_single_number_is_no_table(part):
    known = {"num_nodes": 2} if part == "y" else {}
    data = Data(edge_index=torch.tensor([[0, 1], [1, 0]]), **known)
    data[part] = torch.tensor(1)
    with pytest.raises(DataError, match=r"number of nodes|expected a tensor of shape"):
        from_data(data)


def test_masks_may_be_sparse_or_have_a_gradient_and_must_have_values():
    edges = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    data = Data(edge_index=edges, y=torch.tensor([0, 1, 0]), num_nodes=3)
    for node, part in enumerate(("train_mask", "val_mask", "test_mask")):
        data[part] = (torch.arange(3) == node).to_sparse()
    assert from_data(data).val_mask.tolist() == [False, True, False]
    data.val_mask = torch.ones(3, requires_grad=True)
    with pytest.raises(
        DataError, match=r"data\.val_mask: an array of float32 .*neither a mask nor"
    ):
        from_data(data)
    data.val_mask = torch.ones(3, dtype=torch.bool, device="meta")
    with pytest.raises(DataError, match=r"data\.val_mask is a Tensor without numbers"):
        from_data(data)


def test_bfloat16_features_become_float32():
    data = Data(edge_index=torch.tensor([[0, 1], [1, 0]]), x=torch.ones(2, 1).bfloat16())
    assert from_data(data).x.dtype == torch.float32


def test_a_directed_data_is_refused_or_made_symmetric():
    source = Data(edge_index=torch.tensor([[0, 1], [1, 2]]), num_nodes=3)
    with pytest.raises(DataError, match=r"mine: the graph is directed: 2 edges.*symmetrize=True"):
        from_data(source, name="mine")
    assert from_data(source, symmetrize=True).graph.num_edges == 2
    source.x = torch.ones(4, 2)
    with pytest.raises(DataError, match=r"the features of data has shape \(4, 2\)"):
        from_data(source, symmetrize=True)


def test_a_networkx_graph_with_its_attributes():
    source = nx.karate_club_graph()
    for node in source:
        source.nodes[node]["x"] = [float(node), 1.0]
    source.add_edge(3, 3, weight=1)
    data = from_networkx(source, features="x", label="club", split=PerClass(2, 2))
    assert data.node_ids == list(source)
    assert data.class_names == ["Mr. Hi", "Officer"]
    assert data.x[5].tolist() == [5, 1]
    assert data.graph.num_edges == 78
    assert int((data.edge_index[0] == data.edge_index[1]).sum()) == 1
    weighted = from_networkx(source, weight="weight")
    assert weighted.graph.degree[0] == 1 + sum(w for _, _, w in source.edges(0, data="weight"))


@pytest.mark.parametrize(
    "of", [np.array, torch.tensor, tuple, lambda row: torch.tensor(row, requires_grad=True)]
)
def test_features_of_a_networkx_graph_may_be_arrays_and_tensors(of):
    source = nx.path_graph(2)
    nx.set_node_attributes(source, {0: of([1.0, 2.0]), 1: of([3.0, 4.0])}, "f")
    assert from_networkx(source, features="f").x.tolist() == [[1, 2], [3, 4]]
    nx.set_node_attributes(source, {1: of([[3.0]])}, "f")
    with pytest.raises(DataError, match=r"'f' of the node 1 is .*, expected 2 numbers") as caught:
        from_networkx(source, features="f")
    assert "\n" not in str(caught.value)


def test_one_number_is_one_feature_and_a_word_is_none():
    source = nx.path_graph(2)
    nx.set_node_attributes(source, {0: 1, 1: 2.5}, "f")
    assert from_networkx(source, features="f").x.tolist() == [[1], [2.5]]
    with pytest.raises(DataError, match="'g' of the node 0 is None, expected numbers"):
        from_networkx(source, features="g")
    source.nodes[0]["f"] = "one"
    with pytest.raises(DataError, match="'f' of the node 0 is 'one', expected numbers"):
        from_networkx(source, features="f")


def test_what_a_networkx_graph_lacks_is_named():
    source = nx.path_graph(["a", "b", "c"])
    nx.set_node_attributes(source, {"a": [1.0, 2.0], "b": [1.0]}, "x")
    with pytest.raises(DataError, match=r"'x' of the node 'b' is \[1.0\], expected 2 numbers"):
        from_networkx(source, features="x")
    with pytest.raises(DataError, match="has no label at all"):
        from_networkx(source, label="y")
    nx.set_node_attributes(source, {"a": 0, "c": 1}, "y")
    assert from_networkx(source, label="y").y.tolist() == [0, -1, 1]
    with pytest.raises(DataError, match="directed"):
        from_networkx(nx.DiGraph([(0, 1)]))
    with pytest.raises(DataError, match="got dict"):
        from_networkx({})
