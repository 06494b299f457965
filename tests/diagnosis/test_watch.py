import json
import math
import sys
from types import SimpleNamespace

import faulty
import numpy as np
import pytest
import torch
from shapes import shapes
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from torch.nn import functional
from torch_geometric.nn import GCN

from graphsct import diagnose, fit
from graphsct.datasets import Fractions, from_graphs
from graphsct.diagnosis import Watch
from graphsct.diagnosis import watch as watch_module
from graphsct.diagnosis.watch import heat_map
from graphsct.errors import TrainingError
from graphsct.training import ModelConfig, TrainConfig
from graphsct.training.seeding import seeded

pytestmark = pytest.mark.usefixtures("seed")


@pytest.fixture
def make(data):
    def build():
        with seeded(0):
            return ModelConfig(depth=3, hidden=8).build(data)

    return build


def watching(model, data, folder, **options):
    return Watch(model, data, folder, share=math.inf, **options)


def lines(folder):
    return [json.loads(line) for line in (folder / "layers.jsonl").read_text().splitlines()]


def test_it_sees_the_weights_move_and_moves_nothing(data, make, tmp_path):
    model = make()
    with watching(model, data, tmp_path, every=5) as watch:
        run = fit(model, data, TrainConfig(epochs=12), callbacks=[watch])
    assert run.history == fit(make(), data, TrainConfig(epochs=12)).history
    found = lines(tmp_path)
    assert [line["epoch"] for line in found] == [1, 5, 10]
    assert found[0]["layers"] != found[1]["layers"] != found[2]["layers"]
    short = make()
    short_run = fit(short, data, TrainConfig(epochs=5, patience=5))
    assert short_run.best_epoch == 5
    expected = diagnose(short, data, reach=False).to_dict()["layers"]
    assert found[1]["layers"] == json.loads(json.dumps(expected))


def test_a_plain_model_too(data, tmp_path):
    model = GCN(16, 8, 2, 3)
    with watching(model, data, tmp_path, every=2) as watch:
        fit(model, data, TrainConfig(epochs=4), callbacks=[watch])
    assert [line["epoch"] for line in lines(tmp_path)] == [1, 2, 4]


class Notes(list):
    def log(self, scalars, step):
        self.append((step, scalars))


def descend(model, data, optimizer):
    optimizer.zero_grad()
    scores = model(data.x, data.edge_index)[data.train_mask]
    loss = functional.cross_entropy(scores, data.y[data.train_mask])
    loss.backward()
    optimizer.step()
    return loss.item()


def train(data, look):
    """A loop of one's own, with dropout; epochs count from 0."""
    with seeded(0):
        model = GCN(16, 8, 2, 3, dropout=0.5)
        optimizer = torch.optim.Adam(model.parameters())
        look = look(model)
        losses = []
        for epoch in range(5):
            losses.append(descend(model, data, optimizer))
            look(epoch)
    return losses, model


def test_a_loop_of_ones_own(data, tmp_path):
    notes, found = Notes(), []

    def look(model):
        watch = watching(model, data, tmp_path, every=2, loggers=[notes])
        return lambda epoch: found.append(watch.step(epoch))

    losses, model = train(data, look)
    assert losses == train(data, lambda model: lambda epoch: None)[0]
    assert model.training
    assert [each is None for each in found] == [False, True, False, True, False]
    assert [line["epoch"] for line in lines(tmp_path)] == [0, 2, 4]
    assert notes == [(epoch, found[epoch].scalars()) for epoch in (0, 2, 4)]
    assert found[4] == diagnose(model, data, rival=False, influence=False, reach=False)


def test_an_epoch_is_diagnosed_once(data, make, tmp_path, monkeypatch):
    """Also by a clock too coarse to see any training between them."""
    monkeypatch.setattr(watch_module, "time", SimpleNamespace(perf_counter=lambda: 1.0))
    watch = watching(make(), data, tmp_path, every=1)
    assert [watch.step(epoch) is None for epoch in (3, 3, 4)] == [False, True, False]
    assert [line["epoch"] for line in lines(tmp_path)] == [3, 4]
    assert watch.skipped == []


def test_some_epochs_must_be_due(data, make, tmp_path):
    with pytest.raises(TrainingError, match="every is 0, expected 1 epoch or more"):
        Watch(make(), data, tmp_path, every=0)


def test_a_run_that_goes_on_replaces_what_comes_after(data, make, tmp_path):
    config = TrainConfig(epochs=6, checkpoint_every=4)
    for _ in range(2):
        model = make()
        with watching(model, data, tmp_path, every=2) as watch:
            fit(model, data, config, callbacks=[watch])
    assert [line["epoch"] for line in lines(tmp_path)] == [1, 2, 4, 6]
    model = make()
    watch = watching(model, data, tmp_path, every=2)
    record = fit(make(), data, config).history[3]
    watch(record)
    assert [line["epoch"] for line in lines(tmp_path)] == [1, 2, 4]


