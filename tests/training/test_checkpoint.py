import json
import os
import random
import resource
import signal
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
import safetensors.torch
import torch
from filelock import FileLock
from processes import PROCESSES

from graphsct import TrainingError, datasets
from graphsct.training import ModelConfig, TrainConfig, fit
from graphsct.training.checkpoint import SingleRunFolder
from graphsct.training.seeding import seeded

CONFIG = TrainConfig(epochs=40, checkpoint_every=5)


def build(**settings):
    with seeded(0):
        settings = {"hidden": 8, "control": "pooled", "norm": "GraphNorm", **settings}
        return ModelConfig(**settings).build(datasets.demo())


@pytest.fixture(scope="module")
def data():
    return datasets.demo()


def exact(model):
    return {name: tensor.tolist() for name, tensor in model.state_dict().items()}


class StopError(Exception):
    pass


def stop_at(epoch):
    def callback(record):
        if record.epoch == epoch:
            raise StopError

    return callback


def half_done(data, folder, epoch=17, **settings):
    with pytest.raises(StopError):
        fit(build(**settings), data, CONFIG, folder=folder, callbacks=[stop_at(epoch)])


@pytest.mark.parametrize("model", ["gcn", "gcnii", "egnn"])
@pytest.mark.parametrize("select", ["val_loss", "val_score"])
@pytest.mark.parametrize("warm_up", [0, 12])
def test_resuming_is_bit_for_bit(data, tmp_path, model, select, warm_up):
    config = TrainConfig(epochs=40, checkpoint_every=5, select=select, patience=10, warm_up=warm_up)
    whole = build(model=model)
    expected = fit(whole, data, config)
    with pytest.raises(StopError):
        fit(build(model=model), data, config, folder=tmp_path, callbacks=[stop_at(9)])
    seen = []
    resumed = build(model=model)
    run = fit(resumed, data, config, folder=tmp_path, callbacks=[seen.append])
    assert seen[0].epoch == 6
    assert run.history == expected.history
    assert (run.test_score, run.best_epoch) == (expected.test_score, expected.best_epoch)
    assert exact(resumed) == exact(whole)


