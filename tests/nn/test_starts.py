import math

import pytest
import torch
from torch.testing import assert_close
from torch_geometric.nn.inits import glorot

from graphsct import ModelError
from graphsct.nn.starts import initialize


def drawn(name, rows=60, columns=60):
    torch.manual_seed(1)
    weight = torch.empty(rows, columns)
    initialize(weight, name)
    return weight


def test_glorot_is_that_of_pyg():
    torch.manual_seed(1)
    expected = torch.empty(40, 60)
    glorot(expected)
    assert drawn("glorot", 40, 60).equal(expected)


def test_uniform_is_bounded_by_the_root_of_the_width():
    weight = drawn("uniform")
    bound = 1 / math.sqrt(60)
    assert 0.99 * bound < weight.abs().max() <= bound
    assert_close(weight.std().item(), bound / math.sqrt(3), rtol=0.03, atol=0)


def test_identity_and_orthogonal():
    assert drawn("identity").equal(torch.eye(60))
    assert drawn("identity", 3, 5).equal(torch.eye(3, 5))
    weight = drawn("orthogonal")
    assert_close(weight @ weight.T, torch.eye(60), rtol=0, atol=1e-5)
    assert (weight - torch.eye(60)).norm() > 1


def test_the_gain_scales_a_normal_start():
    assert_close(drawn("normal", 400, 60).std().item(), 60**-0.5, rtol=0.02, atol=0)
    weight = torch.empty(60, 60)
    torch.manual_seed(1)
    initialize(weight, "normal", gain=3.0)
    assert_close(weight, 3 * drawn("normal"))
    with pytest.raises(ModelError, match="gain is 0, expected a number above 0"):
        initialize(weight, "normal", gain=0)


def test_unknown_names_come_with_the_nearest():
    with pytest.raises(
        ModelError, match="no initialisation 'orthogonl', did you mean 'orthogonal'"
    ):
        drawn("orthogonl")
