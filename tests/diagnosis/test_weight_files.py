import pickle

import pytest
import safetensors.torch
import torch

from graphsct.diagnosis.weight_files import load_weights
from graphsct.errors import ModelError


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
