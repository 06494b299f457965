import numpy as np
import pytest
import torch

from graphsct.datasets import demo
from graphsct.nn import GCN
from graphsct.paper.figures.figure4 import draw, gradient_maps, jacobian_norms
from graphsct.paper.figures.networks import IDENTITY, in_two_rows
from graphsct.plotting.style import styled
from graphsct.training.data import SplitData


@pytest.fixture(scope="module")
def found():
    return gradient_maps(0, demo(), depth=3, epochs=4)


def test_a_map_for_each_network(found):
    plain = ["GCN", "GCN", "GCNII", "EGNN"]
    assert [m.network.name for m in found.maps] == plain + [f"{name}-SCT" for name in plain]
    for m in found.maps:
        assert m.norms.shape == (5, 4)
        assert (m.norms > 0).all()
        assert len({*m.norms[:, -1]}) == 5  # the weights move in every epoch


def test_networks_with_and_without_control_start_alike(found):
    """A control starts at zero, and the signs come from the same seed."""
    for without, controlled in zip(found.maps[:2], found.maps[4:6], strict=True):
        assert np.allclose(without.norms[0], controlled.norms[0], rtol=1e-5)


def test_the_estimate_is_right_on_average():
    data = demo()
    torch.manual_seed(0)
    model = GCN(data.num_features, 4, data.num_classes, num_layers=2).double()
    x, graph = data.x, data.graph = data.x.double(), data.graph.to(torch.float64)
    problem = SplitData.of(data)
    generator = torch.Generator().manual_seed(0)
    squares = np.mean([np.square(jacobian_norms(model, problem, generator)) for _ in range(60)], 0)

    def rest(h):
        """The last convolution and the output layer."""
        return model.output(model.activations[2](model.convs[1](h, graph)))

    _, layers = model(x, graph, return_layers=True)
    exact = torch.autograd.functional.jacobian(rest, layers[1].detach())
    assert np.sqrt(squares[1]) == pytest.approx(exact.norm().item(), rel=0.03)
    last = model.output.weight.norm().item() * len(x) ** 0.5
    assert np.sqrt(squares[2]) == pytest.approx(last, rel=0.03)


def test_a_dead_layer_has_no_say():
    network, _ = in_two_rows([("gcn", IDENTITY)], depth=3)
    model = network.build(demo(), seed=0)
    with torch.no_grad():
        model.convs[1].lin.weight.neg_()  # features are not negative, so ReLU lets nothing through
    norms = jacobian_norms(model, SplitData.of(demo()), torch.Generator())
    assert norms[:2] == [0, 0]
    assert norms[3] > 0


def test_zeros_are_drawn_apart(found):
    for m in found.maps:
        m.norms[2, 1] = 0
    with styled():
        panels = draw(found).axes[:8]
    for axes in panels:
        boxes = [path.get_extents() for part in axes.collections for path in part.get_paths()]
        assert [box.extents.tolist() for box in boxes] == [[1.5, 0.5, 2.5, 1.5]]