def test_a_folder_holds_the_result_when_the_run_is_over(data, tmp_path):
    model = build()
    run = fit(model, data, CONFIG, folder=tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    assert names - {".lock"} == {"run.json", "history.jsonl", "weights.safetensors"}
    content = json.loads((tmp_path / "run.json").read_text())
    assert content["test_score"] == run.test_score
    assert content["config"] == CONFIG.to_dict()
    assert content["versions"]["torch"] == torch.__version__
    lines = [json.loads(line) for line in (tmp_path / "history.jsonl").read_text().splitlines()]
    assert lines == [record._asdict() for record in run.history]
    weights = safetensors.torch.load_file(tmp_path / "weights.safetensors")
    assert {name: tensor.tolist() for name, tensor in weights.items()} == exact(model)


def test_a_finished_run_is_read_not_run_again(data, tmp_path):
    model = build()
    first = fit(model, data, CONFIG, folder=tmp_path)
    again = build()
    assert fit(again, data, CONFIG, folder=tmp_path, callbacks=[stop_at(1)]) == first
    assert exact(again) == exact(model)
    assert not again.training


def test_what_a_killed_process_left_is_swept_away(data, tmp_path):
    half_done(data, tmp_path)
    (tmp_path / ".checkpoint-ab12cd_9.safetensors").write_bytes(b"half")
    (tmp_path / ".mine-1.txt").write_text("")
    fit(build(), data, CONFIG, folder=tmp_path)
    assert not (tmp_path / ".checkpoint-ab12cd_9.safetensors").exists()
    assert (tmp_path / ".mine-1.txt").exists()


@pytest.mark.parametrize(
    ("settings", "config", "message"),
    [
        (dict(hidden=16), CONFIG, r"model.hidden_channels is 8 there, 16 here"),
        (dict(dropout=0.1), CONFIG, r"model.dropout is 0.5 there, 0.1 here"),
        (dict(model="gcnii"), CONFIG, r"model.class is 'GCN' there, 'GCNII' here"),
        (dict(control=None), CONFIG, r"control.*there, missing here"),
        ({}, TrainConfig(epochs=40, learning_rate=0.1), r"train.learning_rate is 0.01 there, 0.1"),
        ({}, TrainConfig(epochs=40, seed=3), r"train.seed is 0 there, 3 here"),
    ],
)
@pytest.mark.parametrize("over", [False, True])
def test_a_checkpoint_of_another_run_is_refused(data, tmp_path, settings, config, message, over):
    if over:
        fit(build(), data, CONFIG, folder=tmp_path)
    else:
        half_done(data, tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(TrainingError, match=f"belongs to another run: .*{message}") as caught:
        fit(build(**settings), data, config, folder=tmp_path)
    assert "Use another folder" in str(caught.value)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    ("name", "what"), [("x", "features"), ("y", "labels"), ("val_mask", "val_mask")]
)
def test_a_checkpoint_of_other_data_is_refused(data, tmp_path, name, what):
    half_done(data, tmp_path)
    other = data.clone()
    tensor = getattr(data, name).clone()
    tensor[int(data.val_mask.nonzero()[0])] = 0
    tensor[int(data.val_mask.nonzero()[1])] = 0
    setattr(other, name, tensor)
    with pytest.raises(TrainingError, match=f"data.{what} is .* there, .* here"):
        fit(build(), other, CONFIG, folder=tmp_path)
    other = datasets.csbm(300, 901, num_classes=3, num_components=3)
    with pytest.raises(TrainingError, match=r"data.edges is .* here"):
        fit(build(), other, CONFIG, folder=tmp_path)


def test_more_checkpoints_are_no_other_run(data, tmp_path):
    half_done(data, tmp_path)
    often = TrainConfig(epochs=40, checkpoint_every=1)
    assert fit(build(), data, often, folder=tmp_path).history == fit(build(), data, CONFIG).history


@pytest.mark.parametrize("content", [b"", b"no tensors at all", b"\x08\0\0\0\0\0\0\0{}      "])
def test_a_damaged_checkpoint_is_named(data, tmp_path, content):
    (tmp_path / "checkpoint.safetensors").write_bytes(content)
    with pytest.raises(TrainingError, match=r"checkpoint.safetensors is damaged"):
        fit(build(), data, CONFIG, folder=tmp_path)


def test_damaged_results_are_named(data, tmp_path):
    fit(build(), data, CONFIG, folder=tmp_path)
    (tmp_path / "weights.safetensors").unlink()
    with pytest.raises(TrainingError, match=r"weights.safetensors is missing"):
        fit(build(), data, CONFIG, folder=tmp_path)


#: Damages of the text files of a finished run: a file, what is replaced by what, and the reason.
DAMAGES = [
    ("run.json", ("{", "", 1), "Expecting value|Extra data"),
    ("run.json", ('"identity"', '"id"'), "KeyError: 'identity'"),
    ("run.json", ('"val_loss": ', '"val_loss": "low" , "x": '), "no value 'x'|val_loss is 'low'"),
    ("run.json", ('"epochs": 40', '"epochs": "all"'), "epochs is 'all', expected a whole number"),
    ("history.jsonl", ('"val_loss"', '"loss"', 1), r"history\[0\]|no value 'loss'"),
    ("history.jsonl", ("}", "", 1), "JSONDecodeError"),
]


@pytest.mark.parametrize(("name", "change", "reason"), DAMAGES)
def test_a_damaged_text_file_is_named_with_the_reason(data, tmp_path, name, change, reason):
    fit(build(), data, CONFIG, folder=tmp_path)
    text = (tmp_path / name).read_text()
    (tmp_path / name).write_text(text.replace(*change))
    with pytest.raises(
        TrainingError, match=rf"{name} is damaged or .*({reason}).*delete"
    ) as caught:
        fit(build(), data, CONFIG, folder=tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kept", [0, 39])
def test_a_history_without_some_epochs_is_named(data, tmp_path, kept):
    fit(build(), data, CONFIG, folder=tmp_path)
    path = tmp_path / "history.jsonl"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:kept]))
    with pytest.raises(
        TrainingError, match=rf"history.jsonl is damaged .*{kept} lines for a run of 40 epochs"
    ):
        fit(build(), data, CONFIG, folder=tmp_path)


