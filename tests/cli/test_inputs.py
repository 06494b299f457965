import json

import numpy as np
import pytest
from typer.testing import CliRunner

from graphsct import ModelError, datasets
from graphsct.cli import app, inputs

MODEL = """
from graphsct import nn

@nn.register
class Mine(nn.GCN):
    name, title = "mine", "Mine"
"""

COMMANDS = {
    "train": ("train", "--hidden", 8, "--epochs", 3, "--seeds", 1, "--out", "out"),
    "search": ("search", "--max-hidden", 16, "--epochs", 3, "--trials", 1, "--out", "out"),
    "diagnose": ("diagnose", "--hidden", 8, "--epochs", 3, "--out", "out"),
    "partition": ("data", "partition", "--parts", 2, "--out", "out"),
    "statistics": ("data", "statistics"),
}


@pytest.fixture
def here(tmp_path, monkeypatch, registry):
    """Own data in every form, in the working directory."""
    monkeypatch.chdir(tmp_path)
    data = datasets.demo()
    (tmp_path / "demo").mkdir()
    once = data.edge_index[:, data.edge_index[0] < data.edge_index[1]]
    for name, part in {"edges": once, "features": data.x, "labels": data.y}.items():
        np.save(tmp_path / "demo" / f"{name}.npy", part.numpy())
    np.savez(tmp_path / "whole.npz", edges=once.t(), node_features=data.x, node_labels=data.y)
    file = "from graphsct.datasets import demo\n\n\ndef load():\n    return demo()\n"
    (tmp_path / "my_data.py").write_text(file)
    return tmp_path


def run(command, source, *options):
    words = [str(word) for word in (*COMMANDS[command], *options)]
    named = command in ("partition", "statistics")
    words[2 if named else 1 : 2 if named else 1] = [source] if named else ["--data", source]
    return CliRunner(env={"COLUMNS": "200"}).invoke(app, words)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("source", ["demo", "./demo", "whole.npz", "my_data.py:load"])
def test_every_command_takes_every_form(command, source, here):
    options = ["--symmetrize"] if source == "./demo" else []
    result = run(command, source, *options, "--json")
    assert result.exit_code == 0, result.output
    assert isinstance(json.loads(result.stdout), dict)
    drawn = source in ("./demo", "whole.npz")
    line = f"{source} has no split: drawing 48% of each class for training, 32% for validation\n"
    assert (line in result.stderr) is drawn
    assert ("executing my_data.py" in result.stderr) is source.startswith("my_data")


@pytest.mark.parametrize("command", COMMANDS)
def test_the_options_are_those_of_the_library(command, here):
    refused = run(command, "./demo")
    assert refused.exit_code == 1
    assert "pass --symmetrize to add the reverse edges" in refused.stderr
    (here / "demo/features.npy").unlink()
    options = ("--symmetrize", "--split", "10,20", "--split-seed", 3)
    refused = run(command, "./demo", *options)
    assert "demo has no features; make some from its edges: --features degree" in refused.stderr
    result = run(command, "./demo", *options, "--features", "degree")
    assert result.exit_code == 0, result.output
    assert "has no split" not in result.stderr


def test_a_run_on_own_data_keeps_where_they_are_and_is_resumed(here):
    options = ("--symmetrize", "--split", "0.5,0.25", "--normalize")
    assert run("train", "./demo", *options).exit_code == 0
    source = json.loads((here / "out/config.json").read_text())["data"]
    assert source == {
        "name": "demo",
        "normalize": True,
        "path": str(here / "demo"),
        "symmetrize": True,
        "split": {"kind": "Fractions", "train": 0.5, "val": 0.25, "seed": 0},
    }
    assert run("train", "./demo", *options, "--resume").exit_code == 0
    other = run("train", "./demo", *options, "--split-seed", 1, "--resume")
    assert "data.split.seed is 0 there, 1 here" in other.stderr


def test_a_search_says_how_to_train_on_the_same_data(here):
    result = run("search", "./demo", "--symmetrize", "--split", "10,20", "--split-seed", 2)
    place = f"--data {here / 'demo'} --config out/best.json"
    assert f"{place} --symmetrize --split 10,20 --split-seed 2" in result.stdout


@pytest.mark.parametrize("split", ["a,b", "0.5", "1,2,3", ""])
def test_a_split_that_is_none(split, here):
    result = run("train", "demo", "--split", split)
    assert result.exit_code == 1
    assert result.stderr == (
        f"graphsct: --split {split} is neither two fractions, such as 0.6,0.2, nor two numbers of "
        "nodes of each class, such as 20,30\n"
    )


def test_values_of_options_are_json_words_or_strings():
    given = ["a=1", "b=0.5", "c=true", "d=False", "e=None", "f-g=null", "h=[1, 2]", "i=x=y"]
    found = inputs.read_options(given)
    expected = dict(a=1, b=0.5, c=True, d=False, e=None, f_g=None, h=[1, 2], i="x=y")
    assert found == expected and list(map(type, found.values())) == list(
        map(type, expected.values())
    )
    for wrong in ("residual", "=1"):
        with pytest.raises(ModelError, match=f"--option {wrong} is not NAME=VALUE"):
            inputs.read_options([wrong])


def test_settings_are_those_that_were_given():
    given = {"depth": 3, "hidden": None, "control": "none", "out": "x", "more": ["beta=2", "k=1"]}
    names = ("depth", "hidden", "control", "beta")
    assert inputs.settings(given, names) == {
        "depth": 3,
        "control": None,
        "beta": 2,
        "options": {"k": 1},
    }


def test_a_file_is_executed_and_says_so(tmp_path, capsys, registry):
    path = tmp_path / "my_model.py"
    path.write_text(MODEL)
    assert inputs.settings({"model": f"{path}:Mine"}, ["model"]) == {"model": "mine"}
    assert capsys.readouterr().err == f"executing {path}\n"
    assert inputs.model_name("gcn") == "gcn"
    assert capsys.readouterr().err == ""
