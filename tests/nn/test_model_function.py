import pytest
import torch
from torch_geometric.nn import GCN

from graphsct.errors import ModelError
from graphsct.nn.model_function import ModelFunction, depth_argument


def of_sizes(in_channels, out_channels, num_layers=3, *, wide=False):
    return GCN(in_channels, 16 if wide else 5, num_layers, out_channels)


def of_data(data):
    return GCN(data.num_features, 8, 2, data.num_classes)


def of_only_data(data, /, hidden=8):
    return GCN(data.num_features, hidden, 2, data.num_classes)


def of_everything(data, **settings):
    model = of_data(data)
    model.settings = settings
    return model


def with_control(data, control=None, theta=None):
    model = of_data(data)
    model.given = control, theta
    return model


class Net(torch.nn.Module):
    def __init__(self, in_channels, hidden_channels, out_channels, dropout=0.1):
        super().__init__()
        self.first = torch.nn.Linear(in_channels, hidden_channels)
        self.last = torch.nn.Linear(hidden_channels, out_channels)
        self.rate = dropout


def wrap(function, **more):
    return ModelFunction(f"my_model.py:{function.__name__}", function, "my_model.py", **more)


def build(function, data, *, depth=None, hidden=None, control=None, **options):
    return wrap(function).build(data, depth=depth, hidden=hidden, control=control, options=options)


def test_the_function_gets_the_data_or_both_sizes(data):
    assert build(of_sizes, data).convs[0].lin.weight.shape == (5, 16)
    assert build(of_data, data).convs[0].lin.weight.shape == (8, 16)
    assert build(of_only_data, data, hidden=4).convs[0].lin.weight.shape == (4, 16)
    assert build(lambda: torch.nn.Linear(1, 2), data).out_features == 2


def test_sizes_have_the_names_of_the_function(data):
    assert len(build(of_sizes, data, depth=7).convs) == 7
    net = build(Net, data, hidden=6)
    assert (net.first.weight.shape, net.last.weight.shape) == ((6, 16), (3, 6))
    assert depth_argument(of_sizes) == "num_layers"
    assert depth_argument(of_data) is None


def test_defaults_are_those_of_the_function():
    assert wrap(of_sizes).defaults() == {"depth": 3, "hidden": None, "dropout": None}
    assert wrap(Net).defaults() == {"depth": None, "hidden": 64, "dropout": 0.1}
    assert wrap(of_everything).defaults() == {"depth": 2, "hidden": 64, "dropout": 0.5}


def test_options_are_the_other_arguments(data):
    assert wrap(of_sizes).options() == ("wide", "control", "theta", "control_options")
    assert wrap(of_sizes).takes("depth") and wrap(of_sizes).takes("wide")
    assert not wrap(of_sizes).takes("hidden")
    assert wrap(of_everything).takes("anything")
    assert build(of_sizes, data, wide=True).hidden_channels == 16
    made = build(of_everything, data, depth=3, hidden=9, hops=2)
    assert made.settings == {"depth": 3, "hidden": 9, "hops": 2}
    with pytest.raises(
        ModelError, match=r"num_layers of my_model\.py:of_sizes is its depth: pass de"
    ):
        build(of_sizes, data, num_layers=4)


def test_a_function_may_make_its_control_itself(data):
    assert build(with_control, data, control="gated", theta=0.3).given == ("gated", 0.3)
    model = build(of_data, data, control="gated", theta=0.3)
    assert model.convs[0].control.kind == "gated"
    assert not hasattr(model.convs[1], "control")


def test_the_space_decides_what_a_search_tries():
    made = wrap(of_sizes, space={"wide": (False, True), "activation": ("relu", "elu")})
    assert made.search_space(None) == made.space
    assert made.searched() == ("dense_weight_decay", "depth", "activation")
    assert wrap(Net).searched() == ("dense_weight_decay", "hidden", "dropout")


def greedy(a, b, c):
    return None


def greedy_for_data(data, heads):
    return None


def failing(data):
    raise RuntimeError("no memory")


def wrong(data):
    return "a model"


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (failing, "py:failing cannot be built: RuntimeError: no memory"),
        (greedy, "takes a, b, c; expected"),
        (greedy_for_data, "takes data, heads; expected .* give all others a default"),
        (wrong, r"returned a str, expected a torch\.nn\.Module"),
    ],
)
def test_functions_that_make_no_model(data, function, message):
    with pytest.raises(ModelError, match=message):
        build(function, data)
