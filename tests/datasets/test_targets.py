import pytest
import torch

from graphsct.datasets.targets import check_targets, kind_of, labelled, num_outputs
from graphsct.errors import DataError

NAN = torch.nan


@pytest.mark.parametrize(
    ("y", "kind", "outputs"),
    [
        (torch.tensor([0, 2, -1]), "classes", 3),
        (torch.tensor([[0], [2], [1]], dtype=torch.int32), "classes", 3),
        (torch.tensor([True, False, True]), "classes", 2),
        (torch.tensor([[0, 1], [1, 1], [0, 0]]), "labels", 2),
        (torch.tensor([[True, False], [True, True], [False, False]]), "labels", 2),
        (torch.tensor([[0.0, NAN], [1.0, 1.0], [0.0, 0.0]]), "labels", 2),
        (torch.tensor([[0.0], [1.0], [1.0]]), "labels", 1),
        (torch.tensor([0.0, 1.0, 1.0]), "numbers", 1),
        (torch.tensor([[0.5], [1.0], [NAN]]), "numbers", 1),
        (torch.tensor([[0.5, 2], [1, 3], [7, 7]], dtype=torch.float64), "numbers", 2),
    ],
)
def test_kinds(y, kind, outputs):
    found = check_targets(y, 3)
    assert kind_of(found) == kind
    assert num_outputs(found) == outputs
    assert torch.equal(check_targets(found).nan_to_num(), found.nan_to_num())
    if kind == "classes":
        assert found.dtype == torch.long and found.shape == (3,)


def test_labelled():
    assert labelled(torch.tensor([0, -1])).tolist() == [True, False]
    assert labelled(torch.tensor([0.5, NAN])).tolist() == [True, False]
    assert labelled(torch.tensor([[1.0, NAN], [NAN, NAN]])).tolist() == [True, False]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0, 1, 2], r"y is list, expected a tensor of shape \(n,\)"),
        (torch.zeros(3, 1, 1), r"y is torch.float32 \(3, 1, 1\), expected"),
        (torch.zeros(2), "y has 2 rows, expected 3"),
        (torch.tensor([0.0, NAN, torch.inf]), "infinite"),
        (torch.full((3,), NAN), "nothing but NaN"),
        (torch.tensor([[0, 1], [2, 1], [0, 0]]), "2 columns of whole numbers"),
        (torch.tensor([-3, 0, 1]), "y runs from -3 to 1; classes are 0, 1"),
        (torch.tensor([-1, -1, -1]), "y runs from -1 to -1"),
    ],
)
def test_wrong_targets(y, message):
    with pytest.raises(DataError, match=message):
        check_targets(y, 3)


@pytest.mark.parametrize(
    "y", [torch.eye(3).to_sparse_csr(), torch.ones(3, device="meta"), torch.ones(3, 0)]
)
def test_targets_without_values_are_refused(y):
    with pytest.raises(
        DataError, match=r"y is a torch\.\w+ tensor of shape .*, expected a dense one"
    ):
        check_targets(y)
