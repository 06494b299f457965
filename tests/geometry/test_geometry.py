import pytest
import torch
from torch import nn
from zoo import ZOO

from graphsct import GraphError, geometry


def test_bad_input_is_named():
    graph = ZOO["path"].graph()
    z = torch.ones(7, 2, dtype=torch.float64)
    with pytest.raises(GraphError, match=r"negative_slope is 1\.5"):
        geometry.sphere(z, graph, 1.5)
    with pytest.raises(GraphError, match="activation is 'gelu', expected one of relu, leaky_relu"):
        geometry.smoothness_range(z, graph, "gelu")
    for unknown in (nn.Tanh(), nn.LeakyReLU(-0.1), nn.ELU(-1.0)):
        with pytest.raises(GraphError, match="is not known; expected ReLU"):
            geometry.solve_alpha(z, graph, 0.5, unknown)
    with pytest.raises(GraphError, match=r"target has shape \(3,\), expected a number, \(2,\) or"):
        geometry.solve_alpha(z, graph, torch.ones(3))
    with pytest.raises(GraphError, match="overflow float64"):
        geometry.smoothness_range(z * 1e200, graph)
    z[4, 1] = torch.nan
    for function in (geometry.sphere, geometry.smoothness_range):
        with pytest.raises(GraphError, match=r"z\[4, 1\] is nan"):
            function(z, graph)
    with pytest.raises(GraphError, match="7 rows but the graph has 2 nodes"):
        geometry.solve_alpha(z, ZOO["two_nodes"].graph(), 0.5)
