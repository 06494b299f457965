import pytest

from graphsct import ModelError
from graphsct.nn import GCN
from graphsct.remedies import REMEDIES, Number, Remedy
from graphsct.training import ModelConfig, TrainConfig

BASE = ModelConfig(depth=8, hidden=32, dropout=0.3, init="glorot", options={"edge_dropout": 0.1})


def make(**more):
    return Remedy("some", "some", "norms", "A, 2020", "", "", "GCN(some=1)", **more)


def test_settings_go_to_the_model_its_options_and_the_training():
    settings = {"norm": "PairNorm", "residual": True, "conv_weight_decay": 0.25}
    model, train = make(settings=settings).configure(BASE, TrainConfig(epochs=7))
    assert (model.norm, model.init, model.depth) == ("PairNorm", "glorot", 8)
    assert model.options == {"edge_dropout": 0.1, "residual": True}
    assert train == TrainConfig(epochs=7, conv_weight_decay=0.25)


def test_the_number_is_a_setting_or_an_option_of_one():
    remedy = make(number=Number("theta", (0.5, 0.1)))
    assert remedy.configure(BASE, TrainConfig())[0].theta == 0.5
    assert remedy.configure(BASE, TrainConfig(), 0.1)[0].theta == 0.1
    nested = make(
        settings={"norm_options": {"groups": 3}}, number=Number("norm_options.lamda", (0.01, 0.1))
    )
    assert nested.number.name == "lamda"
    found = nested.configure(BASE, TrainConfig(), 0.1)[0].options["norm_options"]
    assert found == {"groups": 3, "lamda": 0.1}
    assert nested.settings == {"norm_options": {"groups": 3}}


def test_another_model_keeps_what_means_the_same():
    model, _ = make(settings={"model": "egnn"}).configure(BASE, TrainConfig())
    assert (model.model, model.depth, model.hidden, model.dropout) == ("egnn", 8, 32, 0.3)
    assert (model.init, model.options) == (None, {})


def test_options_of_a_norm_or_connection_go_with_it():
    options = {"norm_options": {"scale": 2.0}, "residual": "dense", "jumping": "max"}
    model = ModelConfig(norm="PairNorm", options=options)
    for name in ("batch_norm", "residual", "initial_residual"):
        model, _ = REMEDIES[name].configure(model, TrainConfig())
    assert model.norm == "BatchNorm"
    connected = {"residual": "initial", "residual_options": {"share": 0.1}}
    assert model.options == {"jumping": "max", **connected}
    assert REMEDIES["residual"].configure(model, TrainConfig())[0].options == {
        "jumping": "max",
        "residual": True,
    }


def test_models_are_those_that_take_the_settings():
    assert make(settings={"init": "glorot"}).models == ["gcn", "gcnii"]
    assert make(settings={"norm": "LayerNorm"}, bases=("gcn",)).models == ["gcn"]


def test_numbers_that_are_not_there_are_refused():
    for use in (
        lambda: make().configure(BASE, TrainConfig(), 3.0),
        lambda: make(change=lambda model, data, value: None).apply(GCN(2, 2, 2, 2), value=3.0),
    ):
        with pytest.raises(ModelError, match=r"some has no number to choose, but value is 3\.0"):
            use()


def test_settings_are_for_our_models_alone():
    """PyTorch Geometric would take the name of a norm, and the width for its scale."""
    with pytest.raises(ModelError, match=r"no settings for pyg:GAT.*Remedy\.apply"):
        REMEDIES["pair_norm"].configure(ModelConfig(model="pyg:GAT"), TrainConfig())


def test_plain_values():
    found = REMEDIES["drop_edge"].to_dict()
    assert found["number"] == {"name": "edge_dropout", "choices": [0.3, 0.6]}
    assert (found["applies"], found["models"]) == (True, ["gcn", "gcnii", "egnn"])
    assert REMEDIES["appnp"].to_dict()["applies"] is False
