import copy
from dataclasses import replace

import pytest
import torch
from shapes import shapes
from torch.nn import functional as F
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GAT, GCN, GraphSAGE, global_mean_pool

import graphsct
from graphsct import Graph, diagnose, nn
from graphsct.datasets import Fractions, from_graphs
from graphsct.errors import GraphError, ModelError, TrainingError

pytestmark = pytest.mark.usefixtures("seed")


def test_it_is_a_function_of_the_package():
    assert graphsct.diagnose is diagnose
    assert graphsct.diagnosis.diagnose is diagnose


@pytest.mark.parametrize(
    "build",
    [
        lambda: GCN(16, 8, 3, 3, dropout=0.5, norm="batch_norm"),
        lambda: GAT(16, 8, 2, 3, heads=2, dropout=0.3),
        lambda: GraphSAGE(16, 8, 2, 3, jk="cat"),
        lambda: nn.GCN(16, 8, 3, 3, dropout=0.5, control="pooled", num_components=3),
        lambda: nn.GCNII(16, 8, 3, 3, dropout=0.5, norm="BatchNorm"),
    ],
)
def test_it_leaves_no_trace(data, build):
    model = build()
    model(data.x, data.edge_index).square().sum().backward()
    next(iter(model.children())).eval()
    weights = {name: value.clone() for name, value in model.state_dict().items()}
    gradients = [copy.copy(weight.grad) for weight in model.parameters()]
    modes = [part.training for part in model.modules()]
    random, x = torch.get_rng_state(), data.x.clone()
    found = diagnose(model, data)
    assert len(found.layers) == len(model.convs)
    assert torch.equal(torch.get_rng_state(), random)
    assert [part.training for part in model.modules()] == modes
    for name, value in model.state_dict().items():
        assert torch.equal(value, weights[name])
    for weight, gradient in zip(model.parameters(), gradients, strict=True):
        assert (weight.grad is None) == (gradient is None)
        assert gradient is None or torch.equal(weight.grad, gradient)
    for part in model.modules():
        assert not part._forward_hooks
        assert not part._forward_pre_hooks
    assert torch.equal(data.x, x)
    assert not data.x.requires_grad


def test_gradients_are_those_of_the_loss(data):
    model = nn.GCN(16, 8, 3, 2).eval()
    scores, hidden = model(data.x, data.graph, return_layers=True)
    loss = F.cross_entropy(scores[data.train_mask], data.y[data.train_mask])
    expected = [gradient.norm().item() for gradient in torch.autograd.grad(loss, hidden)]
    found = diagnose(model, data)
    assert found.target == "the loss of the training nodes"
    assert found.entry.gradient_norm == pytest.approx(expected[0], rel=1e-5)
    assert [layer.gradient_norm for layer in found.layers] == pytest.approx(expected[1:], rel=1e-5)


def test_without_labels_of_the_output_and_always_the_same(data):
    plain = Data(x=data.x, edge_index=data.edge_index)
    model = GCN(16, 8, 2, 3)
    found = diagnose(model, plain)
    assert found.target == "the output in a random direction"
    assert (found.directions, found.standing, found.works) == (None, None, None)
    assert found.layers[0].gradient_norm > 0
    assert diagnose(model, plain).to_dict() == found.to_dict()
    wide = Data(x=data.x, edge_index=data.edge_index, y=data.y + 5, train_mask=data.train_mask)
    assert diagnose(model, wide).target == "the output in a random direction"


def test_inside_no_grad_and_with_frozen_weights(data):
    model = GCN(16, 8, 2, 3)
    expected = diagnose(model, data).to_dict()
    with torch.no_grad():
        assert diagnose(model, data).to_dict() == expected
    model.requires_grad_(False)
    frozen = diagnose(model, data)
    assert all(layer.frozen for layer in frozen.layers)
    thawed = tuple(replace(layer, frozen=False) for layer in frozen.layers)
    assert replace(frozen, layers=thawed).to_dict() == expected


def test_double_precision(data):
    model = GCN(16, 8, 2, 3)
    single = diagnose(model, data).layers[0]
    double = data.clone()
    double.x = data.x.double()
    found = diagnose(model.double(), double).layers[0]
    assert found.smoothness == pytest.approx(single.smoothness, rel=1e-4)


