import pytest
import torch_geometric.nn as pyg

from graphsct import ModelError
from graphsct.nn import GCN, EnergeticGNN
from graphsct.remedies import REMEDIES
from graphsct.smoothness import effective_rank, normalized_dirichlet_energy
from graphsct.training import ModelConfig, TrainConfig
from graphsct.training.autograd import AutogradRun
from graphsct.training.data import SplitData
from graphsct.training.seeding import seeded


def test_egnn_penalises_the_distance_from_a_scaled_identity(data):
    base = ModelConfig(depth=3, hidden=4)
    config, _ = REMEDIES["egnn"].configure(base, TrainConfig(), 0.5)
    model = config.build(data)
    assert isinstance(model, EnergeticGNN)
    assert config.c_max == 0.5
    assert model.penalty() == 0
    model.convs[1].weight.data[0, 1] += 3
    assert model.penalty().item() == 3 * model.penalty_weight


def _rank(x, graph):
    return effective_rank(x)


MEASURES = {"dirichlet_loss": normalized_dirichlet_energy, "rank_loss": _rank}


def trained(data, model, name):
    """The output of the last hidden convolution after 30 epochs."""
    if name is not None:
        REMEDIES[name].apply(model, data, 0.1)
    run = AutogradRun(model, SplitData.of(data, model=model), TrainConfig())
    for _ in range(30):
        run.descend()
    features = []
    last = model.convs[-1 if isinstance(model, GCN) else -2]
    last.register_forward_hook(lambda conv, args, out: features.append(out))
    run.validate()
    return features[0]


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("kind", [GCN, pyg.GCN, pyg.GAT], ids=["ours", "GCN of PyG", "GAT of PyG"])
def test_penalised_features_collapse_less(data, name, kind):
    found = []
    for own in (None, name):
        with seeded(0):
            more = {"num_layers": 12, "out_channels": 3}
            model = kind(16, 16, **more, **({"init": "glorot"} if kind is GCN else {}))
        found.append(MEASURES[name](trained(data, model, own), data.graph).item())
    without, penalised = found
    assert penalised > 1.2 * without


def test_a_model_with_one_hidden_convolution_is_refused(data):
    with pytest.raises(
        ModelError, match=r"rank_loss compares the last hidden .* GAT has fewer than two"
    ):
        REMEDIES["rank_loss"].apply(pyg.GAT(16, 8, num_layers=2, out_channels=3), data)
