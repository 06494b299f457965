import pytest
import torch
from torch.testing import assert_close

from graphsct import ModelError
from graphsct.nn.row_norms import ContraNorm, NodeNorm, PairNormSCS

CLOSE = dict(rtol=1e-5, atol=1e-5)


def test_pair_norm_scales_rows_and_subtracts_the_mean(x):
    rows = [3 * row / row.norm() - x.mean(0) for row in x]
    assert_close(PairNormSCS(3.0)(x), torch.stack(rows), **CLOSE)


@pytest.mark.parametrize("power", [1.0, 2.0, 3.0])
def test_node_norm_divides_by_a_root_of_the_deviation(x, power):
    rows = [row / ((row - row.mean()).square().mean().sqrt() ** (1 / power)) for row in x]
    assert_close(NodeNorm(power)(x), torch.stack(rows), rtol=1e-4, atol=1e-4)


def test_contra_norm_moves_rows_away_from_those_alike(x):
    expected = []
    for row in x:
        alike = torch.stack([torch.cosine_similarity(row, other, dim=0) for other in x]).exp()
        expected.append(1.5 * row - 0.5 * (alike / alike.sum()) @ x)
    assert_close(ContraNorm(0.5)(x), torch.stack(expected), **CLOSE)


def test_rows_of_zeros_stay_finite():
    x = torch.zeros(3, 4, requires_grad=True)
    for norm in (PairNormSCS(), NodeNorm(), ContraNorm()):
        norm(x).sum().backward()
        assert x.grad.isfinite().all()


def test_numbers_are_checked_and_shown():
    assert [repr(make()) for make in (PairNormSCS, NodeNorm, ContraNorm)] == [
        "PairNormSCS(scale=1)",
        "NodeNorm(power=2)",
        "ContraNorm(scale=0.5)",
    ]
    with pytest.raises(ModelError, match="power is 0, expected a number above 0"):
        NodeNorm(0)
