"""Runs of autograd; see test_backend.py for its results beside those of the engine."""

from dataclasses import replace

import pytest
import torch

from graphsct import datasets
from graphsct.nn.dropout import DeviceMasks
from graphsct.training import ModelConfig, TrainConfig
from graphsct.training.autograd import AutogradRun
from graphsct.training.data import SplitData
from graphsct.training.seeding import dropout_generator, seeded

CONFIG = TrainConfig()


@pytest.fixture(scope="module")
def data():
    return SplitData.of(datasets.demo())


def begin(data, seed=0):
    """A run with the dropout of other devices, drawn by the CPU."""
    with seeded(seed):
        model = ModelConfig(control="gated", hidden=8, dropout=0.3).build(datasets.demo())
    return AutogradRun(model, data, CONFIG, DeviceMasks(dropout_generator(seed), data.train))


@pytest.mark.parametrize("low", [None, torch.bfloat16, torch.float16])
def test_a_run_continues_bit_for_bit_with_the_masks_of_a_device(data, low):
    run = begin(replace(data, autocast=low))
    for _ in range(3):
        run.descend()
    kept = {name: tensor.clone() for name, tensor in run.state(None).items()}
    expected = [run.descend() for _ in range(4)]
    other = begin(replace(data, autocast=low), seed=5)
    other.restore(kept)
    assert [other.descend() for _ in range(4)] == expected


def test_the_scale_of_gradients_in_float16_is_part_of_the_state(data):
    run = begin(replace(data, autocast=torch.float16))
    run.descend()
    state = run.state(None)
    assert state["scaler.scale"].item() == 2**16
    assert state["scaler._growth_tracker"].item() == 1
    other = begin(replace(data, autocast=torch.float16))
    other.restore({**state, "scaler.scale": torch.tensor(8.0)})
    assert other.state(None)["scaler.scale"].item() == 8
    assert not [name for name in begin(data).state(None) if name.startswith("scaler")]


def test_the_scale_does_not_change_the_step(data):
    """Gradients are scaled before the backward pass, and back before the step."""
    runs = [begin(replace(data, autocast=low)) for low in (None, torch.float16)]
    for run in runs:
        run.descend()
    for exact, low in zip(*(run.model.parameters() for run in runs), strict=True):
        torch.testing.assert_close(low, exact, rtol=0, atol=0.021)  # Adam's step is 0.01
    grads = [[weight.grad for weight in run.model.parameters()] for run in runs]
    for exact, low in zip(*grads, strict=True):
        torch.testing.assert_close(low, exact, rtol=0.1, atol=2e-3)