def test_a_missing_history_is_named(data, tmp_path):
    fit(build(), data, CONFIG, folder=tmp_path)
    (tmp_path / "history.jsonl").unlink()
    with pytest.raises(TrainingError, match=r"history.jsonl is damaged .*No such file"):
        fit(build(), data, CONFIG, folder=tmp_path)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("checkpoint", (b"identity", b"identify")),
        ("checkpoint", (b"seconds", b"minutes")),
        ("checkpoint", (b'"history"', b'"histery"')),
        ("checkpoint", (b"selection.", b"collection")),
        ("weights", (b"identity", b"identify")),
        ("weights", (b'"input.weight":{', b'"input.height":{')),
    ],
)
def test_a_damaged_header_is_named(data, tmp_path, name, change):
    half_done(data, tmp_path)
    if name == "weights":
        fit(build(), data, CONFIG, folder=tmp_path)
    path = tmp_path / f"{name}.safetensors"
    content = path.read_bytes()
    assert change[0] in content
    path.write_bytes(content.replace(*change))
    with pytest.raises(TrainingError, match=rf"{name}.safetensors is damaged or") as caught:
        fit(build(), data, CONFIG, folder=tmp_path)
    assert "\n" not in str(caught.value)


def test_a_loss_that_is_not_finite_keeps_the_last_good_checkpoint(data, tmp_path):
    def poison(record):
        if record.epoch == 7:
            with torch.no_grad():
                model.output.weight.fill_(torch.nan)

    model = build()  # with a norm it is trained by autograd, which sees the poison

    with pytest.raises(TrainingError, match=r"in epoch 8 .* nan .*checkpoint of epoch 5 is kept"):
        fit(model, data, CONFIG, folder=tmp_path, callbacks=[poison])
    with pytest.raises(TrainingError, match=r"in epoch 8 .*checkpoint of epoch 5 is kept"):
        model = build()  # right from the checkpoint on
        fit(model, data, CONFIG, folder=tmp_path, callbacks=[poison])
    resumed = fit(build(), data, CONFIG, folder=tmp_path)
    assert resumed.history == fit(build(), data, CONFIG).history


def test_a_learning_rate_that_is_too_large_is_said_so(data):
    with pytest.raises(TrainingError, match=r"in epoch \d+ .*Lower learning_rate, which is 1e\+20"):
        fit(build(norm=None), data, TrainConfig(learning_rate=1e20))


@pytest.mark.parametrize("patience", [3, 100])
def test_a_run_that_was_killed_after_its_last_epoch_trains_no_more(
    data, tmp_path, monkeypatch, patience
):
    config = TrainConfig(epochs=60, patience=patience, checkpoint_every=1)
    expected = fit(build(), data, config)

    def die(self, run, weights):
        raise StopError

    with monkeypatch.context() as patch:
        patch.setattr(SingleRunFolder, "finish", die)
        with pytest.raises(StopError):
            fit(build(), data, config, folder=tmp_path)
    model = build()
    run = fit(model, data, config, folder=tmp_path, callbacks=[stop_at(1)])
    assert run.history == expected.history
    assert run.test_score == expected.test_score
    assert (tmp_path / "run.json").is_file()


def press_ctrl_c(epoch, times=1):
    def callback(record):
        if record.epoch == epoch:
            for _ in range(times):
                os.kill(os.getpid(), signal.SIGINT)

    return callback


def test_ctrl_c_keeps_the_best_so_far_and_can_go_on(data, tmp_path):
    model = build()
    run = fit(model, data, CONFIG, folder=tmp_path, callbacks=[press_ctrl_c(13)])
    assert run.interrupted
    assert run.epochs == 13
    assert run.val_loss == min(record.val_loss for record in run.history)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    whole = build()
    expected = fit(whole, data, CONFIG)
    assert expected.history[:13] == run.history
    resumed = build()
    assert fit(resumed, data, CONFIG, folder=tmp_path).history == expected.history
    assert exact(resumed) == exact(whole)


