import math

import pytest
import torch
from torch.autograd import gradcheck
from torch_geometric.nn import DiffGroupNorm

from graphsct import GraphError
from graphsct.smoothness import group_distance_ratio


@pytest.fixture
def x():
    return torch.randn(9, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))


Y = torch.tensor([0, 2, 1, 0, 0, 2, 1, 1, 2])


def by_loops(x, y):
    """The equation, pair by pair."""
    classes = y.unique().tolist()

    def mean(i, j):
        distances = [(v - w).norm() for v in x[y == i] for w in x[y == j]]
        return sum(distances) / len(distances)

    between = sum(mean(i, j) for i in classes for j in classes if i != j)
    inside = sum(mean(i, i) for i in classes)
    return (between / (len(classes) - 1) ** 2 / (inside / len(classes))).item()


@pytest.mark.parametrize("y", [Y, Y + 5, torch.tensor([0, 0, 0, 0, 0, 1, 1, 2, 2]), Y % 2])
def test_it_is_the_equation(x, y):
    assert group_distance_ratio(x, y).item() == pytest.approx(by_loops(x, y))
    assert gradcheck(lambda x: group_distance_ratio(x, y), x.requires_grad_())


def test_two_classes_have_the_value_of_pytorch_geometric(x):
    theirs = DiffGroupNorm.group_distance_ratio(x, Y % 2, eps=0)
    assert group_distance_ratio(x, Y % 2).item() == pytest.approx(theirs)


def test_three_classes_of_one_size_have_twice_the_value_of_pytorch_geometric(x):
    theirs = DiffGroupNorm.group_distance_ratio(x, Y, eps=0)
    assert group_distance_ratio(x, Y).item() == pytest.approx(2 * theirs)


def test_collapsed_features():
    points = torch.tensor([[0.0], [0.0], [1.0], [1.0]])
    y = torch.tensor([0, 0, 1, 1])
    assert group_distance_ratio(points, y).item() == math.inf
    equal = torch.full((4, 2), 0.1, requires_grad=True)
    ratio = group_distance_ratio(equal, y)
    assert ratio == 1
    ratio.backward()
    assert equal.grad.isfinite().all()


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (torch.zeros(9).long(), "y has 1 class, expected two or more"),
        (torch.zeros(9), r"y is torch.float32 \(9,\), expected a torch.int64 tensor \(9,\)"),
        (torch.zeros(8).long(), r"y is torch.int64 \(8,\), expected"),
        ("classes", "y is 'classes', expected"),
    ],
)
def test_bad_classes_are_named(x, y, message):
    with pytest.raises(GraphError, match=message):
        group_distance_ratio(x, y)


def test_bad_features_are_named(x):
    x[3, 1] = torch.nan
    with pytest.raises(GraphError, match=r"x\[3, 1\] is nan"):
        group_distance_ratio(x, Y)
