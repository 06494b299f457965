from types import SimpleNamespace

import pytest
import torch
from torch_geometric.data import Data

from graphsct import ModelError
from graphsct.nn import GCN, MODELS
from graphsct.nn.blueprint import DEFAULTS, call_constructor, get_model, num_inputs, num_outputs


def test_the_nearest_name_is_suggested():
    assert get_model("gcn") is GCN
    for wrong, right in {"gnc": "gcn", "pyg:gat": "pyg:GAT", "pyg:SAGE": "pyg:GraphSAGE"}.items():
        with pytest.raises(ModelError, match=f"no model '{wrong}', did you mean '{right}'"):
            get_model(wrong)


@pytest.mark.parametrize("name", ["gcn", "gcnii", "egnn", "pyg:GAT", "pyg:GIN"])
def test_every_blueprint_says_what_it_takes(name):
    model = MODELS[name]
    assert model.name == name and model.title
    assert model.defaults() == DEFAULTS
    assert all(model.takes(setting) for setting in (*DEFAULTS, *model.options()))
    assert not model.takes("hops")
    assert set(model.searched()) >= {"dense_weight_decay", "hidden", "depth", "dropout"}


def test_outputs_are_classes_unless_the_data_say_otherwise():
    assert num_outputs(SimpleNamespace(num_classes=3)) == 3
    assert num_outputs(SimpleNamespace(num_classes=3, num_outputs=1)) == 1


def test_data_without_sizes_are_refused():
    assert num_inputs(SimpleNamespace(x=torch.ones(3, 2), num_features=2)) == 2
    with pytest.raises(ModelError, match=r"features of the data are a single number"):
        num_inputs(Data(x=torch.tensor(1.0)))
    with pytest.raises(ModelError, match=r"neither num_outputs nor num_classes; set one"):
        num_outputs(SimpleNamespace())


def test_errors_of_a_constructor():
    def fail(width):
        raise RuntimeError("no\nmemory")

    with pytest.raises(ModelError, match=r"^Net cannot be built: RuntimeError: no memory$"):
        call_constructor(fail, "Net", 3)
    with pytest.raises(ModelError, match=r"^in_channels is 0, expected"):
        call_constructor(GCN, "GCN", 0, 4, 2, 1)
