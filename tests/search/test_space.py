import random
from dataclasses import replace

import own_model  # noqa: F401 (registers the model "hops")
import pytest
from torch_geometric.nn import GAT

from graphsct import ModelError
from graphsct.datasets import demo
from graphsct.nn import CONTROLS, MODELS
from graphsct.nn.controls import TENTHS
from graphsct.nn.model_function import ModelFunction
from graphsct.search import Task, search
from graphsct.search.space import chosen_in, configs, few_shapes, first_choices, space
from graphsct.training.backend import EngineBackend, choose_backend
from graphsct.training.data import SplitData

LIMITS = {"epochs": 30, "patience": 7, "seed": 3}
TASKS = [
    Task("demo", model, control, depth)
    for model in ("gcn", "gcnii", "egnn")
    for control in (None, *CONTROLS)
    for depth in (2, None)
]


def test_it_is_the_papers_grid_and_what_others_publish():
    choices = space(Task("cora", "gcnii", None, 16))
    tenths = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
    decays = (0, 5e-5, 1e-4, 5e-4, 1e-3, 5e-3, 1e-2)
    assert choices["learning_rate"] == (1e-4, 1e-3, 3e-3, 5e-3, 1e-2)
    assert choices["conv_weight_decay"] == choices["dense_weight_decay"] == decays
    assert choices["dropout"] == choices["alpha"] == tenths
    assert choices["theta"] == (*tenths, 1.0, 1.5)
    assert choices["hidden"] == (16, 32, 64, 128, 256)
    assert choices["activation"] == ("relu", "leaky_relu")
    assert choices["negative_slope"] == (0.01, 0.1, 0.3)
    assert choices["depth"] == (16,)
    assert space(Task("cora", "egnn", None, 2))["c_max"] == (0.5, 1.0, 1.5, 2.0)


@pytest.mark.parametrize("model", ["gcn", "gcnii", "egnn"])
def test_known_settings_are_tried_exactly(model):
    task = Task("cora", model, "gated", 16)
    choices = space(task)
    for known, tried in zip(MODELS[model].known_settings, first_choices(task), strict=True):
        assert {name: value for name, value in known.items() if name in choices}.items() <= (
            tried.items()
        )


def test_patience_counts_late_in_a_search():
    task = Task("demo", "gcn", None, 2)
    assert configs(task, first_choices(task)[0], **LIMITS)[1].least_epochs == 200


def test_what_a_task_says_is_not_searched():
    choices = space(Task("texas", "gcn", None, None, activation="tanh", max_hidden=40))
    assert choices["activation"] == ("tanh",)
    assert "negative_slope" not in choices
    assert choices["hidden"] == (16, 32)
    assert choices["depth"] == (2, 4, 8, 16, 32)
    assert choices["normalize"] == (False, True)
    assert "normalize" not in space(Task("texas", "gcn", None, None, normalize=False))


def test_egnn_keeps_its_own_activation():
    assert space(Task("cora", "egnn", None, 2))["activation"] == ("srelu",)
    assert space(Task("cora", "egnn", "gated", 2))["activation"] == ("srelu", "relu", "leaky_relu")
    assert space(Task("cora", "egnn", "target", 2))["activation"] == ("relu", "leaky_relu")


@pytest.mark.parametrize("task", TASKS, ids=str)
def test_everything_in_it_can_be_built_and_trained_together(task):
    data, choices = demo(), space(task)
    problem = SplitData.of(data)
    draw = random.Random(0)
    trials = [{name: draw.choice(values) for name, values in choices.items()} for _ in range(5)]
    for chosen in first_choices(task) + trials:
        assert set(chosen) == set(choices)
        assert all(chosen[name] in choices[name] for name in choices)
        model, train = configs(task, chosen, **LIMITS)
        assert (model.model, model.control) == (task.model, task.control)
        assert (train.epochs, train.patience, train.seed) == (30, 7, 3)
        assert train.select == task.select
        assert configs(task, chosen_in(task, model, train), **LIMITS) == (model, train)
        if model.hidden < 128:
            assert choose_backend(model.build(data), problem) is EngineBackend


def test_dropout_before_convolutions_and_the_share_of_the_initial_features():
    task = Task("demo", "gcn", None, 2)
    chosen = first_choices(task)[0]
    assert configs(task, chosen | {"drop_convs": True, "dropout": 0.3}, **LIMITS)[0] == (
        configs(task, chosen | {"dropout": 0.3}, **LIMITS)[0].__class__(
            model="gcn", depth=2, dropout=0.3, conv_dropout=0.3, activation="relu", init="identity"
        )
    )
    task = Task("demo", "egnn", "gated", 2)
    chosen = first_choices(task)[0] | {"c_min": 0.4, "share": 0.5, "activation": "relu"}
    model, _ = configs(task, chosen, **LIMITS)
    assert (model.beta, model.offset) == (pytest.approx(0.2), None)


def test_a_slope_is_for_leaky_relu_alone():
    task = Task("demo", "gcnii", "gated", 2)
    chosen = first_choices(task)[0] | {"negative_slope": 0.3}
    models = [
        configs(task, chosen | {"activation": name}, **LIMITS)[0] for name in ("relu", "leaky_relu")
    ]
    assert [model.negative_slope for model in models] == [None, 0.3]


