import pytest
import torch
from torch_geometric.nn import GCN, GraphSAGE

from graphsct import diagnose, nn
from graphsct.diagnosis import try_remedies
from graphsct.diagnosis.remedies import AS_IS, recipes
from graphsct.nn.wrap import ControlledConv
from graphsct.training import ModelConfig, TrainConfig
from graphsct.training.seeding import seeded

SHORT = TrainConfig(epochs=3, conv_weight_decay=5e-4)

pytestmark = pytest.mark.usefixtures("seed")


@pytest.fixture(scope="module")
def glorot(data):
    settings = ModelConfig(depth=24, hidden=8, init="glorot")
    with seeded(0):
        return settings, diagnose(settings.build(data), data)


def test_recipes_of_ours_change_one_setting_each(data, glorot):
    settings, found = glorot
    made = {recipe.name: recipe for recipe in recipes(found, settings, data, SHORT)}
    assert next(iter(made)) == AS_IS
    assert isinstance(made["gcnii"].build(), nn.GCNII)
    assert made["gcnii"].build().num_layers == 24
    assert torch.equal(made["identity"].build().convs[3].lin.weight, torch.eye(8))
    assert made["shallower"].build().num_layers < 24
    assert all(recipe.config == SHORT for recipe in made.values())


def test_what_changes_nothing_is_no_recipe(data):
    settings = ModelConfig(depth=40, hidden=8, control="pooled")
    found = diagnose(settings.build(data), data)
    names = [recipe.name for recipe in recipes(found, settings, data, TrainConfig())]
    assert "identity" not in names
    assert "sct_pooled" not in names


def test_effects_are_paired_and_the_rest_is_named(data, glorot):
    settings, found = glorot
    tried = try_remedies(found, settings, data, SHORT, seeds=[0, 1])
    assert tried.effects[0].name == AS_IS
    first, second = tried.effects[:2]
    assert first.differences == (0, 0)
    assert second.differences == pytest.approx(
        [a - b for a, b in zip(second.test, first.test, strict=True)]
    )
    assert {effect.name for effect in tried.effects} | set(tried.untried) == {
        AS_IS,
        *(advice.name for advice in found.advice),
    }
    values = tried.to_dict()["effects"][1]
    assert values["seeds"] == [0, 1]
    assert values["test_mean"] == pytest.approx(sum(second.test) / 2)


def build(num_layers=24):
    return GCN(16, 8, num_layers, 3)


def test_a_users_model_gets_what_can_be_applied(data):
    with seeded(0):
        found = diagnose(build(), data)
    config = TrainConfig(epochs=2)
    made = {recipe.name: recipe.build() for recipe in recipes(found, build, data, config)}
    assert len(made["shallower"].convs) < 24
    controlled = [isinstance(conv, ControlledConv) for conv in made["sct_pooled"].convs]
    assert controlled == [True] * 23 + [False]
    assert torch.equal(made["identity"].convs[1].lin.weight, torch.eye(8))
    assert not torch.equal(made[AS_IS].convs[1].lin.weight, torch.eye(8))
    tried = try_remedies(found, build, data, config, seeds=[0])
    assert [effect.name for effect in tried.effects] == list(made)


def test_what_cannot_be_applied_has_a_reason(data):
    def deep():
        return GraphSAGE(16, 8, 24, 3)

    with seeded(0):
        found = diagnose(deep(), data)
    tried = try_remedies(found, deep, data, TrainConfig(epochs=1), seeds=[0])
    assert "identity" not in tried.untried  # it is not advised
    assert tried.untried["shallower"] == "it can only be applied by hand"
