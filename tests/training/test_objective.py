import pytest
import torch
from torch.nn import functional as F

from graphsct import DataError, ModelError
from graphsct.training.objective import Objective

NAN = torch.nan
USED = torch.ones(3, dtype=torch.bool)


def test_losses():
    scores = torch.randn(3, 2, generator=torch.Generator().manual_seed(0))
    classes = torch.tensor([0, 1, 1])
    assert torch.equal(
        Objective.of(classes).loss(scores, classes), F.cross_entropy(scores, classes)
    )
    labels = torch.tensor([[0.0, 1.0], [NAN, 1.0], [1.0, 0.0]])
    each = F.softplus(scores) - scores * labels
    assert Objective.of(labels).loss(scores, labels).item() == pytest.approx(
        each[~labels.isnan()].mean().item()
    )
    numbers = torch.tensor([[0.5, 1.0], [NAN, 2.0], [1.0, 0.0]], dtype=torch.float64)
    each = (scores - numbers).square()
    assert Objective.of(numbers).loss(scores, numbers).item() == pytest.approx(
        each[~numbers.isnan()].mean().item()
    )


def test_one_number_may_have_either_shape():
    scores, y = torch.tensor([[1.0], [2.0], [4.0]]), torch.tensor([1.0, 2.5, 3.0])
    flat, column = Objective.of(y), Objective.of(y.view(-1, 1))
    assert flat == column
    assert torch.equal(flat.loss(scores, y), column.loss(scores, y.view(-1, 1)))
    assert torch.equal(flat.score(scores, y), column.score(scores, y.view(-1, 1)))


@pytest.mark.parametrize(
    ("y", "scores", "error", "message"),
    [
        (torch.tensor([0, 1, 1]), None, ModelError, r"returned NoneType, .* \(3, classes\)"),
        (torch.tensor([0, 1, 1]), torch.zeros(3), ModelError, r"returned \(3,\), expected"),
        (
            torch.tensor([0, 1, 5]),
            torch.zeros(3, 2),
            DataError,
            "the label 5 of node 2 is not among",
        ),
        (torch.tensor([0.0, 1.5, 5]), torch.zeros(3), ModelError, r"scores of shape \(3, 1\)"),
        (
            torch.tensor([0.0, 1.5, 5]),
            torch.zeros(3, 2),
            ModelError,
            "2 outputs, but toy has 1 numbers to predict; build it with out_channels=1",
        ),
    ],
)
def test_scores_that_do_not_fit(y, scores, error, message):
    with pytest.raises(error, match=message):
        Objective.of(y).check_scores(scores, y, USED, "toy")
