import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.nn import GCN, GCNConv

from graphsct import nn
from graphsct.diagnosis.calling import arguments, prepare, trainable, undisturbed
from graphsct.errors import DataError, ModelError

pytestmark = pytest.mark.usefixtures("seed")


def taking(*names, defaults=()):
    """A model whose forward has these arguments."""
    given = [*names, *(f"{name}=None" for name in defaults)]
    space = {}
    exec(f"def forward(self, {', '.join(given)}): return {(*names, *defaults)[0]}", space)
    return type("Odd", (torch.nn.Module,), space)()


@pytest.fixture
def weighted(data):
    weight = torch.rand(data.edge_index.shape[1])
    return Data(x=data.x, edge_index=data.edge_index, edge_weight=weight)


@pytest.mark.parametrize("names", [("x", "edge_index"), ("stuff", "wires"), ("h", "adj")])
def test_features_come_first(data, names):
    x, edges = arguments(taking(*names), data)
    assert x is data.x
    assert edges is data.edge_index


@pytest.mark.parametrize("names", [("edge_index", "x"), ("Adjacency", "h"), ("edges", "nodes")])
def test_unless_the_first_name_says_otherwise(data, names):
    edges, x = arguments(taking(*names), data)
    assert x is data.x
    assert edges is data.edge_index


def test_a_model_with_one_argument_gets_the_data(data):
    assert arguments(taking("batch"), data) == (data,)
    assert arguments(taking("data", defaults=["mask"]), data) == (data,)


def test_weights_go_to_those_who_take_them(data, weighted):
    assert arguments(GCN(16, 8, 2), weighted)[2] is weighted.edge_weight
    assert len(arguments(GCN(16, 8, 2), data)) == 2
    assert len(arguments(taking("x", "edge_index", "size"), weighted)) == 2


def test_ours_get_the_graph_and_sparse_features_and_others_dense_ones(data):
    sparse = data.clone()
    sparse.x = data.x.to_sparse_csr()
    x, graph = arguments(nn.GCN(16, 8, 3, 2), sparse)
    assert x is sparse.x
    assert graph is data.graph
    assert torch.equal(arguments(GCN(16, 8, 2), sparse)[0], data.x)


def test_a_model_that_fails_is_an_error_with_the_way_out(data):
    with pytest.raises(ModelError, match=r"torch.float32 \(300, 16\).*pass call=lambda"):
        prepare(GCNConv(5, 8), data)()
    with pytest.raises(ModelError, match=r"call\(model, data\): KeyError"):
        prepare(GCNConv(5, 8), data, call=lambda model, data: {}["x"])()


def test_errors_of_ours_come_through(data):
    broken = Data(edge_index=data.edge_index)
    with pytest.raises(DataError, match="features x"):
        prepare(GCN(16, 8, 2), broken)


def test_layers_that_wait_for_their_input_are_refused(data):
    with pytest.raises(ModelError, match="take their sizes from the first input; call it once"):
        prepare(GCNConv(-1, 8), data)


def test_a_model_with_odd_arguments_can_be_trained(data):
    class Odd(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = GCNConv(16, 3)

        def forward(self, everything):
            return self.conv(everything.x, everything.edge_index)

    from graphsct.training import TrainConfig, fit

    odd = Odd()
    run = fit(trainable(odd, data), data, TrainConfig(epochs=30))
    assert run.val_score > 0.6
    ours = nn.GCN(16, 8, 3, 2)
    assert trainable(ours, data) is ours


def test_undisturbed_puts_every_part_and_random_numbers_back():
    model = torch.nn.Sequential(torch.nn.Dropout(), torch.nn.BatchNorm1d(3))
    model[1].eval()
    before = torch.get_rng_state()
    with pytest.raises(KeyError), undisturbed(model):
        assert not any(part.training for part in model.modules())
        torch.rand(3)
        raise KeyError
    assert [part.training for part in model.modules()] == [True, True, False]
    assert torch.equal(torch.get_rng_state(), before)