def test_ctrl_c_twice_stops_at_once(data):
    with pytest.raises(KeyboardInterrupt):
        fit(build(), data, CONFIG, callbacks=[press_ctrl_c(3, times=2)])


def test_the_result_is_on_the_disk_before_the_checkpoint_goes(data, tmp_path, monkeypatch):
    flushed, unlink, gone = [], Path.unlink, []

    def watch(path, **options):
        if path.name == "checkpoint.safetensors":
            result = [
                tmp_path / name for name in ("weights.safetensors", "history.jsonl", "run.json")
            ]
            gone.append({each.stat().st_ino for each in result} <= set(flushed))
            gone.append(flushed[-1] == tmp_path.stat().st_ino)
        unlink(path, **options)

    monkeypatch.setattr(os, "fsync", lambda handle: flushed.append(os.fstat(handle).st_ino))
    monkeypatch.setattr(Path, "unlink", watch)
    fit(build(), data, CONFIG, folder=tmp_path)
    assert gone == [True, True]


def test_two_processes_do_not_share_a_folder(data, tmp_path):
    with FileLock(tmp_path / ".lock"), pytest.raises(TrainingError, match="another process"):
        fit(build(), data, CONFIG, folder=tmp_path)


def test_a_file_in_the_place_of_the_folder(data, tmp_path):
    (tmp_path / "taken").write_text("mine")
    with pytest.raises(TrainingError, match=r"cannot write to .*taken: File exists"):
        fit(build(), data, CONFIG, folder=tmp_path / "taken")
    assert (tmp_path / "taken").read_text() == "mine"


def child(folder, config, limit_at, said):
    """Train slowly; from epoch ``limit_at`` on, no file may become larger than 2 kB."""
    torch.set_num_threads(1)

    def callback(record):
        time.sleep(0.005)  # so slow that no machine finishes before it is killed
        if record.epoch == limit_at:
            resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

    try:
        fit(build(norm=None), datasets.demo(), config, folder=folder, callbacks=[callback])
        said.send("done")
    except TrainingError as error:
        said.send(str(error))


@contextmanager
def process(folder, config, limit_at=0):
    listen, said = PROCESSES.Pipe(duplex=False)
    started = PROCESSES.Process(target=child, args=(folder, config, limit_at, said), daemon=True)
    started.start()
    said.close()
    with listen:
        yield started, listen
    started.join()
    started.close()


@pytest.mark.slow
def test_kill_9_at_any_moment_changes_nothing(data, tmp_path):
    config = TrainConfig(epochs=300, patience=300, checkpoint_every=2)
    whole = build(norm=None)
    expected = fit(whole, data, config)
    moments = random.Random(time.time_ns())
    for _ in range(3):
        before = _modified(tmp_path)
        with process(tmp_path, config) as (running, _):
            while _modified(tmp_path) == before and running.is_alive():
                time.sleep(0.001)
            time.sleep(moments.uniform(0, 0.1))
            os.kill(running.pid, signal.SIGKILL)
            running.join()
            assert running.exitcode == -signal.SIGKILL
    assert not (tmp_path / "run.json").exists()
    with process(tmp_path, config) as (_, listen):
        assert listen.recv() == "done"
    resumed = build(norm=None)
    run = fit(resumed, data, config, folder=tmp_path, callbacks=[stop_at(1)])  # only reads it
    assert run.history == expected.history
    assert run.test_score == expected.test_score
    assert exact(resumed) == exact(whole)


def _modified(folder):
    path = folder / "checkpoint.safetensors"
    return path.stat().st_mtime_ns if path.exists() else None


def test_a_full_disk_loses_nothing(data, tmp_path):
    with process(tmp_path, CONFIG, limit_at=12) as (_, listen):
        message = listen.recv()
    assert f"cannot write to {tmp_path}: File too large. Files written earlier are" in message
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {".lock", "checkpoint.safetensors", "history.jsonl"}
    seen = []
    run = fit(build(norm=None), data, CONFIG, folder=tmp_path, callbacks=[seen.append])
    assert seen[0].epoch == 11
    assert run.history == fit(build(norm=None), data, CONFIG).history
