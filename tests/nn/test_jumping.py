import pytest
import torch

from graphsct import ModelError
from graphsct.nn.jumping import Jumping

LAYERS = [torch.tensor([[1.0, 5.0]]), torch.tensor([[2.0, -1.0]]), torch.tensor([[0.0, 6.0]])]


@pytest.mark.parametrize(
    ("mode", "expected"),
    [("cat", [[1.0, 5.0, 2.0, -1.0, 0.0, 6.0]]), ("max", [[2.0, 6.0]])],
)
def test_the_output_layer_sees_all_layers(mode, expected):
    jumping = Jumping(mode)
    assert jumping(LAYERS).tolist() == expected
    assert jumping.channels(2, num_layers=2) == len(expected[0])
    assert repr(jumping) == f"Jumping({mode!r})"


def test_the_gradient_of_a_maximum_goes_to_where_it_came_from():
    layers = [layer.clone().requires_grad_() for layer in LAYERS]
    Jumping("max")(layers).sum().backward()
    assert [layer.grad.tolist() for layer in layers] == [[[0, 0]], [[1, 0]], [[0, 1]]]


def test_an_unknown_mode_is_named_with_the_nearest():
    with pytest.raises(ModelError, match=r"jumping connection 'maxx'.*max"):
        Jumping("maxx")
