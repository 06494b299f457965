import pytest
import torch
from torch_geometric.data import Data

from graphsct import DataError
from graphsct.datasets import from_data

EDGES = torch.tensor([[2, 0, 1, 1], [1, 1, 0, 2]])


def data(attr, edges=EDGES, **more):
    return Data(edge_index=edges, edge_attr=attr, num_nodes=3, **more)


def test_attributes_follow_their_edges_and_the_user_is_told():
    attr = torch.tensor([[2.0, 1], [0, 1], [1, 0], [1, 2]])  # the two ends of each edge
    with pytest.warns(UserWarning, match="edge_attr has 2 columns, which only models that take"):
        found = from_data(data(attr, edge_type=torch.arange(4)))
    assert found.edge_attr.equal(found.edge_index.t().float())
    assert found.edge_type.tolist() == [1, 2, 3, 0]


def test_an_added_reverse_has_the_attributes_of_its_edge():
    with pytest.warns(UserWarning):
        found = from_data(data(torch.eye(2), EDGES[:, :2]), symmetrize=True)
    assert found.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert found.edge_attr.argmax(1).tolist() == [1, 1, 0, 0]


@pytest.mark.parametrize("shape", [(4,), (4, 1)])
def test_what_may_be_weights_is_refused_until_the_user_decides(shape):
    attr = torch.tensor([3.0, 2, 2, 3]).reshape(shape)
    with pytest.raises(DataError, match=r"data.edge_weight = data.edge_attr.view\(-1\); if not"):
        from_data(data(attr))
    weighted = from_data(data(attr, edge_weight=attr.view(-1)))
    assert weighted.edge_weight.tolist() == weighted.edge_attr.view(-1).tolist() == [2, 2, 3, 3]
    plain = from_data(data(attr, edge_weight=torch.ones(4)))
    assert plain.graph.degree.tolist() == [2, 3, 2]
    assert plain.edge_attr.shape == shape


@pytest.mark.parametrize("attr", [torch.ones(4, 1), torch.tensor([1.0, -1, -1, 1])])
def test_a_column_that_cannot_be_weights_is_kept(attr):
    assert from_data(data(attr)).edge_attr.shape == attr.shape


def test_an_edge_with_two_attributes_is_refused():
    twice = torch.cat([EDGES, EDGES[:, :1]], dim=1)
    with pytest.raises(DataError, match=r"lists the edge \[2, 1\] twice.*coalesce"):
        from_data(data(torch.tensor([1.0, -1, -1, 1, 0]), twice))
