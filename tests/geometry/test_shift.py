import pytest
import torch
from shifts import component_smoothness
from torch import nn
from torch.testing import assert_close
from zoo import ZOO

from graphsct import GraphError
from graphsct.geometry import shift
from graphsct.geometry.components import Components


def check(graph, dense, z, alpha, activation, target):
    h = activation(z - graph.unpool(alpha))
    constant = Components(z, graph).constant
    for number in range(dense.m):
        live = ~constant[number]
        expected = torch.full_like(h[0], target)[live]
        assert_close(component_smoothness(h, dense, number)[live], expected, rtol=0, atol=1e-8)
    assert not alpha[constant].any()


@pytest.mark.parametrize("slope", [0.01, 0.5, 1.0])
@pytest.mark.parametrize("target", [0.0, 0.3, 0.999])
def test_the_closed_form_reaches_the_target_of_each_component(slope, target, graph, dense, x):
    parts = Components(x, graph)
    alpha = shift.shift_piecewise_linear(parts, torch.full_like(parts.mean, target), slope)
    check(graph, dense, x, alpha, nn.LeakyReLU(slope), target)


@pytest.mark.parametrize("activation", [nn.ELU(), nn.SELU()], ids=str)
def test_the_root_finder_reaches_the_target_of_each_component(activation, graph, dense, x):
    parts = Components(x, graph)
    target = torch.where(parts.constant, 1, torch.full_like(parts.mean, 0.4))
    everywhere = torch.ones_like(parts.constant)
    alpha = shift.shift_smooth(parts, target, activation, everywhere)
    check(graph, dense, x, alpha, activation, 0.4)
    assert not shift.shift_smooth(parts, target, activation, ~everywhere).any()


def test_a_root_that_is_not_found_is_an_error(monkeypatch):
    def give_up(function, bracket, args):
        return type("Found", (), {"success": torch.zeros(len(bracket[0]), dtype=bool).numpy()})

    monkeypatch.setattr(shift, "find_root", give_up)
    parts = Components(torch.arange(7.0).double().unsqueeze(1), ZOO["path"].graph())
    target = torch.full_like(parts.mean, 0.5)
    with pytest.raises(GraphError, match=r"stopped early in 1 of 1 cases; scale the features"):
        shift.shift_smooth(parts, target, nn.ELU(), ~parts.constant)
