"""Runs of autograd; see test_backend.py for its results beside those of the engine."""

from dataclasses import replace

import pytest
import torch

from graphsct import datasets
from graphsct.nn import GCN
from graphsct.nn.dropout import DeviceMasks
from graphsct.training import ModelConfig, TrainConfig
from graphsct.training.autograd import Autograd, AutogradRun, param_groups
from graphsct.training.data import SplitData
from graphsct.training.seeding import dropout_generator, seeded

CONFIG = TrainConfig(learning_rate=0.1, conv_weight_decay=0.01, dense_weight_decay=0.002)


@pytest.fixture
def own(data):
    return SplitData.of(data)


class Net(torch.nn.Module):
    """A user's model with PyTorch's own dropout and a penalty."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(16, 3)
        self.dropout = torch.nn.Dropout(0.5)

    def forward(self, x, graph):
        return self.linear(graph.propagate(self.dropout(x)))

    def penalty(self):
        return 0.1 * self.linear.weight.square().sum()


def begin(own, seed=0):
    with seeded(0):
        return AutogradRun(Net(), own, TrainConfig(seed=seed, dense_weight_decay=0.0))


def test_the_loss_has_the_penalty(own):
    run = begin(own)
    scores = run.data.evaluate(run.model)
    plain = torch.nn.functional.cross_entropy(scores[own.train], own.y[own.train])
    expected = plain + run.model.penalty()
    run.model.eval()
    loss = run.backward(own.scores(run.model), run.train)
    assert loss.item() == pytest.approx(expected.item(), rel=1e-6)


def test_validation_measures_the_current_weights(own):
    run = begin(own)
    scores = own.evaluate(run.model)
    loss = torch.nn.functional.cross_entropy(scores[own.val], own.y[own.val]).item()
    right = scores.argmax(1) == own.y
    expected = [loss, *(right[mask].double().mean().item() for mask in (own.train, own.val))]
    assert run.validate().tolist() == pytest.approx(expected, rel=1e-6)


def test_a_restored_run_goes_on_bit_for_bit(own):
    run = begin(own)
    for _ in range(3):
        run.descend()
    state = {name: tensor.clone() for name, tensor in run.state(run.current()).items()}
    expected = [run.descend().item() for _ in range(3)]
    again = begin(own, seed=9)
    again.restore(state)
    assert [again.descend().item() for _ in range(3)] == expected
    assert torch.equal(again.best["linear.weight"], state["model.linear.weight"])


def test_only_better_runs_are_remembered_and_only_kept_ones_go_on(own):
    backend = Autograd([Net(), Net()], [own] * 2, [CONFIG] * 2)
    backend.descend()
    backend.remember(torch.tensor([False, True]))
    assert backend.weights(0) == {}
    kept = backend.weights(1)["linear.weight"].clone()
    backend.descend()
    assert torch.equal(backend.weights(1)["linear.weight"], kept)
    assert not torch.equal(backend.current(1)["linear.weight"], kept)
    backend.keep(torch.tensor([1]))
    assert torch.equal(backend.weights(0)["linear.weight"], kept)
    assert backend.descend().shape == (1,)


def test_a_model_has_its_own_groups_or_the_dense_decay():
    (group,) = param_groups(Net(), CONFIG)
    assert group["weight_decay"] == 0.002 and len(group["params"]) == 2
    decays = {group["weight_decay"] for group in param_groups(GCN(16, 8, 3, 2), CONFIG)}
    assert decays == {0.01, 0.002}


def test_offsets_have_their_own_decay():
    config = replace(CONFIG, offset_weight_decay=0.3)
    groups = param_groups(GCN(16, 8, 3, 2, activation="srelu"), config)
    assert {group["name"]: group["weight_decay"] for group in groups}["offset"] == 0.3


def on_a_device(own, seed=0):
    """A run with the dropout of other devices, drawn by the CPU."""
    with seeded(seed):
        model = ModelConfig(control="gated", hidden=8, dropout=0.3).build(datasets.demo())
    return AutogradRun(model, own, TrainConfig(), DeviceMasks(dropout_generator(seed), own.train))


@pytest.mark.parametrize("low", [None, torch.bfloat16, torch.float16])
def test_a_run_continues_bit_for_bit_with_the_masks_of_a_device(own, low):
    run = on_a_device(replace(own, autocast=low))
    for _ in range(3):
        run.descend()
    kept = {name: tensor.clone() for name, tensor in run.state(None).items()}
    expected = [run.descend() for _ in range(4)]
    other = on_a_device(replace(own, autocast=low), seed=5)
    other.restore(kept)
    assert [other.descend() for _ in range(4)] == expected


def test_the_scale_of_gradients_in_float16_is_part_of_the_state(own):
    run = on_a_device(replace(own, autocast=torch.float16))
    run.descend()
    state = run.state(None)
    assert state["scaler.scale"].item() == 2**16
    assert state["scaler._growth_tracker"].item() == 1
    other = on_a_device(replace(own, autocast=torch.float16))
    other.restore({**state, "scaler.scale": torch.tensor(8.0)})
    assert other.state(None)["scaler.scale"].item() == 8
    assert not [name for name in on_a_device(own).state(None) if name.startswith("scaler")]


def test_the_scale_does_not_change_the_step(own):
    """Gradients are scaled before the backward pass, and back before the step."""
    runs = [on_a_device(replace(own, autocast=low)) for low in (None, torch.float16)]
    for run in runs:
        run.descend()
    for exact, low in zip(*(run.model.parameters() for run in runs), strict=True):
        torch.testing.assert_close(low, exact, rtol=0, atol=0.021)  # Adam's step is 0.01
    grads = [[weight.grad for weight in run.model.parameters()] for run in runs]
    for exact, low in zip(*grads, strict=True):
        torch.testing.assert_close(low, exact, rtol=0.1, atol=2e-3)
