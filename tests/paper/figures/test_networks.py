import pytest
import torch

from graphsct.datasets import demo
from graphsct.nn import CONTROLS, MODELS
from graphsct.paper.figures.networks import GLOROT, IDENTITY, PULLED, Setting, in_two_rows


@pytest.mark.parametrize("model", ["gcn", "gcnii", "egnn"])
def test_a_pair_is_without_and_with_control(model):
    data = demo()
    networks = in_two_rows([(model, Setting("its own"))], depth=3)
    without, controlled = (network.build(data, seed=5) for network in networks)
    assert [network.name for network in networks] == [model.upper(), f"{model.upper()}-SCT"]
    assert [network.heading for network in networks] == [
        f"its own\n\n{model.upper()}",
        f"{model.upper()}-SCT",
    ]
    assert without.num_layers == controlled.num_layers == 3
    assert without.convs[0].control is None
    control = controlled.convs[0].control.coefficients
    assert type(control) is CONTROLS[MODELS[model].default_control]
    assert networks[0].build(data, seed=5).input.weight.equal(without.input.weight)


@pytest.mark.parametrize("setting", [PULLED, GLOROT, IDENTITY])
def test_settings_reach_the_weights_and_the_training(setting):
    for network in in_two_rows([("gcn", setting)], depth=2):
        weight = network.build(demo(), seed=0).convs[0].lin.weight
        assert weight.equal(torch.eye(16)) == (setting is IDENTITY)
        config = network.config(3, epochs=7)
        assert (config.seed, config.epochs) == (3, 7)
        assert config.conv_weight_decay == setting.decay
    assert PULLED.decay > 0 == GLOROT.decay