class Odd(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = GCN(16, 8, 2, 3)

    def forward(self, *, everything):
        return {"scores": self.inner(everything.x, everything.edge_index), "loss": None}


def test_a_user_may_say_how_to_call_it(data):
    found = diagnose(Odd(), data, call=lambda model, data: model(everything=data))
    assert [layer.name for layer in found.layers] == ["inner.convs.0", "inner.convs.1"]
    with pytest.raises(ModelError, match=r"Odd failed when called with .*pass call="):
        diagnose(Odd(), data)


def test_a_user_may_name_the_layers(data):
    found = diagnose(GCN(16, 8, 3, 3), data, layers=["convs.1", "convs.2"])
    assert [layer.name for layer in found.layers] == ["convs.1", "convs.2"]
    model = GCN(16, 8, 3, 3)
    model.unused = torch.nn.Linear(3, 3)
    with pytest.raises(ModelError, match="none of the layers unused gave features"):
        diagnose(model, data, layers=["unused"])


def test_a_directed_graph_is_refused_with_the_way_out(data):
    directed = Data(
        x=data.x, edge_index=data.edge_index[:, data.edge_index[0] < data.edge_index[1]]
    )
    model = GCN(16, 8, 2, 3)
    with pytest.raises(GraphError, match="pass one as graph=Graph"):
        diagnose(model, directed)
    graph = Graph(directed.edge_index, data.num_nodes, symmetrize=True)
    assert diagnose(model, directed, graph=graph).graph.edges == data.graph.num_edges


class Wrapped(torch.nn.Module):
    """A GCN with a function of its scores."""

    def __init__(self, after):
        super().__init__()
        self.inner, self.after = GCN(16, 8, 2, 3), after

    def forward(self, x, edge_index):
        return self.after(self.inner(x, edge_index))


def test_an_output_of_any_shape(data):
    def pairs(z):
        return (z[data.edge_index[0]] * z[data.edge_index[1]]).sum(1)

    found = diagnose(Wrapped(pairs), data)  # a score for each edge
    assert (found.target, found.works) == ("the output in a random direction", None)
    assert found.layers[0].gradient_norm > 0
    own = diagnose(Wrapped(pairs), data, loss=lambda output, data: output.square().mean())
    assert own.target == "your loss"
    assert own.layers[0].gradient_norm != found.layers[0].gradient_norm
    with pytest.raises(ModelError, match="must return one number that depends on the output"):
        diagnose(Wrapped(pairs), data, loss=lambda output, data: output)


def test_an_output_that_depends_on_nothing(data):
    with pytest.raises(ModelError, match="no float tensor that depends on its features"):
        diagnose(Wrapped(lambda z: z.argmax(1)), data)


def test_nan_names_its_layer(data):
    model = nn.GCN(16, 8, 3, 4)
    with torch.no_grad():
        model.convs[2].lin.weight.fill_(float("nan"))
    with pytest.raises(ModelError, match=r"layer convs.2 \(GCNConv\)"):
        diagnose(model, data)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_a_model_on_another_device_is_diagnosed_beside_the_data(data):
    model = nn.GCN(16, 8, 3, 3)
    expected = diagnose(model, data).to_dict()
    model.cuda()
    assert diagnose(model, data).to_dict() == expected
    assert next(model.parameters()).is_cuda


class Pooled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = GCN(2, 8, num_layers=3)
        self.output = torch.nn.Linear(8, 2)

    def forward(self, x, edge_index, batch):
        return self.output(global_mean_pool(self.encoder(x, edge_index), batch))


@pytest.mark.parametrize(
    "build", [Pooled, lambda: nn.GCN(2, 8, 2, 3, control="gated", readout="mean")]
)
def test_a_list_of_graphs_is_measured_as_one(build):
    graphs = from_graphs(shapes(20), split=Fractions())
    model = build()
    found = diagnose(model, graphs)
    assert found.graph.components == 20
    assert len(found.layers) == 3
    assert (found.target, found.directions) == ("the loss of the training graphs", 1)
    batch = Batch.from_data_list(shapes(20))
    del batch.y
    alike = diagnose(model, batch)
    assert [layer.smoothness for layer in alike.layers] == [
        layer.smoothness for layer in found.layers
    ]
    assert alike.target == "the output in a random direction"


def test_the_control_that_is_advised_for_a_list_fits_any_graph():
    found = diagnose(nn.GCN(2, 8, 2, 12, readout="mean"), shapes(20))
    assert {advice.name: advice.change for advice in found.advice}["sct_gated"].endswith('"gated")')


def test_a_metric_for_other_targets_is_refused(data):
    with pytest.raises(TrainingError, match="r2 is not for classes"):
        diagnose(GCN(16, 8, 2, 3), data, metric="r2")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"split": 99}, r"split is 99, but the data have splits 0 \.\. 0"),
        ({"reach": "no"}, "reach is 'no', expected true or false"),
        ({"influence": 1}, "influence is 1, expected true or false"),
        ({"layers": []}, r"layers is \[\], expected names; choose from .*convs"),
        ({"layers": 3}, "layers is 3, expected names"),
        ({"model": GCN}, "expected a torch.nn.Module; make one"),
    ],
)
def test_arguments_of_a_wrong_kind_are_refused(data, options, message):
    with pytest.raises(graphsct.GraphsctError, match=message):
        diagnose(**{"model": GCN(16, 8, 2, 3), "data": data, **options})
