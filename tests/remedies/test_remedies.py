"""Every remedy: it is complete, can be configured, applied and trained."""

import copy
import pickle

import pytest
import torch
import torch_geometric.nn as pyg
from torch.testing import assert_close

import graphsct
from graphsct import ModelError, fit
from graphsct.nn import GCN
from graphsct.remedies import FAMILIES, REMEDIES
from graphsct.training import ModelConfig, TrainConfig
from graphsct.training.seeding import seeded

APPLIED = [name for name, remedy in REMEDIES.items() if remedy.change is not None]
SHORT = TrainConfig(epochs=3)


@pytest.mark.parametrize("remedy", REMEDIES.values(), ids=list(REMEDIES))
def test_it_is_complete(remedy):
    assert remedy.link.startswith("https://arxiv.org/abs/")
    assert remedy.source.rpartition(", ")[2].isdigit()
    assert remedy.claim.endswith(".")
    assert remedy.family in FAMILIES
    assert remedy.models
    assert (remedy.change is None) == bool(remedy.reason)
    if remedy.number is not None:
        assert len(set(remedy.number.choices)) == 2


def test_the_catalogue_is_public():
    assert graphsct.remedies.REMEDIES is REMEDIES
    assert {remedy.family for remedy in REMEDIES.values()} == set(FAMILIES)


@pytest.mark.parametrize("remedy", REMEDIES.values(), ids=list(REMEDIES))
def test_configured_models_are_trained(data, remedy):
    for name in remedy.models:
        base = ModelConfig(model=name, depth=3, hidden=8)
        model, train = remedy.configure(base, SHORT)
        run = fit(model.build(data), data, train)
        assert run.epochs == 3


@pytest.mark.parametrize("name", [name for name in APPLIED if name != "large_variance"])
def test_applied_to_ours_it_is_the_configured_model(data, name):
    """In training as well, where random numbers are drawn in the same order."""
    remedy = REMEDIES[name]
    value = None if remedy.number is None else remedy.number.choices[1]
    base = ModelConfig(depth=6, hidden=8, init="glorot", dropout=0.0)
    configured = remedy.configure(base, SHORT, value)[0].build(data)
    for weight in configured.parameters():
        torch.nn.init.normal_(weight, std=0.3)
    applied = remedy.apply(base.build(data), data, value)
    assert isinstance(applied, GCN)
    applied.load_state_dict(configured.state_dict())
    for training in (True, False):
        outputs = []
        for model in (configured, applied):
            with seeded(1):
                outputs.append(model.train(training)(data.x, data.graph))
        assert_close(*outputs)


@pytest.mark.parametrize("kind", ["GCN", "GAT"])
@pytest.mark.parametrize("name", APPLIED)
def test_applied_to_models_of_pyg_it_is_trained(data, name, kind):
    model = getattr(pyg, kind)(data.num_features, 8, num_layers=6, out_channels=3)
    if not REMEDIES[name].applies:
        with pytest.raises(ModelError, match=rf"{name} needs .* {kind} does not show; write GCN"):
            REMEDIES[name].apply(model, data)
        return
    plain = copy.deepcopy(model)
    model = REMEDIES[name].apply(model, data)
    assert isinstance(model, getattr(pyg, kind))
    twin = pickle.loads(pickle.dumps(model))
    assert_close(twin.eval()(data.x, data.edge_index), model.eval()(data.x, data.edge_index))
    with seeded(0):
        before = plain.train()(data.x, data.edge_index)
        after = model.train()(data.x, data.edge_index)
    same_output = {"none", "sct_pooled", "sct_gated", "bias", "dirichlet_loss", "rank_loss"}
    assert before.allclose(after, atol=1e-6) == (name in same_output)
    run = fit(model, data, SHORT)
    assert (run.epochs, run.backend) == (3, "autograd")
    model.reset_parameters()


@pytest.mark.parametrize("name", sorted(REMEDIES.keys() - APPLIED))
def test_what_cannot_be_applied_says_what_to_write(name):
    with pytest.raises(ModelError, match=f"{name} cannot be added to a model: .*") as error:
        REMEDIES[name].apply(GCN(4, 8, 2, num_layers=2))
    assert str(error.value).endswith(REMEDIES[name].line)


@pytest.mark.parametrize("name", sorted(set(APPLIED) - {"none", "drop_edge"}))
def test_a_model_without_convolutions_is_refused(data, name):
    with pytest.raises(ModelError, match=r"Linear (has no|does not show)"):
        REMEDIES[name].apply(torch.nn.Linear(16, 3), data)
