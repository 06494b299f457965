import pytest
import torch
from zoo import ZOO

from graphsct.smoothness import mean_average_distance


def test_known_angles():
    graph = ZOO["star"].graph()
    x = torch.zeros(8, 2, dtype=torch.float64)
    x[0, 0] = 5
    x[1:, 1] = 1
    assert mean_average_distance(x, graph).item() == pytest.approx(1)
    x[1:] = -x[0]
    assert mean_average_distance(x, graph).item() == pytest.approx(2)
    x[1:] = 7 * x[0]
    assert mean_average_distance(x, graph).item() == pytest.approx(0)


def test_it_is_the_mean_of_the_means_and_not_of_the_edges():
    x = torch.eye(8, 2, dtype=torch.float64)
    x[2:, 0] = 1  # as the centre; the leaf 1 points another way
    expected = (1 / 7 + 1) / 8
    assert mean_average_distance(x, ZOO["star"].graph()).item() == pytest.approx(expected)


def test_isolated_nodes_are_left_out():
    x = torch.eye(7, dtype=torch.float64)
    assert mean_average_distance(x, ZOO["isolated_nodes"].graph()).item() == pytest.approx(1)


def test_nodes_that_are_zero_equal_each_other_and_half_of_the_rest():
    graph = ZOO["two_nodes"].graph()
    x = torch.zeros(2, 3, dtype=torch.float64, requires_grad=True)
    assert mean_average_distance(x, graph) == 0
    half = mean_average_distance(torch.eye(2, dtype=torch.float64)[:, :1], graph)
    assert half.item() == pytest.approx(0.5)
    mean_average_distance(x, graph).backward()
    assert x.grad.isfinite().all()


def test_small_angles_do_not_drown_in_float32():
    graph = ZOO["two_nodes"].graph(torch.float32)
    x = torch.tensor([[1.0, 0.0], [1.0, 1e-5]])
    assert mean_average_distance(x, graph).item() == pytest.approx(0.5e-10, rel=0.01)


def test_one_dimension_of_one_sign_always_seems_smooth(graph):
    x = torch.arange(1.0, graph.num_nodes + 1).double().unsqueeze(1)
    assert mean_average_distance(x, graph) < 1e-30
    assert mean_average_distance(x[:, :0], graph) == 0
