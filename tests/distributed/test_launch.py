"""The command as a user starts it, with real processes that really die."""

import json
import os
import runpy
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from torch.distributed.elastic.multiprocessing.api import SignalException
from torch.distributed.elastic.multiprocessing.errors import ChildFailedError, ProcessFailure
from typer.testing import CliRunner

from graphsct import datasets
from graphsct.cli import app
from graphsct.distributed import Part, train, write_partition
from graphsct.distributed.launch import _explain
from graphsct.training import ModelConfig, TrainConfig

MODEL = ModelConfig(depth=2, hidden=8, control="pooled")
CONFIG = TrainConfig(epochs=80, checkpoint_every=1)
ARGUMENTS = ["--depth", "2", "--hidden", "8", "--control", "pooled", "--seeds", "1"]
ARGUMENTS += ["--epochs", "80", "--checkpoint-every", "1"]


def failure(code):
    return ProcessFailure(local_rank=0, pid=1, exitcode=code, error_file="")


def worker(parent, rank):
    """The process of this rank, by its parent."""
    for child in Path(f"/proc/{parent}/task/{parent}/children").read_text().split():
        try:
            if f"RANK={rank}" in Path(f"/proc/{child}/environ").read_text().split("\0"):
                return int(child)
        except OSError:  # it is gone
            continue
    return None


def wait_for(what, process):
    while not (found := what()):
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.01)
    return found


def go_on(parts, folder, resume):
    found = train(MODEL, Part.load(parts), CONFIG, [0], folder=folder, resume=resume)
    return found.results.runs[0].history


@pytest.mark.slow
def test_a_killed_worker_is_replaced_and_at_last_ends_the_job(workers, tmp_path):
    parts, folder = tmp_path / "parts", tmp_path / "run"
    write_partition(datasets.demo(), parts, 2)
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    command = [sys.executable, *torchrun, "--max-restarts", "1", "-m", "graphsct"]
    command += ["train", "--distributed", "--data", str(parts), "--out", str(folder), *ARGUMENTS]
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    history = folder / "seed-0" / "history.jsonl"

    def epochs():
        return len(history.read_bytes().splitlines()) if history.exists() else 0

    wait_for(epochs, process)
    first = worker(process.pid, 1)
    os.kill(first, signal.SIGKILL)
    wait_for(lambda: worker(process.pid, 1) not in (first, None), process)
    before = epochs()
    seen = wait_for(lambda: (count := epochs()) != before and count, process)
    assert seen > before  # and not from the beginning
    os.kill(worker(process.pid, 1), signal.SIGKILL)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "graphsct: process 0 of 2 lost another one" in errors
    assert "SIGKILL" in errors
    assert not (folder / "results.json").exists()
    resumed, _ = workers.run(2, go_on, parts, folder, True)
    whole, _ = workers.run(2, go_on, parts, tmp_path / "whole", False)
    assert resumed == whole


@pytest.mark.slow
def test_train_starts_its_processes(tmp_path, monkeypatch, capfd):
    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    parts, folder = tmp_path / "parts", tmp_path / "run"
    write_partition(datasets.demo(), parts, 1)
    arguments = ["--data", str(parts), "--epochs", "3", "--seeds", "1", "--out", str(folder)]
    command = ["train", "--distributed", *arguments, "--json"]
    assert CliRunner().invoke(app, command).exit_code == 0
    printed = json.loads(capfd.readouterr().out)
    assert printed["seeds"][0]["epochs"] == 3
    assert json.loads((folder / "results.json").read_text())["data"] == "demo (generated)"
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (ChildFailedError("x", {0: failure(1)}), 1, "process 0 of 1 failed with exit code 1"),
        (
            SignalException("", signal.SIGTERM),
            1,
            "ended by SIGTERM; resume from the last checkpoint with --resume",
        ),
        (SignalException("", signal.SIGINT), 130, "interrupted"),
    ],
)
def test_how_processes_end_is_how_the_command_ends(tmp_path, monkeypatch, error, code, message):
    def fail(arguments):
        raise error

    write_partition(datasets.demo(), tmp_path, 1)
    monkeypatch.setattr("torch.distributed.run.run", fail)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    result = CliRunner().invoke(app, ["train", "--distributed", "--data", str(tmp_path)])
    assert result.exit_code == code
    assert message in result.stderr


def test_which_process_was_the_first_to_fail():
    killed = _explain({0: failure(1), 1: failure(-signal.SIGKILL)}, 2)
    failed = _explain({0: failure(1), 1: failure(-signal.SIGTERM)}, 2)
    assert failed == "process 0 of 2 failed with exit code 1; its own message is above"
    assert killed.startswith(
        "process 1 of 2 was killed by SIGKILL; resume from the last checkpoint"
    )
    assert "process 0 of 2 failed with exit code 1" in _explain({0: failure(1)}, 2)


def test_a_folder_that_is_no_partition(tmp_path):
    result = CliRunner().invoke(app, ["train", "--distributed", "--data", str(tmp_path)])
    assert result.exit_code == 1
    assert "is not a partitioned data set" in result.stderr
    assert "write one with 'graphsct data partition NAME" in result.stderr


def test_options_of_the_other_command(tmp_path):
    result = CliRunner().invoke(app, ["train", "--distributed", "--normalize"])
    assert result.exit_code == 1
    assert "--normalize belongs to 'graphsct data partition'" in result.stderr
    result = CliRunner().invoke(app, ["train", "--distributed", "--device", "cpu"])
    assert result.exit_code == 1
    assert "--device is not for --distributed: each process takes a GPU" in result.stderr


def test_one_of_the_processes(tmp_path, monkeypatch):
    """In this process, as torchrun would start it; after a restart it goes on."""
    for name, value in [("RANK", "0"), ("WORLD_SIZE", "1"), ("MASTER_ADDR", "localhost")]:
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("MASTER_PORT", "0")
    monkeypatch.chdir(tmp_path)
    write_partition(datasets.demo(), tmp_path / "parts", 1)
    call = ["train", "--distributed", "--data", "parts", "--epochs", "4", "--seeds", "2"]
    result = CliRunner().invoke(app, call)
    assert result.exit_code == 0, result.output
    assert "Written to results/train/parts-gcn-plain-2" in result.stdout
    assert CliRunner().invoke(app, call).exit_code == 1  # a run is there already
    monkeypatch.setenv("TORCHELASTIC_RESTART_COUNT", "1")
    call[-1:] = ["3", "--tensorboard"]
    monkeypatch.setattr(sys, "argv", ["graphsct", *call])
    with pytest.raises(SystemExit) as end:
        runpy.run_module("graphsct", run_name="__main__")
    assert end.value.code == 0
    assert (tmp_path / "results/train/parts-gcn-plain-2/seed-2/run.json").exists()
