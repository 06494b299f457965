from dataclasses import replace

import pytest
import torch
from recording import random, shake
from torch.testing import assert_close

from graphsct.engine.adam import Adam
from graphsct.engine.weights import Weights
from graphsct.nn import GCN
from graphsct.training import TrainConfig

ALIKE = [TrainConfig(learning_rate=0.05, conv_weight_decay=0.1, dense_weight_decay=0.02)] * 2
OFFSETS = replace(ALIKE[0], offset_weight_decay=0.5)
OTHER = TrainConfig(learning_rate=0.01, conv_weight_decay=0.0, dense_weight_decay=0.3)
WARM = [replace(ALIKE[0], warm_up=3)] * 2
CONFIGS = {
    "alike": ALIKE,
    "different": [ALIKE[0], OTHER],
    "offsets": [OFFSETS, ALIKE[0]],
    "warm": WARM,
    "one warm": [ALIKE[0], WARM[0]],
    "both warm": [replace(OTHER, warm_up=4), WARM[0]],
}


def models():
    return [shake(GCN(5, 4, 3, 2, activation="srelu", norm="BatchNorm"), seed) for seed in range(2)]


def gradients(weights, step):
    for number, grad in enumerate(weights.grad.values()):
        grad.copy_(random(*grad.shape, seed=100 * step + number))


@pytest.mark.parametrize("name", CONFIGS)
def test_steps_are_those_of_torch(name):
    configs, given = CONFIGS[name], models()
    weights = Weights(given)
    adam = Adam(weights, configs, 0)
    optimizers = [
        torch.optim.Adam(
            model.param_groups(
                conv_weight_decay=config.conv_weight_decay,
                dense_weight_decay=config.dense_weight_decay,
                offset_weight_decay=config.offset_weight_decay,
            ),
            lr=config.learning_rate,
        )
        for model, config in zip(given, configs, strict=True)
    ]
    for step in range(5):
        gradients(weights, step)
        for run, (model, optimizer) in enumerate(zip(given, optimizers, strict=True)):
            found = weights.read("grad", run)
            for key, parameter in model.named_parameters():
                parameter.grad = found[key]
            for group in optimizer.param_groups:
                group["lr"] = configs[run].rate(step + 1)
            optimizer.step()
        adam.step()
    assert adam.steps == 5
    for run, model in enumerate(given):
        found = weights.read("value", run)
        for key, value in model.state_dict().items():  # buffers stay as they were
            assert_close(found[key], value, msg=lambda m, key=key: f"{key}: {m}")


@pytest.mark.parametrize("configs", [ALIKE, WARM], ids=["alike", "warm"])
def test_it_goes_on_after_as_many_steps(configs):
    weights, given = Weights(models()), models()
    adam, again = Adam(weights, configs, 0), Weights(given)
    for step in range(2):
        gradients(weights, step)
        adam.step()
    for part, flat in again.flat.items():
        flat.copy_(weights.flat[part])
    late, restored = Adam(again, configs, adam.steps), Adam(again, configs, 0)
    restored.restore(adam.steps)
    assert restored.steps == late.steps == 2
    adam.step()
    late.step()
    assert torch.equal(weights.flat["value"], again.flat["value"])
