import inspect

import pytest
from own_model import HopNetwork

from graphsct import ModelError, nn
from graphsct.nn import ACTIVATIONS, CONTROLS, GCN, MODELS, Model, register
from graphsct.training.config import ModelConfig


def test_the_models_of_the_paper_register_themselves():
    found = {name: (model.title, model.default_control) for name, model in MODELS.items()}
    assert (
        found
        | {
            "gcn": ("GCN", "pooled"),
            "gcnii": ("GCNII", "gated"),
            "egnn": ("EGNN", "gated"),
        }
        == found
    )
    assert MODELS["egnn"] is nn.EnergeticGNN
    assert all(model.name == name for name, model in MODELS.items())


@pytest.mark.parametrize("name", ["gcn", "gcnii", "egnn"])
@pytest.mark.parametrize("control", [None, *CONTROLS])
def test_choices_and_options_are_each_others_inverse(name, control):
    model = MODELS[name]
    space = dict(model.search_space(control))
    assert set(space.get("activation", ())) <= set(ACTIVATIONS)
    for pick in (0, -1):
        chosen = {key: values[pick] for key, values in space.items()} | {"dropout": 0.3}
        options = model.from_choices(chosen)
        assert set(options) <= {*model.options(), "activation"}
        back = model.to_choices(options)
        assert {key: back[key] for key in chosen} == pytest.approx(chosen)


def test_options_are_what_the_constructor_takes():
    for model in MODELS.values():
        sizes = ("in_channels", "hidden_channels", "out_channels", "num_layers")
        assert (*sizes, *model.options()) == tuple(inspect.signature(model).parameters)
    assert HopNetwork.options() == ("hops", "dropout")


class Wide(GCN):
    def __init__(
        self, in_channels, hidden_channels, out_channels, num_layers, *, times=2, theta=0.1, **more
    ):
        wide = times * hidden_channels
        super().__init__(in_channels, wide, out_channels, num_layers, theta=theta, **more)


def test_options_that_are_passed_on_are_those_of_the_base_class():
    assert Wide.options()[:2] == ("times", "theta")
    assert sorted(Wide.options()) == sorted(("times", *GCN.options()))
    assert Wide(3, 4, 2, 1, init="glorot", residual=True).hidden_channels == 8


def named(**attributes):
    return type("Mine", (GCN,), {"name": "mine", "title": "Mine", **attributes})


class OtherSizes(Model):
    name, title = "other", "Other"

    def __init__(self, channels, num_layers):
        super().__init__(channels, channels, channels, [])


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (type("Mine", (GCN,), {}), "Mine has no name: add name = "),
        (type("Mine", (GCN,), {"name": "mine"}), "Mine has no title"),
        (named(name=3), "Mine has no name"),
        (named(default_control="poled"), "no control 'poled', did you mean 'pooled'"),
        (named(name="gcn"), r"'gcn' belongs to GCN of graphsct\.nn\.gcn: give Mine another name"),
        (
            OtherSizes,
            "first arguments of OtherSizes are channels, num_layers, expected in_channels, h",
        ),
    ],
)
def test_models_that_cannot_be_registered(model, message):
    before = dict(MODELS)
    with pytest.raises(ModelError, match=message):
        register(model)
    assert before == MODELS


def test_a_file_may_be_executed_again(monkeypatch):
    first, second = named(), named()
    monkeypatch.setitem(MODELS, "mine", first)
    assert register(second) is MODELS["mine"] is second
    assert ModelConfig("mine").title == "Mine"


def test_a_class_of_the_same_name_in_another_file_is_another_model():
    with pytest.raises(ModelError, match="'gcn' belongs to GCN of graphsct"):
        register(type("GCN", (GCN,), {"name": "gcn", "title": "GCN"}))
