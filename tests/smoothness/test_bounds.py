import math

import pytest
import torch
from torch.autograd import gradcheck
from torch.testing import assert_close

from graphsct import smoothness


def test_equivalence_constants_are_the_dense_eigenvalue(graph, dense):
    lower, upper = smoothness.equivalence_constants(graph)
    assert upper == math.sqrt(2)
    largest = dense.outside.max().item() if len(dense.outside) else -1.0
    assert lower == pytest.approx(math.sqrt(1 - largest), abs=1e-7)


def test_contraction_bound_of_one_weight_and_of_many(graph, dense):
    weight = torch.randn(4, 3, 2, dtype=torch.float64, requires_grad=True)
    largest = dense.outside.abs().max() if len(dense.outside) else torch.tensor(0.0).double()
    expected = largest * torch.linalg.svdvals(weight)[:, 0]
    assert_close(smoothness.contraction_bound(weight, graph), expected)
    assert_close(smoothness.contraction_bound(weight[1], graph), expected[1])
    assert gradcheck(lambda w: smoothness.contraction_bound(w, graph), weight)
