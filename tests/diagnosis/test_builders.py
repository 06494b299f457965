import pickle

import pytest
import safetensors.torch
import torch

from graphsct.diagnosis.builders import load_builder, load_weights
from graphsct.errors import ModelError

FILE = """
from __future__ import annotations

import torch
from helper import WIDTH
from torch_geometric.nn import GCN

def build(in_channels, out_channels, num_layers=3):
    return GCN(in_channels, WIDTH, num_layers, out_channels)

def of_data(data):
    return GCN(data.num_features, 8, 2, data.num_classes)

def greedy(a, b, c):
    return None

def wrong(data):
    return "a model"

class Net(torch.nn.Module):
    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.lin = torch.nn.Linear(in_channels, out_channels)
"""


@pytest.fixture
def file(tmp_path):
    (tmp_path / "helper.py").write_text("WIDTH = 5\n")
    path = tmp_path / "my_model.py"
    path.write_text(FILE)
    return path


def test_the_function_gets_the_data_or_both_sizes(file, data):
    assert load_builder(f"{file}:build")(data).convs[0].lin.weight.shape == (5, 16)
    assert load_builder(f"{file}:of_data")(data).convs[0].lin.weight.shape == (8, 16)
    assert load_builder(f"{file}:Net")(data).lin.weight.shape == (3, 16)


def test_depth_is_given_to_those_who_take_it(file, data):
    assert len(load_builder(f"{file}:build")(data, depth=7).convs) == 7
    with pytest.raises(ModelError, match="takes no depth; give it an argument num_layers=7"):
        load_builder(f"{file}:of_data")(data, depth=7)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("{}", "expected a file and a function: my_model.py:build"),
        ("{}:biuld", "has no function 'biuld', did you mean 'build'"),
        ("nowhere.py:build", "there is no file nowhere.py"),
        ("model.pt:build", "is not a model"),
    ],
)
def test_wrong_targets(file, target, message):
    with pytest.raises(ModelError, match=message):
        load_builder(target.format(file))


def test_functions_that_make_no_model(file, data):
    with pytest.raises(ModelError, match="takes a, b, c; expected"):
        load_builder(f"{file}:greedy")(data)
    with pytest.raises(ModelError, match=r"returned a str, expected a torch\.nn\.Module"):
        load_builder(f"{file}:wrong")(data)


def test_errors_in_the_file_come_through(tmp_path):
    (tmp_path / "broken.py").write_text("1 / 0\n")
    with pytest.raises(ZeroDivisionError):
        load_builder(f"{tmp_path / 'broken.py'}:build")


@pytest.mark.parametrize("suffix", [".safetensors", ".pt"])
def test_weights(tmp_path, suffix):
    model, twin = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
    path = tmp_path / f"weights{suffix}"
    if suffix == ".pt":
        torch.save(model.state_dict(), path)
    else:
        safetensors.torch.save_file(model.state_dict(), path)
    load_weights(twin, path)
    assert torch.equal(twin.weight, model.weight)
    with pytest.raises(ModelError, match="holds no weights for Linear"):
        load_weights(torch.nn.Linear(4, 2), path)


class Evil:
    def __reduce__(self):
        return print, ("executed",)


def test_nothing_is_unpickled(tmp_path, capsys):
    path = tmp_path / "evil.pt"
    path.write_bytes(pickle.dumps(Evil()))
    with pytest.raises(ModelError, match="holds no weights"):
        load_weights(torch.nn.Linear(3, 2), path)
    torch.save(Evil(), path)
    with pytest.raises(ModelError, match="holds no weights"):
        load_weights(torch.nn.Linear(3, 2), path)
    assert "executed" not in capsys.readouterr().out


def test_weights_that_are_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_weights(torch.nn.Linear(3, 2), tmp_path / "nowhere.pt")
