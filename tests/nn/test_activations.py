import pytest
import torch
from torch.nn import functional as F
from torch.testing import assert_close

from graphsct import ModelError
from graphsct.nn import SReLU
from graphsct.nn.activations import ACTIVATIONS, make_activation

X = torch.linspace(-3, 3, 14, dtype=torch.float64).reshape(7, 2)


@pytest.mark.parametrize(
    ("name", "function"),
    {
        "relu": F.relu,
        "leaky_relu": lambda x: F.leaky_relu(x, 0.01),
        "srelu": lambda x: x.clamp_min(-1),
        "elu": F.elu,
        "selu": F.selu,
        "silu": F.silu,
        "tanh": torch.tanh,
    }.items(),
)
def test_by_name(name, function):
    before = X.clone()
    assert_close(make_activation(name, 2).double()(X), function(X))
    assert X.equal(before)


def test_registry_has_no_other_names():
    assert set(ACTIVATIONS) == {"relu", "leaky_relu", "srelu", "elu", "selu", "silu", "tanh"}


def test_a_module_is_copied_so_that_layers_do_not_share_it():
    given = torch.nn.PReLU(2)
    first, second = make_activation(given, 2), make_activation(given, 2)
    assert first is not second is not given
    assert make_activation(torch.nn.LeakyReLU(0.2), 2).negative_slope == 0.2


def test_srelu_shifts_each_channel_and_learns_it():
    activation = SReLU(2, offset=-0.5).double()
    activation.offset.data[1] = 1.0
    assert_close(activation(X), torch.stack([X[:, 0].clamp_min(-0.5), X[:, 1].clamp_min(1.0)], 1))
    x = X.clone().requires_grad_()
    assert torch.autograd.gradcheck(activation, x)
    activation(x).sum().backward()
    assert activation.offset.grad.tolist() == [(X[:, 0] < -0.5).sum(), (X[:, 1] < 1).sum()]
    activation.reset_parameters()
    assert activation.offset.tolist() == [-0.5, -0.5]
    assert repr(activation) == "SReLU(2, offset=-0.5)"


def test_srelu_far_below_leaves_features_alone_to_the_last_bit():
    assert SReLU(2, offset=-10.0).double()(X / 3).equal(X / 3)


def test_unknown_names_come_with_the_nearest():
    with pytest.raises(ModelError, match="no activation 'LeakyReLU', did you mean 'leaky_relu'"):
        make_activation("LeakyReLU", 2)
    with pytest.raises(ModelError, match="no activation 'sigmoid'; choose from relu, leaky_relu"):
        make_activation("sigmoid", 2)
    with pytest.raises(ModelError, match="no activation None"):
        make_activation(None, 2)
