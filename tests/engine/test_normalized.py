import pytest
from recording import WIDTH, Net, Problem, shake

from graphsct.nn import GCNConv


@pytest.mark.parametrize("mix", [None, 0.3])
def test_a_convolution_that_is_normalized(context, mix):
    options = dict(control="normalized", control_options={"mix": mix})
    conv = GCNConv(WIDTH, WIDTH, **options)
    context.check(lambda net, x, graph: net.conv(x, graph), conv=conv)


def test_a_scale_for_each_component_is_left_to_autograd():
    conv = GCNConv(WIDTH, WIDTH, control="normalized", control_options={"per_component": True})
    model = shake(Net(lambda net, x, graph: net.conv(x, graph), conv=conv), 0)
    problem = Problem(runs=1)
    problem.loss(model, problem.splits[0])
    assert not problem.supports(model)
