import torch
from models import check_equations
from torch.testing import assert_close

from graphsct.nn import GCN, GCNII, EnergeticGNN


def test_srelu_stands_after_the_convolutions_with_its_own_offsets():
    model = EnergeticGNN(3, 4, 2, 3, offset=-5.0)
    assert isinstance(model.activations[0], torch.nn.ReLU)
    offsets = [activation.offset for activation in model.activations[1:]]
    assert len({id(offset) for offset in offsets}) == 3
    assert all(offset.eq(-5).all() for offset in offsets)


def test_penalty_pulls_energetic_weights_to_their_start():
    model = EnergeticGNN(3, 4, 2, 2, c_max=4.0, penalty_weight=5.0)
    assert_close(model.convs[0].weight.detach(), 2 * torch.eye(4))
    assert_close(model.convs[1].weight.detach(), torch.eye(4))
    assert model.penalty() == 0
    model.convs[0].weight.data[0, 1] = 3
    model.convs[1].weight.data[2, 2] = -1
    assert_close(model.penalty().detach(), torch.tensor(5.0 * (3 + 2)))
    model.penalty().backward()
    assert_close(model.convs[0].weight.grad[0, 1], torch.tensor(5.0))
    for other in (GCN, GCNII):
        assert other(3, 4, 2, 2).double().penalty().equal(torch.zeros((), dtype=torch.float64))


def test_layers_are_those_of_the_equations(graph, dense, x):
    def convolve(conv, beta, h, h_0):
        return (0.8 * dense.G @ h + 0.1 * h_0 + 0.1 * h) @ conv.weight

    check_equations(EnergeticGNN, convolve, graph, dense, x)
