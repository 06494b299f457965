import runpy
import sys

import pytest
from typer.testing import CliRunner

from graphsct import datasets
from graphsct.cli import app
from graphsct.distributed import launch, write_partition


def test_the_options_of_the_call_are_those_of_the_processes(tmp_path, monkeypatch):
    started = []
    monkeypatch.setattr(launch, "launch", lambda *given: started.append(given))
    write_partition(datasets.demo(), tmp_path, 2)
    call = ["--data", str(tmp_path), "--compare", "--control", "pooled", "--depth", "3"]
    call += ["--option", "residual=true", "--option", "jumping=cat"]
    result = CliRunner().invoke(app, ["train", *call, "--distributed"])
    assert result.exit_code == 0, result.output
    ((processes, command),) = started
    assert processes == 2
    assert command[:4] == ["-m", "graphsct", "train", "--distributed"]
    assert sorted(command[4:]) == sorted(call)
    place = command.index("--option")
    assert command[place : place + 4] == call[-4:]


def test_a_folder_that_is_no_partition(tmp_path):
    result = CliRunner().invoke(app, ["train", "--distributed", "--data", str(tmp_path)])
    assert result.exit_code == 1
    assert "is not a partitioned data set" in result.stderr
    assert "write one with 'graphsct data partition NAME" in result.stderr


def test_options_of_the_other_command(tmp_path):
    result = CliRunner().invoke(app, ["train", "--distributed", "--normalize"])
    assert result.exit_code == 1
    assert "give --normalize to 'graphsct data partition'" in result.stderr
    result = CliRunner().invoke(app, ["train", "--distributed", "--device", "cpu"])
    assert result.exit_code == 1
    assert "--device cannot go with --distributed: each process takes a GPU" in result.stderr
    result = CliRunner().invoke(app, ["train", "--distributed", "--watch"])
    assert result.exit_code == 1
    assert "--watch cannot go with --distributed: a diagnosis needs the whole" in result.stderr


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
