import json
from types import SimpleNamespace

import own_model  # noqa: F401 (registers the model "hops")
import pytest
import torch

from graphsct import ModelError, TrainingError, datasets
from graphsct.nn import GCN, GCNII, MODELS, EnergeticGNN
from graphsct.nn.model_function import ModelFunction
from graphsct.training import ModelConfig, TrainConfig, run_seeds


@pytest.mark.parametrize(
    "config",
    [
        TrainConfig(),
        TrainConfig(epochs=7, select="val_score", learning_rate=1e-3, seed=2**63 - 1),
        TrainConfig(metric="roc_auc", batch_size=16, warm_up=20),
        ModelConfig(),
        ModelConfig(model="gcnii", control="gated", alpha=0.2, theta=1.0, depth=8),
    ],
)
def test_json_there_and_back(config):
    assert type(config).from_json(config.to_json()) == config
    assert type(config).from_dict(json.loads(config.to_json())) == config


def test_settings_left_out_keep_their_defaults():
    assert TrainConfig.from_json('{"patience": 9}') == TrainConfig(patience=9)
    assert TrainConfig.from_json('{"learning_rate": 1}').learning_rate == 1.0


def test_files_of_runs_without_a_warm_up_are_those_of_earlier_versions():
    assert "warm_up" not in TrainConfig().to_dict()
    assert TrainConfig(warm_up=5).to_dict()["warm_up"] == 5


def test_configs_are_frozen():
    with pytest.raises(AttributeError):
        TrainConfig().epochs = 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"learning_rat": 0.1}', "no setting 'learning_rat', did you mean 'learning_rate'"),
        ('{"zzz": 0.1}', "no setting 'zzz'; choose from epochs, patience"),
        ('{"epochs": "many"}', "epochs is 'many', expected a whole number"),
        ('{"epochs": 1.5}', "epochs is 1.5, expected a whole number"),
        ('{"epochs": true}', "epochs is True, expected a whole number"),
        ('{"epochs": 0}', "epochs is 0, expected at least 1"),
        ('{"patience": -1}', "patience is -1, expected at least 1"),
        ('{"batch_size": 0}', "batch_size is 0, expected at least 1"),
        ('{"warm_up": -1}', "warm_up is -1, expected at least 0"),
        ('{"warm_up": 2.5}', "warm_up is 2.5, expected a whole number"),
        ('{"checkpoint_every": 0}', "checkpoint_every is 0, expected at least 1"),
        ('{"learning_rate": 0}', "learning_rate is 0.0, expected a number above 0"),
        ('{"learning_rate": NaN}', "learning_rate is nan"),
        ('{"dense_weight_decay": -1.0}', "dense_weight_decay is -1.0"),
        ('{"seed": -1}', "seed is -1, expected in 0"),
        (
            '{"select": "val_los"}',
            "select is 'val_los'.*, did you mean 'val_loss'",
        ),
        ('{"select": null}', "select is None, expected a string"),
        ("[1]", r"the settings are \[1\], expected an object"),
        ("{", "the settings are not valid JSON: .* line 1"),
    ],
)
def test_wrong_settings_are_named(text, message):
    with pytest.raises(TrainingError, match=message):
        TrainConfig.from_json(text)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (dict(model="gnc"), "no model 'gnc', did you mean 'gcn'"),
        (dict(alpha=0.1), "alpha is not for gcn, only for appnp and gcnii"),
        (dict(model="egnn", init="glorot"), "init is not for egnn, only for gcn and gcnii"),
        (dict(negative_slope=0.2), "negative_slope is 0.2, but the activation is None; it is only"),
        (dict(activation="relu", negative_slope=0.2), "but the activation is 'relu'"),
        (
            dict(model="hops", options={"hopps": 2}),
            "hops has no option 'hopps', did you mean 'hops'",
        ),
        (dict(model="hops", control="pooled"), "control is not for hops, only for .*gcn and gcnii"),
        (dict(options={"hops": 2}), "hops is not for gcn, only for hops"),
    ],
)
def test_options_of_other_models_are_refused(settings, message):
    with pytest.raises(ModelError, match=message):
        ModelConfig(**settings)


@pytest.mark.parametrize("name, made", [("gcn", GCN), ("gcnii", GCNII), ("egnn", EnergeticGNN)])
@pytest.mark.parametrize("control", [None, "pooled", "gated", "gated_full"])
def test_every_model_is_built_for_the_data(name, made, control):
    data = datasets.demo()
    model = ModelConfig(model=name, control=control, depth=3, hidden=8).build(data)
    assert type(model) is made
    assert model.num_layers == 3
    assert model.dropout == 0.5
    assert model(data.x, data.graph).shape == (300, 3)


