import math
from dataclasses import fields

import pytest
import torch

from graphsct import DataError, ModelError, datasets
from graphsct.nn import GCN
from graphsct.training import TrainConfig, fit
from graphsct.training.data import SplitData, TrainingData


@pytest.fixture
def data():
    return datasets.demo()


def edit(data, name, change):
    value = getattr(data, name).clone()
    change(value)
    setattr(data, name, value)
    return data


def empty(mask):
    mask[:] = False


@pytest.mark.parametrize("part", ["train", "val", "test"])
def test_an_empty_mask_is_refused(data, part):
    with pytest.raises(DataError, match=f"no node is in {part}"):
        SplitData.of(edit(data, f"{part}_mask", empty))


def test_masks_that_overlap_are_refused(data):
    node = int(data.test_mask.nonzero()[0])

    def put(mask):
        mask[node] = True

    with pytest.raises(DataError, match=f"node {node} is in train and in test"):
        SplitData.of(edit(data, "train_mask", put))


def test_labels_outside_the_classes_are_refused(data):
    node = int(data.val_mask.nonzero()[0])

    def put(y):
        y[node] = 3

    model = GCN(16, 8, 3, 2)
    with pytest.raises(DataError, match=f"label 3 of node {node} .*classes 0 .. 2.*=4"):
        fit(model, edit(data, "y", put), TrainConfig(epochs=1))


def test_a_masked_node_without_a_label_is_refused(data):
    node = int(data.val_mask.nonzero()[0])

    def put(y):
        y[node] = -1

    with pytest.raises(DataError, match=f"node {node} is in val but has no label"):
        SplitData.of(edit(data, "y", put))


@pytest.mark.parametrize("value", [math.nan, math.inf])
@pytest.mark.parametrize("sparse", [False, True])
def test_features_that_are_not_finite_are_named(data, value, sparse):
    def put(x):
        x[7, 3] = value
        x[9, 1] = value

    edit(data, "x", put)
    if sparse:
        data.x = data.x.to_sparse_csr()
    with pytest.raises(
        DataError, match=f"feature 3 of node 7 is {value} .values that are not finite: 2"
    ):
        SplitData.of(data)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("x", None, "features x are NoneType"),
        ("x", torch.ones(300, 16, dtype=torch.long), "features x are torch.int64"),
        ("x", torch.tensor(1.0), r"features x are torch.float32 \(\), expected"),
        ("x", torch.ones(300, 16, device="meta"), "features x are on 'meta'"),
        ("x", torch.ones(299, 16), "features of 299 nodes, but labels of 300"),
        ("y", None, r"y is NoneType, expected a tensor of shape \(n,\)"),
        ("y", torch.full((300,), torch.inf), "infinite"),
        ("train_mask", torch.tensor([1, 2]), "the train mask is torch.int64"),
        ("val_mask", None, "the val mask is NoneType"),
        ("train_mask", torch.ones(3, dtype=torch.bool), r"train mask has shape \(3,\)"),
        ("train_mask", torch.ones(300, 10, dtype=torch.bool), "has 10 splits; choose one"),
    ],
)
def test_parts_that_are_missing_or_wrong(data, name, value, message):
    setattr(data, name, value)
    with pytest.raises(DataError, match=message):
        SplitData.of(data)


def test_no_edges(data):
    data.graph = data.edge_index = None
    with pytest.raises(DataError, match="neither a graph nor an edge_index"):
        SplitData.of(data)


def test_splits_by_number_and_by_mask(data):
    other = datasets.PerClass(train=5, val=5, seed=1).draw(data.y)
    data.splits = [*data.splits, other]
    assert SplitData.of(data, 1).split is other
    assert SplitData.of(data, other).split == other
    with pytest.raises(DataError, match="has 2 splits; split 2 is not among them"):
        SplitData.of(data, 2)
    data.splits = [data.splits[0], other._replace(test=torch.zeros_like(other.test))]
    with pytest.raises(DataError, match=r"split 1 of demo .*no node is in test"):
        SplitData.of(data, 1)


def test_masks_with_a_column_for_each_split(data):
    for part in ("train", "val", "test"):
        mask = getattr(data, f"{part}_mask")
        setattr(data, f"{part}_mask", torch.stack([torch.zeros_like(mask), mask], dim=1))
    data.splits = None
    problem = SplitData.of(data, 1)
    assert torch.equal(problem.split.train, data.train_mask[:, 1])
    with pytest.raises(DataError, match="has 2 numbered splits; split 5 is not among them"):
        SplitData.of(data, 5)


class Wrong(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(16, 3)

    def forward(self, x, edge_index):
        return self.linear(x).mean(0)


def test_an_output_that_is_no_scores_is_refused(data):
    with pytest.raises(ModelError, match=r"the model returned \(3,\), expected .*\(300, classes\)"):
        fit(Wrong(), data)


def test_plain_gives_what_any_model_takes(data):
    data.edge_weight = torch.ones(data.edge_index.shape[1])
    assert SplitData.of(data).edges == (data.graph,)
    edges = SplitData.of(data, model=torch.nn.Linear(16, 3)).edges
    assert edges[0] is data.edge_index
    assert edges[1] is data.edge_weight


def test_a_blind_problem_has_no_test_nodes_and_no_labels_but_those_that_are_used(data):
    problem = SplitData.of(data)
    blind = problem.blind()
    assert type(blind) is TrainingData
    assert {field.name for field in fields(blind)} == {
        *("x", "edges", "y", "train", "val", "name", "inputs", "objective", "autocast")
    }
    assert blind.inputs == ()
    seen = data.train_mask | data.val_mask
    assert torch.equal(blind.y[seen], data.y[seen])
    assert bool((blind.y[~seen] == -1).all())
    blind.check_scores(torch.zeros(len(data.y), data.num_classes))
    with pytest.raises(DataError, match="build it with out_channels"):
        blind.check_scores(torch.zeros(len(data.y), 1))
