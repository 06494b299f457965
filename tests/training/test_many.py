import copy
import gc
import os
import signal
import weakref
from dataclasses import replace

import pytest
import torch
from torch.testing import assert_close

from graphsct import ModelError, TrainingError, fit, fit_many
from graphsct.datasets import csbm, demo
from graphsct.datasets.splits import Fractions, Split
from graphsct.training import ModelConfig, TrainConfig, runner
from graphsct.training.progress import Progress
from graphsct.training.seeding import seeded

CONFIG = TrainConfig(epochs=60, patience=12, learning_rate=0.02, checkpoint_every=10)


@pytest.fixture(scope="module")
def data():
    """In float64: Adam's first steps are signs, which blow up the rounding of small gradients."""
    data = demo()
    data.x, data.graph = data.x.double(), data.graph.double()
    return data


def build(data, seeds, **settings):
    models = []
    for seed in seeds:
        with seeded(seed):
            models.append(ModelConfig(**{"hidden": 8, **settings}).build(data).to(data.x.dtype))
    return models


def check_same(alone, together):
    assert len(alone) == len(together)
    for one, other in zip(alone, together, strict=True):
        assert (one.epochs, one.best_epoch) == (other.epochs, other.best_epoch)
        assert_close(torch.tensor(one.history), torch.tensor(other.history), rtol=1e-5, atol=1e-6)
        assert one.test_score == other.test_score
        assert one.config == other.config


@pytest.mark.parametrize("model", ["gcn", "gcnii", "egnn"])
@pytest.mark.parametrize("control", [None, "pooled", "gated", "gated_full"])
def test_the_same_as_one_by_one_with_dropout_and_early_stopping(data, model, control):
    seeds = range(4)
    configs = [replace(CONFIG, seed=seed, patience=8) for seed in seeds]
    settings = dict(model=model, control=control, depth=3)
    models = build(data, seeds, **settings)
    together = fit_many(models, data, configs)
    ones = build(data, seeds, **settings)
    alone = [fit(m, data, c, progress=False) for m, c in zip(ones, configs, strict=True)]
    check_same(alone, together)
    for one, other in zip(ones, models, strict=True):
        for key, value in one.state_dict().items():
            assert_close(other.state_dict()[key], value, rtol=1e-4, atol=1e-5)


@pytest.fixture
def batches(monkeypatch):
    """Weak references to the runners that are made, and the number of runs that each trains."""
    found = []
    make = runner.Runner

    def note(*args):
        made = make(*args)
        found.append((weakref.ref(made), len(made._tracks)))
        return made

    monkeypatch.setattr(runner, "Runner", note)
    return found


def test_a_batch_that_is_over_holds_no_memory(data, batches, monkeypatch):
    class Look(Progress):
        def __call__(self, record):
            gc.collect()
            assert all(made() is None for made, _ in batches[:-1])

    monkeypatch.setattr(torch, "get_num_threads", lambda: 1)  # or there are two side by side
    config = replace(CONFIG, epochs=2)
    fit_many(build(data, range(3)), data, config, at_once=1, progress=Look(3, 2))
    assert len(batches) == 3


def test_runs_stop_one_by_one(data):
    configs = [replace(CONFIG, seed=seed, patience=5, epochs=300) for seed in range(6)]
    runs = fit_many(build(data, range(6)), data, configs)
    assert len({run.epochs for run in runs}) > 2
    assert all(run.epochs == run.best_epoch + 5 for run in runs)


def test_splits_learning_rates_decays_and_rates_of_their_own(data):
    masks = [Fractions(0.3, 0.3, seed=seed).draw(data.y) for seed in range(3)]
    configs = [
        replace(CONFIG, learning_rate=0.01 * (i + 1), conv_weight_decay=0.001 * i, seed=i)
        for i in range(3)
    ]

    def models():
        made = build(data, range(3), model="gcnii", control="gated")
        for i, model in enumerate(made):
            model.dropout = model.conv_dropout = 0.2 * i
        return made

    together = fit_many(models(), data, configs, splits=masks)
    alone = [
        fit(m, data, c, split=s, progress=False)
        for m, c, s in zip(models(), configs, masks, strict=True)
    ]
    check_same(alone, together)


def test_a_run_without_dropout_is_the_same_beside_one_with_it(data):
    def models():
        return [build(data, [0], conv_dropout=rate)[0] for rate in (0.0, 0.5)]

    together = fit_many(models(), data, CONFIG)
    check_same([fit(model, data, CONFIG, progress=False) for model in models()], together)


def test_batches_and_models_that_differ(data):
    settings = [dict(depth=2), dict(depth=3), dict(norm="BatchNorm"), dict(depth=2), dict(depth=2)]
    models = [build(data, [i], **s)[0] for i, s in enumerate(settings)]
    ones = [build(data, [i], **s)[0] for i, s in enumerate(settings)]
    together = fit_many(models, data, CONFIG, at_once=2)
    check_same([fit(model, data, CONFIG, progress=False) for model in ones], together)


