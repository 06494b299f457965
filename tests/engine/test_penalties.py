import pytest
import torch
from recording import STILL, Problem, check_gradients, shake

from graphsct.nn import GCN, EnergeticGNN


@pytest.mark.parametrize("control", [None, "gated"])
@pytest.mark.parametrize("weight", [0.0, 0.7])
@pytest.mark.parametrize("layers", [1, 3])
def test_the_distance_from_the_start(layers, weight, control):
    models = [shake(EnergeticGNN(5, 4, 3, layers, control=control), seed) for seed in range(2)]
    for model in models:
        model.penalty_weight = weight
    check_gradients(Problem(), models)


def test_a_weight_at_its_start_has_no_gradient_from_its_distance():
    check_gradients(Problem(runs=1), [EnergeticGNN(5, 4, 3, 2).double()])


def test_the_penalty_is_part_of_the_training_loss_alone():
    models = [shake(EnergeticGNN(5, 4, 3, 2), seed) for seed in range(2)]
    problem = Problem()
    losses = []
    for weight in (0.0, 0.5):
        for model in models:
            model.penalty_weight = weight
        engine = problem.engine(models, configs=[STILL] * 2)
        losses.append((engine.descend(), engine.validate()[0]))
    (plain, validated), (penalized, same) = losses
    distances = torch.stack([model.penalty().detach() for model in models])
    torch.testing.assert_close(penalized - plain, distances)
    assert torch.equal(validated, same)


def test_a_penalty_of_a_model_s_own_is_left_to_autograd():
    class Penalized(GCN):
        def penalty(self):
            return self.output.weight.square().sum()

    model = shake(Penalized(5, 4, 3, 2), 0)
    assert not Problem().supports(model)
