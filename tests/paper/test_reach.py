import math
from dataclasses import replace

import pytest
from cells import origin

from graphsct.nn import MODELS
from graphsct.paper.author_settings import author_cells, published_settings
from graphsct.paper.cell import Cell, Key
from graphsct.paper.paper import DATASETS
from graphsct.paper.reach import reference, unreached
from graphsct.search.space import VERSION, configs, space
from graphsct.search.task import Task


def searched(key, max_hidden=None, version=VERSION):
    found = origin(3, max_hidden=max_hidden, space=version)
    settings = (published_settings(key) or published_settings(Key("cora", "gcnii", None, 2)))[0]
    return Cell(key, settings, found)


def in_words(settings):
    """All settings by name, those left out with the model's own defaults."""
    model, train = settings[0].to_dict(), settings[1].to_dict()
    options = model.pop("options", {})
    defaults = {"conv_dropout": model["dropout"]}
    if model["model"] == "gcnii":
        defaults |= {"activation": "relu", "init": "uniform"}
    for name in ("select", "least_epochs", "seed"):
        train.pop(name, None)
    return {n: defaults.get(n) if v is None else v for n, v in model.items()} | options | train


@pytest.mark.parametrize("key", [k for k in author_cells() if k.control != "bias"], ids=str)
def test_the_search_space_has_every_published_setting_exactly(key):
    task, cell = Task(*key), author_cells()[key]
    chosen = reference(key)
    assert all(value in space(task)[name] for name, value in chosen.items())
    train = cell.settings.train
    made = configs(task, chosen, epochs=train.epochs, patience=train.patience, seed=train.seed)
    assert chosen["normalize"] is cell.settings.normalize
    found, wanted = in_words(made), in_words((cell.settings.model, train))
    if key.model == "egnn" and key.control is None:
        wanted.pop("theta")  # of controls alone
    for name, value in wanted.items():
        if isinstance(value, float):
            assert math.isclose(found[name], value), name
        else:
            assert found[name] == value, name


@pytest.mark.parametrize("name", ["gcnii", "egnn"])
def test_searches_of_these_models_know_all_published_settings(name):
    known = MODELS[name].known_settings
    for key in (key for key in author_cells() if key.model == name and key.control is None):
        chosen = reference(key)
        assert any(
            all(chosen[n] == pytest.approx(v) for n, v in row.items() if n in chosen)
            for row in known
        ), key


def test_early_searches_did_not_reach_what_came_later():
    assert unreached(searched(Key("cora", "gcnii", None, 16), version=None)) == ()
    citeseer = Key("citeseer", "gcnii", "gated", 16)
    assert unreached(searched(citeseer, version=None)) == ("hidden",)
    assert unreached(searched(citeseer)) == ()
    assert unreached(searched(citeseer, max_hidden=128)) == ("hidden",)
    texas = Key("texas", "gcnii", None, None, "leaky_relu")
    assert set(unreached(searched(texas, version=None))) == {"theta", "depth"}
    assert unreached(searched(texas)) == ()
    egnn = Key("pubmed", "egnn", None, 2, "srelu")
    missed = {"c_min", "share", "drop_output", "offset_weight_decay"}
    assert set(unreached(searched(egnn, version=None))) == missed


def test_where_nothing_is_published_64_channels_are_enough():
    key = Key("pubmed", "gcn", "pooled", 16)
    assert unreached(searched(key, max_hidden=32)) == ("hidden",)
    assert unreached(searched(key, max_hidden=64, version=None)) == ()
    assert unreached(replace(searched(key, max_hidden=32), found=None)) == ()


def test_ours_of_physics_are_held_to_what_is_published_for_the_other_split():
    assert reference(Key("physics", "gcnii", None, 16)) == reference(
        Key("physics_egnn", "gcnii", None, 16)
    )
    assert "physics_egnn" not in DATASETS
