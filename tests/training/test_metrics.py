import pytest
import torch

from graphsct import TrainingError
from graphsct.training.metrics import METRICS, choose_metric, unequal_classes

NAN = torch.nan
# Scores of six nodes, and their classes: five are right, class 0 has four nodes.
SCORES = torch.tensor([[3.0, 0, 0], [2, 1, 0], [1, 2, 0], [5, 0, 1], [0, 4, 1], [0, 1, 2]])
CLASSES = torch.tensor([0, 0, 0, 0, 1, 2])


def value(name, scores, y):
    return METRICS[name].compute(scores, y).item()


def test_accuracies():
    assert value("accuracy", SCORES, CLASSES) == 5 / 6
    assert value("balanced_accuracy", SCORES, CLASSES) == pytest.approx((3 / 4 + 1 + 1) / 3)
    # A class that no node has does not count, though it is predicted.
    assert value("balanced_accuracy", SCORES[:4], CLASSES[:4]) == 3 / 4
    assert value("f1_macro", SCORES, CLASSES) == pytest.approx((6 / 7 + 2 / 3 + 1) / 3)


def test_ranks_of_two_classes():
    scores = torch.tensor([[0.0, 0.1], [0, 0.4], [0, 0.35], [0, 0.8]])
    y = torch.tensor([0, 0, 1, 1])
    assert value("roc_auc", scores, y) == 0.75
    assert value("average_precision", scores, y) == pytest.approx((1 + 2 / 3) / 2)
    # Large scores are compared as they are: nothing is squashed to a tie.
    assert value("roc_auc", 1e3 * scores, y) == 0.75


def test_ranks_of_more_classes_are_means_over_those_that_are_there():
    shares = SCORES.softmax(1)
    expected = []
    for c in range(3):
        yes, no = shares[c == CLASSES, c], shares[c != CLASSES, c]
        better = (yes[:, None] > no).double() + (yes[:, None] == no).double() / 2
        expected.append(better.mean().item())
    assert value("roc_auc", SCORES, CLASSES) == pytest.approx(sum(expected) / 3)
    part = CLASSES < 2
    binary = value("roc_auc", SCORES[part], CLASSES[part])
    assert binary == 1.0  # the node of class 1 has the largest share of it


def test_labels():
    y = torch.tensor([[1.0, 0], [0, 1], [1, NAN], [0, NAN]])
    scores = torch.tensor([[2.0, -1], [1, 1], [3, 5], [-1, 5]])
    assert value("accuracy", scores, y) == 5 / 6
    assert value("roc_auc", scores, y) == 1.0
    assert value("average_precision", scores, y) == 1.0
    assert value("f1_macro", scores, y) == pytest.approx((0.8 + 1) / 2)
    # A label that all have says nothing about ranks.
    one_sided = torch.cat([y, torch.ones(4, 1)], dim=1)
    assert value("roc_auc", torch.cat([scores, scores[:, :1]], dim=1), one_sided) == 1.0


@pytest.mark.parametrize("shape", [(4,), (4, 1)])
def test_numbers(shape):
    y, scores = torch.tensor([1.0, 2, 3, NAN]), torch.tensor([[1.0], [2], [5], [9]])
    y = y.view(shape)
    assert value("mse", scores, y) == pytest.approx(4 / 3)
    assert value("mae", scores, y) == pytest.approx(2 / 3)
    assert value("r2", scores, y) == pytest.approx(1 - 4 / 2)


def test_several_numbers_have_the_mean_r2():
    y = torch.tensor([[1.0, 0.5], [2, 0.5], [3, 1]])
    assert value("r2", y.clone(), y) == 1.0
    off = y.clone()
    off[:, 0] = 2.0
    assert value("r2", off, y) == pytest.approx((0 + 1) / 2)


def test_the_metric_of_a_kind():
    kinds = ("classes", "labels", "numbers")
    assert [choose_metric(None, k).name for k in kinds] == ["accuracy", "average_precision", "r2"]
    assert choose_metric("mae", "numbers").larger is False
    with pytest.raises(TrainingError, match="there is no metric 'roc', did you mean 'roc_auc'"):
        choose_metric("roc", "classes")
    with pytest.raises(
        TrainingError, match=r"the metric r2 is not for classes, .* use accuracy, ba"
    ):
        choose_metric("r2", "classes")


@pytest.mark.parametrize(
    ("y", "fits"),
    [
        (torch.tensor([0, 0, 0]), False),
        (torch.tensor([2, 2, 2]), False),
        (torch.tensor([0, 2, 2]), True),
        (torch.tensor([[1.0, NAN], [1.0, 0.0]]), False),
        (torch.tensor([[1.0, 1.0], [1.0, 0.0]]), True),
    ],
)
def test_ranks_need_two_answers(y, fits):
    METRICS["accuracy"].check(y, "the val nodes")
    if fits:
        METRICS["roc_auc"].check(y, "the val nodes")
        return
    with pytest.raises(
        TrainingError, match=r"roc_auc compares .* those of the val nodes are all the same"
    ):
        METRICS["roc_auc"].check(y, "the val nodes")


def test_values_are_shown_in_their_unit():
    accuracy, mae = METRICS["accuracy"], METRICS["mae"]
    assert (accuracy.heading, mae.heading) == ("accuracy, %", "MAE")
    assert accuracy.show([0.5, 0.7]) == "60.0 ± 14.1"
    assert accuracy.show([-0.0151], sign="+") == "-1.5"
    assert mae.show([0.5, 0.7]) == "0.600 ± 0.141"


def test_two_unequal_classes():
    assert unequal_classes(torch.tensor([1] * 8 + [0] * 2 + [-1])) == pytest.approx(0.8)
    assert unequal_classes(torch.tensor([0, 1, 1, 0, -1])) is None
    assert unequal_classes(torch.tensor([0] * 8 + [1, 2])) is None
    assert unequal_classes(torch.tensor([0.5, 0.5])) is None
