import pickle

import pytest
import safetensors.torch
import torch

from graphsct.diagnosis.builders import Builder, load_weights
from graphsct.errors import ModelError
from graphsct.nn.model_file import load_object

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

def failing(data):
    raise RuntimeError("no memory")

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


def builder(file, name):
    return Builder(f"{file.name}:{name}", load_object(f"{file}:{name}"))


def test_the_function_gets_the_data_or_both_sizes(file, data):
    assert builder(file, "build")(data).convs[0].lin.weight.shape == (5, 16)
    assert builder(file, "of_data")(data).convs[0].lin.weight.shape == (8, 16)
    assert builder(file, "Net")(data).lin.weight.shape == (3, 16)


def test_depth_is_given_to_those_who_take_it(file, data):
    assert len(builder(file, "build")(data, depth=7).convs) == 7
    with pytest.raises(ModelError, match="takes no depth; give it an argument num_layers=7"):
        builder(file, "of_data")(data, depth=7)


def test_options_are_arguments_of_the_function(file, data):
    assert len(builder(file, "build")(data, num_layers=4).convs) == 4
    with pytest.raises(
        ModelError, match=r"my_model.py:build cannot be built: TypeError: .*'heads'"
    ):
        builder(file, "build")(data, heads=4)


def test_functions_that_make_no_model(file, data):
    with pytest.raises(ModelError, match="py:failing cannot be built: RuntimeError: no memory"):
        builder(file, "failing")(data)
    with pytest.raises(ModelError, match="takes a, b, c; expected"):
        builder(file, "greedy")(data)
    with pytest.raises(ModelError, match=r"returned a str, expected a torch\.nn\.Module"):
        builder(file, "wrong")(data)


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