def test_curves_and_heat_maps_for_tensorboard(data, make, tmp_path):
    model = make()
    with watching(model, data, tmp_path, every=2, tensorboard=True) as watch:
        fit(model, data, TrainConfig(epochs=4), callbacks=[watch])
    events = EventAccumulator(str(tmp_path / "layers")).Reload()
    curve = events.Scalars("smoothness/01 convs.0")
    assert [event.step for event in curve] == [1, 2, 4]
    expected = [line["layers"][0]["quartiles"][1] for line in lines(tmp_path)]
    assert [event.value for event in curve] == pytest.approx(expected)
    assert len(events.Images("smoothness")) == 3
    assert set(events.Tags()["scalars"]) == set(
        diagnose(model, data, rival=False, influence=False, reach=False).scalars()
    )


def test_the_heat_map_has_dead_dimensions_apart(data):
    found = diagnose(faulty.dead(), data)
    image = heat_map(found)
    assert image.shape == (6 * 6, 16 * 6, 3)
    assert image.dtype == np.uint8
    assert (image[-1, :, 0] == 200).all()
    grey = image[0, 0]
    assert grey[0] == grey[1] == grey[2] == round(255 * found.layers[0].smoothness[0])


def test_looking_keeps_to_its_share_of_the_time(data, make, tmp_path, monkeypatch, caplog):
    """By a clock on which an epoch takes one second and a diagnosis two."""
    now = 0.0

    def look(*args, **options):
        nonlocal now
        now += 2
        return diagnose(*args, **options)

    monkeypatch.setattr(watch_module, "time", SimpleNamespace(perf_counter=lambda: now))
    monkeypatch.setattr(watch_module, "diagnose", look)
    model = make()
    with Watch(model, data, tmp_path, every=1, share=0.5) as watch:
        for record in fit(make(), data, TrainConfig(epochs=20)).history:
            now += 1
            watch(record)
    # The second look makes 4 seconds, half of 8 seconds of training, and each one more 2 of 4.
    assert [line["epoch"] for line in lines(tmp_path)] == [1, 9, 13, 17]
    assert watch.skipped == sorted({*range(1, 21)} - {1, 9, 13, 17})
    (said,) = caplog.messages
    assert said.startswith("epoch 2 is not diagnosed: that would take more than 50% of the")


def test_without_tensorboard_it_says_so(data, make, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    with pytest.raises(ValueError, match=r"graphsct\[tensorboard\]"):
        Watch(make(), data, tmp_path, tensorboard=True)


def test_it_leaves_the_engine_in_place(data, make, tmp_path):
    model = make()
    with watching(model, data, tmp_path, every=2) as watch:
        run = fit(model, data, TrainConfig(epochs=4), callbacks=[watch])
    assert run.backend == "engine"
    assert torch.is_grad_enabled()


def test_lists_of_graphs_are_watched_as_one(tmp_path):
    graphs = from_graphs(shapes(20), split=Fractions())
    model = ModelConfig(control="gated", depth=3, hidden=8).build(graphs)
    with Watch(model, graphs, tmp_path, every=2, share=math.inf) as watch:
        fit(model, graphs, TrainConfig(epochs=4), callbacks=[watch])
    lines = [json.loads(line) for line in (tmp_path / "layers.jsonl").read_text().splitlines()]
    assert [line["epoch"] for line in lines] == [1, 2, 4]
    assert [len(line["layers"]) for line in lines] == [3, 3, 3]


def test_the_data_are_beside_the_model(data, tmp_path):
    model = GCN(16, 8, 2, 3).to("meta")  # which computes nothing: neither call nor find layers
    watch = Watch(model, data, tmp_path, layers=["convs"], call=lambda model, data: None)
    assert watch.data.x.device.type == "meta"
    assert data.x.device.type == watch.graph.device.type == "cpu"


@pytest.mark.parametrize("damage", ['{"epoch": 1', "[]", '{"a": 1}'])
def test_damaged_diagnoses_of_an_earlier_process_are_named(data, make, tmp_path, damage):
    (tmp_path / "layers.jsonl").write_text(damage + "\n")
    model = make()
    with (
        watching(model, data, tmp_path) as watch,
        pytest.raises(TrainingError, match=r"layers.jsonl is damaged"),
    ):
        fit(model, data, TrainConfig(epochs=2), callbacks=[watch])
    assert (tmp_path / "layers.jsonl").read_text() == damage + "\n"