def test_the_first_trials_are_the_known_ones_within_the_limits():
    wide, narrow = (first_choices(Task("cora", "gcn", None, 2, max_hidden=d)) for d in (None, 32))
    assert wide[0]["hidden"] == 64
    assert narrow[0] == wide[0] | {"hidden": 32}
    assert wide[0]["conv_weight_decay"] == 0
    assert wide[0]["init"] == "identity"
    assert (wide[1]["activation"], wide[1]["negative_slope"]) == ("leaky_relu", 0.3)
    assert (wide[2]["hidden"], narrow[2]["hidden"]) == (128, 32)


def test_settings_of_another_task_become_the_nearest_of_this_one():
    deep, narrow = (Task("cora", "gcn", None, depth, max_hidden=16) for depth in (16, 4))
    chosen = first_choices(Task("cora", "gcn", None, 16))[0]
    model, train = configs(deep, chosen, **LIMITS)
    assert model.hidden == 64
    assert chosen_in(narrow, model, train) == chosen | {"depth": 4, "hidden": 16}
    assert chosen_in(narrow, model, train, normalize=True)["normalize"]


def test_only_few_shapes_are_worth_a_group():
    assert few_shapes(space(Task("cora", "gcn", "pooled", 2)))
    assert not few_shapes(space(Task("cora", "gcn", "gated", 2)))
    assert not few_shapes(space(Task("cora", "gcnii", None, 2)))


def test_the_order_of_choices_decides_the_random_numbers_and_stays():
    shared = ["learning_rate", "conv_weight_decay", "dense_weight_decay", "dropout", "hidden"]
    shared += ["depth", "activation"]
    leaky = [*shared, "negative_slope", "normalize"]
    own = ["c_max", "c_min", "share", "offset", "drop_output", "offset_weight_decay"]
    expected = {
        ("gcn", None): [*leaky, "init", "drop_convs"],
        ("gcn", "gated"): [*leaky, "init", "drop_convs", "theta"],
        ("gcnii", "pooled"): [*leaky, "init", "alpha", "theta"],
        ("gcnii", "gated"): [*leaky, "init", "alpha", "theta"],
        ("egnn", None): [*shared, "normalize", *own],
        ("egnn", "gated"): [*leaky, *own, "theta"],
    }
    for (model, control), names in expected.items():
        assert list(space(Task("cora", model, control, 2))) == names


def test_a_model_of_pytorch_geometric_has_one_weight_decay():
    task = Task("demo", "pyg:GAT", "gated", None, max_hidden=16)
    choices = space(task)
    assert "conv_weight_decay" not in choices
    assert choices["heads"] == (1, 2, 4, 8)
    assert choices["theta"] == TENTHS
    (first,) = first_choices(task)
    assert (first["learning_rate"], first["hidden"], first["dropout"]) == (0.01, 16, 0.5)
    model, train = configs(task, first, **LIMITS)
    assert model.options == {"heads": 1}
    assert chosen_in(task, model, train) == first
    assert model.build(demo()).convs[0].control.kind == "gated"


def shaped(data, hidden=5, num_layers=2, hops=1):
    return GAT(data.num_features, hidden, num_layers, data.num_classes)


def test_the_space_of_a_file_goes_to_training_the_sizes_and_the_function(monkeypatch):
    own = {"hops": (1, 2), "hidden": (4, 6), "learning_rate": (0.1,), "depth": (1, 3)}
    monkeypatch.setitem(MODELS, "f.py:shaped", ModelFunction("f.py:shaped", shaped, "f.py", own))
    task = Task("demo", "f.py:shaped", None, None, normalize=False)
    choices = space(task)
    assert set(choices) == {*own, "dense_weight_decay"}
    assert choices["hidden"] == (4, 6)
    model, train = configs(task, first_choices(task)[0], **LIMITS)
    assert (model.hidden, model.depth, model.options) == (6, 1, {"hops": 1})
    assert train.learning_rate == 0.1
    assert space(replace(task, depth=2))["depth"] == (2,)
    own["heads"] = (1, 2)
    with pytest.raises(ModelError, match=r"f\.py: space has 'heads', but f\.py:shaped has no such"):
        space(task)


OWN = Task("demo", "hops", None, 2, max_hidden=16)


def test_a_users_model_has_its_own_space():
    choices = space(OWN)
    assert choices["hops"] == (1, 2, 3)
    assert not {"activation", "negative_slope", "theta"} & set(choices)
    (first,) = first_choices(OWN)
    assert (first["hops"], first["hidden"], first["dropout"]) == (3, 16, 0.5)
    model, train = configs(OWN, first, **LIMITS)
    assert (model.options, model.hidden) == ({"hops": 3}, 16)
    assert chosen_in(OWN, model, train) == first
    assert type(model.build(demo())) is MODELS["hops"]
    assert not few_shapes(choices)


def test_a_users_model_is_searched():
    found = search(OWN, trials=4, epochs=10, patience=10)
    assert found.model.options["hops"] in (1, 2, 3)


def test_fixed_options_are_not_searched():
    task = replace(OWN, options={"hops": 4})
    assert space(task) == space(OWN) | {"hops": (4,)}
    model, _ = configs(task, first_choices(task)[0], **LIMITS)
    assert model.options == {"hops": 4}
    deep = Task("demo", "gcn", None, 4, options={"residual": True, "conv_dropout": 0.2})
    assert space(deep) == space(replace(deep, options={}))
    model, _ = configs(deep, first_choices(deep)[0] | {"drop_convs": True}, **LIMITS)
    assert (model.conv_dropout, model.options) == (0.2, {"residual": True})
    energetic = Task("demo", "egnn", None, 2, options={"c_min": 0.4})
    assert space(energetic)["c_min"] == (0.4,)
    assert configs(energetic, first_choices(energetic)[0], **LIMITS)[0].beta == pytest.approx(0.2)
