import json
import os
import sys

import numpy as np
import pytest
import safetensors.torch
import torch
from typer.testing import CliRunner

from graphsct import datasets, diagnose
from graphsct.cli import app
from graphsct.diagnosis import Diagnosis
from graphsct.training import ModelConfig
from graphsct.training.seeding import seeded

pytestmark = pytest.mark.usefixtures("registry")

FAST = ("--hidden", 8, "--epochs", 4)

FILE = """
from torch_geometric.nn import GCN

print("hello from the file")

def build(in_channels, out_channels, num_layers=20):
    return GCN(in_channels, 8, num_layers, out_channels)
"""


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in ("diagnose", *arguments)])


@pytest.fixture
def mine(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(FILE)
    return f"{path}:build"


def test_it_trains_looks_and_says_what_to_try():
    result = run("--depth", 24, "--init", "glorot", *FAST)
    assert result.exit_code == 0, result.output
    assert "GCN on demo" in result.stdout
    assert "trained for 4 epochs, seed 0" in result.stdout
    assert "over-smoothed" in result.stdout
    assert "What to try:" in result.stdout
    assert result.stderr == ""


def test_json_is_one_object_and_untrained_is_as_in_python():
    result = run("--depth", 3, "--hidden", 8, "--epochs", 0, "--json")
    found = json.loads(result.stdout)
    with seeded(0):
        model = ModelConfig(depth=3, hidden=8).build(datasets.demo())
    expected = diagnose(model, datasets.demo()).to_dict()
    assert found == json.loads(json.dumps(expected))
    assert found["run"] is None


def test_the_chosen_epoch_and_the_last():
    line = ("--hidden", 8, "--epochs", 60, "--learning-rate", 0.1, "--json")
    chosen, last = (json.loads(run(*line, *more).stdout) for more in ((), ("--last",)))
    assert chosen["run"]["best_epoch"] < 60
    assert chosen["run"]["test_score"] == last["run"]["test_score"]
    assert chosen["layers"][0]["norm"] != last["layers"][0]["norm"]


def test_remedies_are_tried_when_asked():
    result = run("--depth", 24, "--init", "glorot", *FAST, "--try", "--seeds", 2, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    names = [effect["name"] for effect in found["effects"]]
    assert names[0] == "as it is"
    assert {"gcnii", "identity", "shallower"} <= set(names)
    assert all(len(effect["test"]) == 2 for effect in found["effects"])
    assert found["effects"][0]["train"]["select"] == "val_score"


def test_files_are_written(tmp_path):
    result = run(*FAST, "--out", tmp_path / "new")
    assert result.exit_code == 0, result.output
    names = {path.name for path in (tmp_path / "new").iterdir()}
    figures = {
        f"{name}.{end}" for name in ("smoothness", "layers") for end in ("png", "svg", "csv")
    }
    assert names == figures | {"diagnosis.json", "page.html"}
    assert json.loads((tmp_path / "new" / "diagnosis.json").read_text())["works"] is False
    assert "diagnosis.json page.html" in result.stdout
    assert "GCN on demo" in (tmp_path / "new" / "page.html").read_text(encoding="utf-8")


def test_without_plotly_all_but_the_page_is_written(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "plotly", None)
    result = run(*FAST, "--out", tmp_path)
    assert result.exit_code == 0, result.output
    assert result.stderr.startswith("page.html is left out: plotly is not installed; run: pip")
    assert (tmp_path / "smoothness.png").exists()
    assert not (tmp_path / "page.html").exists()


def test_without_matplotlib_all_but_the_figures_is_written(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = run(*FAST, "--out", tmp_path)
    assert result.exit_code == 0, result.output
    said = (
        'every figure is left out: matplotlib is not installed; run: pip install "graphsct[plot]"'
    )
    assert result.stderr == f"{said}\n"
    names = {"page.html", "diagnosis.json", "smoothness.csv", "layers.csv"}
    assert {path.name for path in tmp_path.iterdir()} == names
    assert names <= set(result.stdout.split())


def test_what_is_written_is_read_back(tmp_path):
    assert run(*FAST, "--out", tmp_path).exit_code == 0
    text = (tmp_path / "diagnosis.json").read_text(encoding="utf-8")
    found = Diagnosis.from_json(text)
    assert found.to_dict() == json.loads(text)
    assert len(found.run.history) == 4


def test_everything_fits_into_80_columns(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    call = ("--depth", 24, "--init", "glorot", "--epochs", 1, "--hidden", 128)
    narrow = run(*call, "--try", "--seeds", 1).stdout
    assert max(map(len, narrow.splitlines())) <= 80
    assert "convs.23" in narrow
    assert "Remedies tried" in narrow
    assert "…" not in narrow
    monkeypatch.setenv("COLUMNS", "118")
    assert "s, quartiles" in run(*call).stdout
    assert "s, quartiles" not in narrow


def test_a_users_file_is_executed_and_that_is_said(mine):
    result = run(mine, "--epochs", 2)
    assert result.exit_code == 0, result.output
    assert result.stderr.startswith(f"executing {mine.rpartition(':')[0]}")
    assert "hello from the file" in result.stdout
    assert "convs.19" in result.stdout
    shallow = run(mine, "--epochs", 0, "--depth", 2)
    assert "2 layers" in shallow.stdout
    assert "THE FILE IS EXECUTED" in run("--help").stdout


def test_what_a_users_file_prints_is_not_in_the_json(mine):
    result = run(mine, "--epochs", 0, "--control", "none", "--json")
    assert len(json.loads(result.stdout)["layers"]) == 20
    assert "hello from the file" in result.stderr


def test_remedies_for_a_users_model(mine):
    result = run(mine, "--epochs", 1, "--try", "--seeds", 1, "--device", "cpu")
    assert result.exit_code == 0, result.output
    assert "shallower" in result.stdout.split("Remedies tried with 1 seed, 1 epochs")[1]


@pytest.mark.parametrize("suffix", [".safetensors", ".pt"])
def test_weights_instead_of_training(tmp_path, suffix):
    model = ModelConfig(hidden=8).build(datasets.demo())
    path = tmp_path / f"weights{suffix}"
    save = safetensors.torch.save_file if suffix == ".safetensors" else torch.save
    save(model.state_dict(), path)
    found = json.loads(run("--hidden", 8, "--weights", path, "--json").stdout)
    assert found["run"] is None
    assert found["layers"][0]["norm"] == diagnose(model, datasets.demo()).layers[0].norm


@pytest.fixture
def folder(tmp_path):
    data = datasets.demo()
    place = tmp_path / "graph"
    place.mkdir()
    once = data.edge_index[:, data.edge_index[0] < data.edge_index[1]]
    np.save(place / "edges.npy", once.numpy())
    np.save(place / "features.npy", data.x.numpy())
    np.save(place / "labels.npy", data.y.numpy())
    return place


def test_a_folder(folder):
    refused = run("--data", folder, *FAST)
    assert refused.exit_code == 1
    result = run("--data", folder, "--symmetrize", *FAST, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert "has no split: drawing 48% of each class for training" in result.stderr
    assert found["data"] == "graph"
    graph = found["graph"]
    assert (graph["nodes"], graph["edges"], graph["components"]) == (300, 900, 3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--model", "gnc"), "there is no model 'gnc', did you mean 'gcn'?"),
        (("--data", "coar"), "cora"),
        (("nowhere.py:build",), "there is no file nowhere.py"),
        (("--weights", "nowhere.pt", "--hidden", 8), "nowhere.pt: No such file"),
        (("--device", "cdua", *FAST), "device is 'cdua', which is not available here"),
        (("--layer", "conv", *FAST), "GCN has no part 'conv', did you mean 'convs'"),
    ],
)
def test_wrong_settings_are_one_line(arguments, message):
    result = run(*arguments)
    assert result.exit_code == 1
    assert message in result.stderr
    assert result.stderr.splitlines()[-1].startswith("graphsct: ")


@pytest.fixture
def real(monkeypatch, tmp_path):
    if "GRAPHSCT_DATA" not in os.environ:
        pytest.skip("GRAPHSCT_DATA is not set: the real data sets are not here")
    monkeypatch.setenv("GRAPHSCT_CACHE", str(tmp_path / "cache"))


def test_texas_uses_the_split_of_its_seed(real):
    result = run("--data", "texas", *FAST, "--seed", 3, "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["run"]["config"]["seed"] == 3


def test_the_cause_is_found_by_experiment():
    result = run("--depth", 2, "--hidden", 8, "--epochs", 1, "--cause", "--json")
    values = json.loads(result.stdout)
    assert values["works"] is False
    assert values["cause"]["name"] == "training"
    assert values["cause"]["experiments"][0]["name"] == "started anew"


def test_findings_are_explained_with_their_rates():
    shown = " ".join(run("--depth", 2, "--hidden", 8, "--epochs", 1, "--explain").stdout.split())
    assert "How to read the findings" in shown
    assert "underfits: The model does not even fit its training nodes" in shown
    assert "models that had no part in the choice of the limits" in shown
