from dataclasses import replace
from functools import partial

import pytest
import torch
from torch_geometric.nn import models

from graphsct import TrainingError, datasets, fit
from graphsct.nn import CONTROLS
from graphsct.training import ModelConfig, TrainConfig, build_seeds
from graphsct.training.precision import PRECISIONS, check_precision

FULL = TrainConfig(epochs=10)
LOWER = replace(FULL, precision="bf16")


@pytest.fixture(scope="module", params=[False, True], ids=["dense", "sparse"])
def data(request):
    data = datasets.demo()
    if request.param:
        data.x = data.x.to_sparse_csr()
    return data


@pytest.mark.parametrize("model", ["gcn", "gcnii", "egnn"])
@pytest.mark.parametrize("control", [None, *CONTROLS])
def test_every_model_trains_in_lower_precision_with_weights_in_full(data, model, control):
    more = {"activation": "relu"} if control == "target" else {}
    check(partial(ModelConfig(model, control, hidden=8, depth=3, **more).build, data), data)


@pytest.mark.parametrize("make", [models.GAT, models.GCN])
def test_so_does_a_model_of_pytorch_geometric(data, make):
    check(lambda: make(16, 8, 2, 3), data)


def check(build, data):
    """Losses are near those of full precision, and not the same."""
    pair = build_seeds(build, [0, 0])
    low, full = (fit(*run) for run in zip(pair, [data] * 2, [LOWER, FULL], strict=True))
    assert low.backend == "autograd"
    assert {weight.dtype for weight in pair[0].parameters()} == {torch.float32}
    losses = [[epoch.val_loss for epoch in run.history] for run in (low, full)]
    assert losses[0] == pytest.approx(losses[1], rel=0.02)
    assert losses[0] != pytest.approx(losses[1], rel=1e-5)


class Spy(torch.nn.Module):
    """Keeps the precision of its hidden features."""

    def __init__(self):
        super().__init__()
        self.hidden, self.output = torch.nn.Linear(16, 8), torch.nn.Linear(8, 3)
        self.seen = set()

    def forward(self, x, edge_index):
        hidden = self.hidden(x)
        self.seen.add((self.training, hidden.dtype))
        return self.output(hidden)


def test_training_and_evaluation_are_in_lower_precision(data):
    model = Spy()
    fit(model, data, TrainConfig(epochs=1, precision="bf16"))
    assert model.seen == {(True, torch.bfloat16), (False, torch.bfloat16)}
    model = Spy()
    fit(model, data, TrainConfig(epochs=1))
    assert model.seen == {(True, torch.float32), (False, torch.float32)}


def test_where_it_is_of_no_use_it_is_refused():
    x = torch.ones(2, 2)
    assert check_precision("bf16", x) == torch.bfloat16
    assert set(PRECISIONS) == {"bf16", "fp16"}
    with pytest.raises(TrainingError, match=r"'fp16', which needs CUDA.*use precision='bf16'"):
        check_precision("fp16", x)
    with pytest.raises(TrainingError, match=r"features are torch.float64.*leave precision out"):
        check_precision("bf16", x.double())
