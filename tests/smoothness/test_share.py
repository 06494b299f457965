import torch

from graphsct import smoothness


def test_dead_dimensions_count_as_smooth_but_are_told_apart(graph):
    x = torch.zeros(graph.num_nodes, 3, dtype=torch.float64)
    x[0, 1] = 1e-150
    x.requires_grad_()
    s = smoothness.normalized_smoothness(x, graph)
    assert s[0] == s[2] == 1
    assert smoothness.dead_dimensions(x).tolist() == [True, False, True]
    s.sum().backward()
    assert x.grad.isfinite().all()
    assert smoothness.normalized_dirichlet_energy(torch.zeros_like(x), graph) == 0
