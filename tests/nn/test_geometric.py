import inspect

import pytest
import torch
import torch_geometric.nn as pyg

from graphsct import ModelError
from graphsct.nn import CONTROLS, MODELS
from graphsct.nn.geometric import CONVOLUTIONS
from graphsct.training import ModelConfig

KINDS = list(CONVOLUTIONS)


def build(data, kind, **settings):
    return ModelConfig(f"pyg:{kind}", **{"hidden": 8, **settings}).build(data)


def test_all_basic_models_are_there():
    basic = pyg.models.basic_gnn.BasicGNN
    made = {name for name, k in vars(pyg.models).items() if inspect.isclass(k) and k is not basic}
    assert {name for name in made if issubclass(getattr(pyg.models, name), basic)} == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_the_model_of_pytorch_geometric(data, kind):
    torch.manual_seed(0)
    model = build(data, kind, depth=3, dropout=0.2, norm="BatchNorm")
    assert type(model) is getattr(pyg, kind)
    assert type(model.convs[0]) is getattr(pyg, CONVOLUTIONS[kind])
    assert (model.num_layers, model.hidden_channels, model.dropout.p) == (3, 8, 0.2)
    assert isinstance(model.norms[0], pyg.BatchNorm)
    assert model(data.x, data.edge_index).shape == (300, 3)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("control", [name for name in CONTROLS if name != "target"])
def test_hidden_convolutions_get_control(data, kind, control):
    torch.manual_seed(0)
    settings = dict(depth=3, activation="tanh")
    plain = build(data, kind, **settings).eval()
    torch.manual_seed(0)
    if control == "normalized":
        settings["options"] = {"control_options": {"mix": 0.0, "first": 1}}
    model = build(data, kind, control=control, **settings).eval()
    assert [hasattr(conv, "control") for conv in model.convs] == [True, True, False]
    before = plain(data.x, data.edge_index)
    torch.testing.assert_close(
        model(data.x, data.edge_index), before
    )  # controls change nothing at first
    for weight in model.convs[0].control.parameters():
        torch.nn.init.normal_(weight)
    assert not torch.allclose(model(data.x, data.edge_index), before)


def test_with_jumping_knowledge_all_convolutions_are_hidden(data):
    model = build(data, "GCN", hidden=3, control="gated", options={"jk": "cat"})
    assert [hasattr(conv, "control") for conv in model.convs] == [True, True]


def test_options_go_to_the_constructor(data):
    model = build(data, "GAT", options={"heads": 2, "v2": True, "jk": "max"}, activation="tanh")
    assert isinstance(model.convs[0], pyg.GATv2Conv)
    assert model.convs[0].heads == 2
    assert isinstance(model.act, torch.nn.Tanh)
    leaky = build(data, "GraphSAGE", activation="leaky_relu", negative_slope=0.3)
    assert leaky.act.negative_slope == 0.3


@pytest.mark.parametrize("control", [None, "gated"])
def test_a_readout_gives_scores_of_graphs(data, control):
    batch = (torch.arange(300) >= 100).long()
    model = build(data, "GAT", control=control, options={"readout": "mean"}).eval()
    nodes = model.model(data.x, data.edge_index)
    scores = model(data.x, data.edge_index, batch=batch)
    torch.testing.assert_close(scores, torch.stack([nodes[:100].mean(0), nodes[100:].mean(0)]))


def test_pna_knows_the_degrees_of_the_graph(data):
    degree = torch.bincount(data.edge_index[1], minlength=data.num_nodes).float()
    scaler = build(data, "PNA").convs[0].aggr_module
    assert scaler.avg_deg_lin.item() == pytest.approx(degree.mean().item())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (dict(options={"head": 2}), "pyg:GAT has no option 'head', did you mean 'heads'"),
        (dict(init="glorot"), "init is not for pyg:GAT, only for"),
        (dict(options={"heads": 3}), "pyg:GAT cannot be built: ValueError: .*heads"),
        (dict(norm="BatchNrm"), "pyg:GAT cannot be built: ValueError: Could not resolve"),
        (dict(activation="relo"), "no activation 'relo', did you mean 'relu'"),
        (dict(activation="relu", options={"act": "elu"}), "act and activation are one option"),
        (dict(depth=0), "depth is 0, expected a whole number of at least 1"),
        (dict(control="gatted"), "no control 'gatted', did you mean 'gated'"),
        (dict(depth=1, control="gated"), "GAT has no hidden convolution that could get control="),
    ],
)
def test_wrong_settings_are_refused(data, settings, message):
    with pytest.raises(ModelError, match=message):
        build(data, "GAT", **settings)


def test_a_search_chooses_what_the_model_has():
    assert MODELS["pyg:GAT"].search_space(None) == {"heads": (1, 2, 4, 8)}
    assert MODELS["pyg:GCN"].search_space("gated") == {}
    assert "conv_weight_decay" not in MODELS["pyg:GCN"].searched()