def test_large_graphs_go_one_by_one_or_few():
    data = csbm(3000, 6000, num_classes=3, homophily=0.8, num_features=8)
    configs = [TrainConfig(epochs=3, seed=seed) for seed in range(3)]
    together = fit_many(build(data, range(3), hidden=200), data, configs)
    models = build(data, range(3), hidden=200)
    check_same([fit(m, data, c) for m, c in zip(models, configs, strict=True)], together)


def test_folders_hold_what_fit_would_write(data, tmp_path):
    configs = [replace(CONFIG, seed=seed) for seed in range(3)]
    places = [tmp_path / str(seed) for seed in range(3)]
    first = fit_many(build(data, range(3)), data, configs, folders=places)
    again = fit_many(build(data, range(3)), data, configs, folders=places)
    assert again == first
    read = fit(build(data, [1])[0], data, configs[1], folder=places[1])
    assert read == first[1]


def test_an_interrupted_batch_goes_on(data, tmp_path):
    configs = [replace(CONFIG, seed=seed) for seed in range(3)]
    places = [tmp_path / str(seed) for seed in range(3)]

    class Stop(Progress):
        def __call__(self, record):
            if record.epoch == 25:
                os.kill(os.getpid(), signal.SIGINT)

    stop = Stop(3, CONFIG.epochs)
    runs = fit_many(build(data, range(3)), data, configs, folders=places, progress=stop)
    assert [run.epochs for run in runs] == [25] * 3
    assert all(run.interrupted for run in runs)
    assert (places[0] / "checkpoint.safetensors").is_file()
    whole = fit_many(build(data, range(3)), data, configs)
    check_same(whole, fit_many(build(data, range(3)), data, configs, folders=places))


def test_errors_teach(data):
    with pytest.raises(TrainingError, match="2 models and 3 configs; give one for each"):
        fit_many(build(data, range(2)), data, [CONFIG] * 3)
    with pytest.raises(TrainingError, match="Lower learning_rate"):
        fit_many(build(data, range(2)), data, replace(CONFIG, learning_rate=1e200))
    assert fit_many([], data) == []
    model = build(data, [0])[0]
    with pytest.raises(TrainingError, match=r"models\[2\] is the same object as models"):
        fit_many([model, *build(data, [1]), model], data, CONFIG)
    with pytest.raises(ModelError, match=r"the model is 'gcn', expected a torch.nn.Module"):
        fit_many(["gcn"], data, CONFIG)
    with pytest.raises(ModelError, match=r"GCN'>, expected a .*the class itself has no weights"):
        fit_many([type(model)], data, CONFIG)


def test_parts_go_side_by_side_and_leave_the_threads_as_they_were(data):
    configs = [replace(CONFIG, seed=seed) for seed in range(5)]
    alone = fit_many(build(data, range(5)), data, configs, at_once=2)
    threads = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        runs = fit_many(build(data, range(5)), data, configs, at_once=2)
        assert torch.get_num_threads() == 3
        assert [run.versions["threads"] for run in runs] == [1] * 5
        check_same(alone, runs)
        broken = build(data, range(5))
        broken[4].output.bias.data.fill_(torch.nan)
        with pytest.raises(TrainingError, match="learning_rate"):
            fit_many(broken, data, configs, at_once=1)
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(threads)


@pytest.mark.parametrize("model", ["gcn", "egnn"])
def test_runs_that_differ_in_their_rule_alone_are_trained_once(data, model, batches):
    cases = [(seed, rule) for rule in ("val_score", "val_loss") for seed in range(3)]
    cases += [(7, "val_loss")]
    configs = [replace(CONFIG, seed=seed, select=rule, patience=5) for seed, rule in cases]
    models = build(data, [seed for seed, _ in cases], model=model, control="gated", depth=3)
    together = fit_many(models, data, configs)
    assert [tracks for _, tracks in batches] == [4]
    ones = build(data, [seed for seed, _ in cases], model=model, control="gated", depth=3)
    alone = [fit(m, data, c, progress=False) for m, c in zip(ones, configs, strict=True)]
    check_same(alone, together)
    assert len({run.epochs for run in alone}) > 1  # they do not end together
    assert any(alone[seed].best_epoch != alone[seed + 3].best_epoch for seed in range(3))
    for one, other in zip(ones, models, strict=True):
        for key, value in one.state_dict().items():
            assert_close(other.state_dict()[key], value, rtol=1e-4, atol=1e-5)


def test_other_splits_rates_or_weights_are_trained_apart(data, batches):
    configs = [replace(CONFIG, epochs=2, select=rule) for rule in ("val_score", "val_loss")]
    models = build(data, [0, 0])
    fit_many(build(data, [0, 1]), data, configs)
    fit_many(models, data, [configs[0], replace(configs[1], learning_rate=0.5)])
    models = build(data, [0, 0])
    models[1].dropout = 0.1
    fit_many(models, data, configs)
    split = Split(data.val_mask, data.train_mask, data.test_mask)
    fit_many(build(data, [0, 0]), data, configs, splits=[None, split])
    assert [tracks for _, tracks in batches] == [2] * 4


