import pytest
import torch

from graphsct.nn import GCN
from graphsct.training import TrainConfig
from graphsct.training.autograd import Autograd, AutogradRun, param_groups
from graphsct.training.data import SplitData
from graphsct.training.seeding import seeded

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
    assert run.backward(own.scores(run.model)).item() == pytest.approx(expected.item(), rel=1e-6)


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
