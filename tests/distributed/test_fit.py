import os
import time

import pytest
import safetensors.torch
import torch

from graphsct import DataError, ModelError, TrainingError, datasets, nn
from graphsct import fit as fit_alone
from graphsct.distributed import Part, fit, write_partition
from graphsct.distributed.norm import GlobalBatchNorm
from graphsct.training import ModelConfig, TrainConfig
from graphsct.training.seeding import seeded

CONFIG = TrainConfig(epochs=8, checkpoint_every=3, warm_up=6)
MODELS = {
    "pooled": dict(model="gcn", control="pooled", conv_dropout=0.3),
    "normed": dict(model="gcnii", control="gated", normed=True),
}


def words():
    """Sparse features, two splits, and all training nodes among the first of the nodes."""
    data = datasets.csbm(90, 200, num_classes=3, num_components=5, num_features=20, seed=3)
    data.x = torch.where(data.x.abs() < 0.3, 0, data.x).to_sparse_csr()
    first = datasets.Split(*(torch.arange(90) // 30 == i for i in range(3)))
    data.splits = [first, datasets.Split(first.val, first.train, first.test)]
    return data


def build(data, normed=False, **settings):
    with seeded(0):
        model = ModelConfig(depth=2, hidden=8, **settings).build(data)
    if normed:
        model.norms = torch.nn.ModuleList(torch.nn.BatchNorm1d(8) for _ in model.norms)
    return model


def exact(model):
    return {name: tensor.tolist() for name, tensor in model.state_dict().items()}


def fit_all(folder, split):
    part = Part.load(folder)
    found = {}
    for name, settings in MODELS.items():
        model = build(part, **settings)
        found[name] = fit(model, part, CONFIG, split=split), exact(model)
    return found


@pytest.mark.parametrize(("world", "split"), [(2, 0), (3, 1)])
def test_a_run_is_that_of_one_process(workers, tmp_path, world, split):
    data = words()
    write_partition(data, tmp_path, world, method="metis" if split else "contiguous")
    answers = workers.run(world, fit_all, tmp_path, split)
    for name, settings in MODELS.items():
        model = build(data, **settings)
        expected = fit_alone(model, data, CONFIG, split=split)
        for run, weights in (answer[name] for answer in answers):
            assert run.test_score == pytest.approx(expected.test_score)
            assert (run.backend, expected.backend) == ("distributed", "engine")
            assert run.best_epoch == expected.best_epoch
            for ours, theirs in zip(run.history, expected.history, strict=True):
                assert ours == pytest.approx(theirs, abs=1e-5)
            for key, values in exact(model).items():
                torch.testing.assert_close(
                    torch.tensor(weights[key]), torch.tensor(values), rtol=1e-4, atol=1e-4
                )
        assert len({str(weights) for _, weights in (a[name] for a in answers)}) == 1


class StopError(Exception):
    pass


def stop_at(epoch):
    def callback(record):
        if record.epoch == epoch:
            raise StopError

    return callback


def stop_and_go_on(folder, place):
    part = Part.load(folder)
    for settings in MODELS.values():
        own = place / settings["model"]
        with pytest.raises(StopError):
            fit(build(part, **settings), part, CONFIG, folder=own, callbacks=[stop_at(5)])
        seen = []
        model = build(part, **settings)
        run = fit(model, part, CONFIG, folder=own, callbacks=[seen.append])
        assert seen[0].epoch == 4
        whole = build(part, **settings)
        assert fit(whole, part, CONFIG).history == run.history
        assert exact(whole) == exact(model)
        again = build(part, **settings)
        assert fit(again, part, CONFIG, folder=own, callbacks=[stop_at(1)]) == run
        assert exact(again) == exact(whole)
    return run.test_score


def test_resuming_is_bit_for_bit(workers, tmp_path):
    write_partition(words(), tmp_path / "parts", 2)
    accuracies = workers.run(2, stop_and_go_on, tmp_path / "parts", tmp_path / "run")
    assert accuracies[0] == accuracies[1]
    weights = safetensors.torch.load_file(tmp_path / "run" / "gcn" / "weights.safetensors")
    assert set(weights) == set(build(words(), **MODELS["pooled"]).state_dict())


def test_the_same_alone(alone, tmp_path):
    """In this process, where coverage sees it."""
    write_partition(words(), tmp_path / "parts", 1)
    stop_and_go_on(tmp_path / "parts", tmp_path / "run")


def silent(folder, rank):
    part = Part.load(folder)

    def callback(record):
        if rank == 1:
            time.sleep(5)

    fit(build(part), part, CONFIG, callbacks=[callback])


def test_a_silent_process_is_noticed(workers, tmp_path):
    write_partition(words(), tmp_path, 2)
    (good, text), _ = workers.attempt(2, silent, tmp_path, each=[0, 1], seconds=3)
    assert not good
    assert "TrainingError: process 0 of 2 lost another one, or waited more than 3" in text


def test_norms_of_pyg_are_over_all_processes_too(alone, tmp_path):
    data = words()
    write_partition(data, tmp_path / "parts", 1)
    settings = dict(model="gcn", norm="BatchNorm", dropout=0.0)
    expected = fit_alone(build(data, **settings), data, CONFIG, split=0)
    part = Part.load(tmp_path / "parts")
    model = build(part, **settings)
    run = fit(model, part, CONFIG, split=0)
    assert isinstance(model.norms[0].module, GlobalBatchNorm)
    losses = ([epoch.val_loss for epoch in found.history] for found in (run, expected))
    assert next(losses) == pytest.approx(next(losses), abs=1e-5)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (torch.nn.Linear(20, 3), r"Linear is not a model of graphsct\.nn"),
        (nn.GCN(20, 4, 3, 2, norm="PairNorm"), "PairNorm would normalise over the nodes of one"),
        (nn.GCN(20, 8, 3, 2, edge_dropout=0.5), "edge_dropout is 0.5.*in one process"),
        (nn.GCN(20, 8, 3, 2, message_dropout=0.5), "message_dropout is 0.5.*in one process"),
        (nn.GCN(20, 8, 3, 2, rank_loss=0.5), "rank_loss is 0.5.*in one process"),
        (nn.GCN(20, 8, 3, 2, residual="gradient_gating"), "gradient_gating.*in one process"),
    ],
)
def test_models_that_cannot_share_are_refused(alone, tmp_path, model, message):
    write_partition(words(), tmp_path / "parts", 1)
    with pytest.raises(ModelError, match=message):
        fit(model, Part.load(tmp_path / "parts"), CONFIG)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"metric": "f1_macro"}, "metric is 'f1_macro'.*in one process"),
        ({"precision": "bf16"}, "precision is 'bf16'.*in one process"),
    ],
)
def test_settings_that_need_one_process_are_refused(alone, tmp_path, settings, message):
    write_partition(words(), tmp_path / "parts", 1)
    part = Part.load(tmp_path / "parts")
    with pytest.raises(TrainingError, match=message):
        fit(build(part), part, TrainConfig(**settings))


def test_one_graph_has_no_batches(alone, tmp_path):
    write_partition(words(), tmp_path / "parts", 1)
    part = Part.load(tmp_path / "parts")
    with pytest.raises(TrainingError, match="batch_size=8 is for lists of graphs"):
        fit(build(part), part, TrainConfig(batch_size=8))


def test_a_split_that_is_not_there(alone, tmp_path):
    write_partition(words(), tmp_path / "parts", 1)
    part = Part.load(tmp_path / "parts")
    with pytest.raises(DataError, match="has 2 splits; 2 is not among them"):
        fit(build(part), part, CONFIG, split=2)


def test_one_process_must_be_started_by_somebody(monkeypatch):
    from graphsct.distributed import joined

    for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(TrainingError, match=r"did not find each other.*torchrun"), joined(5):
        pass
    assert "RANK" not in os.environ