def test_twins_that_were_interrupted_go_on(data, tmp_path):
    configs = [replace(CONFIG, select=rule) for rule in ("val_score", "val_loss")]
    folders = [tmp_path / config.select for config in configs]

    class Stop:
        def __call__(self, record):
            if record.epoch == 13:
                os.kill(os.getpid(), signal.SIGINT)

        def next_run(self):
            pass

    begun = fit_many(build(data, [0, 0]), data, configs, folders=folders, progress=Stop())
    assert [run.interrupted for run in begun] == [True, True]
    together = fit_many(build(data, [0, 0]), data, configs, folders=folders)
    alone = [
        fit(m, data, c, progress=False) for m, c in zip(build(data, [0, 0]), configs, strict=True)
    ]
    check_same(alone, together)


class Tanh(torch.nn.Module):
    """A model that the engine does not know, with an attribute that no key can hold."""

    def __init__(self, after):
        super().__init__()
        self.first, self.second = torch.nn.Linear(16, 8), torch.nn.Linear(8, 3)
        self.after = after
        self.calls = 0

    def forward(self, x, edge_index):
        self.calls += 1
        x = torch.nn.functional.dropout(self.after(self.first(x)), 0.5, self.training)
        return self.second(x)


def tanhs(count, *functions):
    made = []
    for i in range(count):
        with seeded(0):
            made.append(Tanh(functions[i % len(functions)]).double())
    return made


def test_any_models_are_trained_as_by_fit(data):
    configs = [replace(CONFIG, seed=seed) for seed in range(3)]
    alone = [
        fit(m, data, c, progress=False) for m, c in zip(tanhs(3, torch.tanh), configs, strict=True)
    ]
    together = fit_many(tanhs(3, torch.tanh), data, configs)
    assert [run.history for run in together] == [run.history for run in alone]
    assert {run.backend for run in together} == {"autograd"}
    assert len({run.history for run in together}) == 3


def test_any_models_that_differ_in_their_rule_alone_are_trained_once(data):
    configs = [replace(CONFIG, select=rule) for rule in ("val_score", "val_loss")]
    models = tanhs(2, torch.tanh)
    together = fit_many(models, data, configs)
    alone = [
        fit(m, data, c, progress=False) for m, c in zip(tanhs(2, torch.tanh), configs, strict=True)
    ]
    check_same(alone, together)
    assert models[1].calls == 1  # to be tested


def test_models_that_cannot_be_compared_are_trained_apart(data):
    models = tanhs(2, torch.tanh, torch.relu)
    first, second = fit_many(models, data, CONFIG)
    assert first.history != second.history


def test_models_that_differ_in_the_type_of_a_part_are_trained_apart(data):
    models = [build(data, [0], activation=name)[0] for name in ("relu", "selu")]
    ones = [build(data, [0], activation=name)[0] for name in ("relu", "selu")]
    together = fit_many(models, data, CONFIG)
    check_same([fit(model, data, CONFIG, progress=False) for model in ones], together)
    assert together[0].history != together[1].history


def test_each_model_has_its_own_callbacks(data):
    seen = [[], []]
    configs = [replace(CONFIG, seed=seed, patience=5) for seed in range(2)]
    callbacks = [[records.append] for records in seen]
    runs = fit_many(build(data, range(2)), data, configs, callbacks=callbacks)
    assert [tuple(records) for records in seen] == [run.history for run in runs]


def test_twins_by_autograd_may_end_at_different_epochs(data):
    cases = [(seed, rule) for rule in ("val_score", "val_loss") for seed in range(3)]
    configs = [replace(CONFIG, seed=seed, select=rule, patience=5) for seed, rule in cases]

    def models():
        return build(data, [seed for seed, _ in cases], norm="GraphNorm", depth=3)

    trained = models()
    together = fit_many(trained, data, configs)
    ones = models()
    alone = [fit(m, data, c, progress=False) for m, c in zip(ones, configs, strict=True)]
    assert [run.history for run in together] == [run.history for run in alone]
    assert any(alone[seed].epochs != alone[seed + 3].epochs for seed in range(3))
    for one, other in zip(ones, trained, strict=True):
        for key, value in one.state_dict().items():
            assert torch.equal(other.state_dict()[key], value)


def test_models_of_pyg_are_trained_one_after_another(data):
    from torch_geometric.nn import GAT

    torch.manual_seed(0)
    models = [GAT(data.num_features, 8, 2, 3, dropout=0.5).double() for _ in range(2)]
    copies = copy.deepcopy(models)
    configs = [replace(CONFIG, seed=seed) for seed in range(2)]
    together = fit_many(models, data, configs)
    alone = [fit(m, data, c, progress=False) for m, c in zip(copies, configs, strict=True)]
    assert [run.backend for run in together] == ["autograd", "autograd"]
    assert [run.history for run in together] == [run.history for run in alone]