def test_a_users_model_is_built_and_trained_by_its_name():
    data = datasets.demo()
    config = ModelConfig(model="hops", depth=3, hidden=8, options={"hops": 2})
    assert ModelConfig.from_json(config.to_json()) == config
    assert config.title == "Hop network"
    model = config.build(data)
    assert type(model) is MODELS["hops"]
    assert (model.num_layers, model.hops, model.dropout) == (3, 2, 0.5)
    results = run_seeds(config, data, TrainConfig(epochs=30, learning_rate=0.05), range(2))
    assert len({run.val_loss for run in results.runs}) == 2
    assert results.test_mean > 0.6
    assert results.to_dict()["model"]["options"] == {"hops": 2}


def test_sizes_that_are_left_out_are_those_of_the_model(monkeypatch):
    def build(in_channels, out_channels, num_layers=5):
        return torch.nn.Linear(in_channels, out_channels)

    monkeypatch.setitem(MODELS, "f.py:build", ModelFunction("f.py:build", build, "f.py"))
    ours, theirs = ModelConfig(), ModelConfig("f.py:build")
    assert (ours.depth, ours.hidden, ours.dropout) == (2, 64, 0.5)
    assert (theirs.depth, theirs.hidden, theirs.dropout) == (5, None, None)
    assert (ours.size, theirs.size) == ("2 layers of width 64", "5 layers")
    assert (ours.label, theirs.label) == ("gcn-plain-2", "f.py-build-plain-5")
    assert ModelConfig.from_json(theirs.to_json()) == theirs
    with pytest.raises(ModelError, match=r"^f\.py:build has no option 'hidden'; choose from cont"):
        ModelConfig("f.py:build", hidden=3)


GRAPHS = SimpleNamespace(graphs=[], num_features=4, num_outputs=1)


def test_a_list_of_graphs_gets_a_readout():
    assert ModelConfig(control="gated").build(GRAPHS).readout.mode == "mean"
    assert ModelConfig(options={"readout": "sum"}).build(GRAPHS).readout.mode == "sum"
    assert ModelConfig().build(datasets.demo()).readout is None
    assert ModelConfig().build(GRAPHS).out_channels == 1
    with pytest.raises(ModelError, match="'pooled' has one weight for each component of one graph"):
        ModelConfig(control="pooled").build(GRAPHS)


def test_the_graphs_of_a_list_are_normalized_each_by_itself():
    def scale(data, **options):
        own = {"control_options": {"first": 1, **options}}
        config = ModelConfig(control="normalized", options=own)
        return config.build(data).convs[0].control.coefficients.per_component

    assert scale(GRAPHS)
    assert not scale(GRAPHS, per_component=False)
    assert not scale(datasets.demo())


def test_further_options_are_written_only_if_there_are_any():
    assert "options" not in ModelConfig().to_dict()
    assert hash(ModelConfig(model="hops", options={"hops": 2})) == hash(ModelConfig(model="hops"))


def test_a_model_without_dropout_keeps_the_default_silent(monkeypatch):
    class Plain(GCN):
        name, title = "plain", "Plain"

        def __init__(self, in_channels, hidden_channels, out_channels, num_layers):
            super().__init__(in_channels, hidden_channels, out_channels, num_layers)

    monkeypatch.setitem(MODELS, "plain", Plain)
    assert ModelConfig(model="plain").build(datasets.demo()).dropout == 0
    with pytest.raises(ModelError, match=r"dropout is not for plain, only for .*gcn and gcnii"):
        ModelConfig(model="plain", dropout=0.2)


def test_options_reach_the_model():
    config = ModelConfig(model="gcn", dropout=0.2, conv_dropout=0.1, init="glorot", norm="PairNorm")
    model = config.build(datasets.demo())
    assert (model.dropout, model.conv_dropout) == (0.2, 0.1)
    assert not torch.equal(model.convs[0].lin.weight, torch.eye(64))
    assert type(model.norms[0]).__name__ == "PairNorm"


def test_the_slope_of_leaky_relu_reaches_the_model():
    slopes = [None, 0.2]
    configs = [ModelConfig(activation="leaky_relu", negative_slope=slope) for slope in slopes]
    models = [config.build(datasets.demo()) for config in configs]
    assert [model.activations[1].negative_slope for model in models] == [0.01, 0.2]
    with pytest.raises(
        TrainingError, match=r"negative_slope is 1\.0, expected above 0 and below 1"
    ):
        ModelConfig(activation="leaky_relu", negative_slope=1.0)
