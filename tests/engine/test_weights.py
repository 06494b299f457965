import pytest
import torch
from recording import WIDTH, Net, random, shake
from torch.testing import assert_close

from graphsct.engine.program import Arena, Program
from graphsct.engine.weights import Weight, Weights
from graphsct.nn import GCNII


def models(count=3, **settings):
    made = []
    for seed in range(count):
        model = shake(GCNII(5, 4, 3, 2, control="gated", norm="BatchNorm", **settings), seed)
        model.norms[0].module.num_batches_tracked += seed + 1
        made.append(model)
    return made


def test_weights_are_read_as_they_were_given():
    given = models()
    weights = Weights(given)
    for run, model in enumerate(given):
        state = model.state_dict()
        found = weights.read("value", run)
        assert found.keys() == state.keys()
        for name, value in state.items():
            assert torch.equal(found[name], value), name
            assert (found[name].dtype, found[name].is_contiguous()) == (value.dtype, True)


def test_what_is_read_is_a_copy():
    weights = Weights(models())
    weights.read("value", 1)["input.weight"].zero_()
    assert not torch.equal(weights.read("value", 1)["input.weight"], torch.zeros(4, 5).double())


def test_linear_layers_are_transposed_and_other_weights_are_not():
    given = models()
    weights = Weights(given)
    for run, model in enumerate(given):
        assert torch.equal(weights.value["output.weight"][run], model.output.weight.t())
        assert torch.equal(weights.value["convs.0.weight1"][run], model.convs[0].weight1)
    assert weights.is_transposed("convs.0.control.coefficients.linear.weight")
    assert not weights.is_transposed("convs.0.weight1")


def test_a_view_shares_memory_with_its_model():
    (model,) = models(1)
    view = Weights.view(model)
    model.output.weight.data[0, 1] = 7.0
    assert view.value["output.weight"][0, 1, 0] == 7.0


def test_pieces_are_all_parameters_once_and_no_buffer():
    (model, other) = models(2)
    weights = Weights([model, other])
    parameters = sum(weight.numel() for weight in model.parameters())
    for together in (True, False):
        pieces = weights.pieces(together=together)
        assert sum(piece["value"].numel() for _, _, piece in pieces) == 2 * parameters
        for _, _, piece in pieces:
            piece["grad"].add_(1)
    buffers = {name for name, _ in model.named_buffers()}
    for name, grad in weights.read("grad", 1).items():
        assert (grad == (0 if name in buffers else 2)).all(), name


def test_pieces_are_in_the_groups_of_the_model():
    (model,) = models(1)
    sizes = dict.fromkeys(("conv", "dense"), 0)
    for group, _, piece in Weights([model]).pieces(together=True):
        sizes[group] += piece["value"].numel()
    wanted = {
        group["name"]: sum(weight.numel() for weight in group["params"])
        for group in model.param_groups()
    }
    assert sizes == wanted


def test_the_same_weight_of_all_layers_is_one_array():
    given = models()
    weights = Weights(given)
    names = ["convs.0.weight1", "convs.1.weight1"]
    layers = weights.layers("value", names)
    assert layers.shape == (2, 3, 4, 4)
    for layer, run in torch.cartesian_prod(torch.arange(2), torch.arange(3)).tolist():
        assert torch.equal(layers[layer, run], given[run].convs[layer].weight1)
    layers.zero_()
    assert not weights.value[names[1]].any()
    assert weights.layers("value", names[::-1]) is None


def test_weights_of_other_shapes_are_not_one_array():
    net = Net(None, a=torch.nn.Parameter(random(4, 4)), b=torch.nn.Parameter(random(2, 2)))
    assert Weights([net.double()]).layers("value", ["a", "b"]) is None


@pytest.mark.parametrize("better", [(True, False, True), (True, True, True)])
def test_the_best_weights_are_those_of_the_better_runs(better):
    weights = Weights(models())
    weights.remember(torch.tensor(better))
    for run, remembered in enumerate(better):
        best, value = weights.read("best", run), weights.read("value", run)
        same = all(torch.equal(best[name], value[name]) for name in value)
        assert same == remembered


def test_some_runs_are_taken_with_all_that_training_keeps():
    weights = Weights(models())
    for seed, flat in enumerate(weights.flat.values()):
        flat.copy_(random(*flat.shape, seed=seed))
    taken = weights.take(torch.tensor([2, 0]))
    for part in weights.flat:
        assert torch.equal(taken.flatten(part, 0), weights.flatten(part, 2))
        assert torch.equal(taken.flatten(part, 1), weights.flatten(part, 0))


def test_a_run_is_one_vector_in_the_order_of_a_run_alone():
    given = models()
    together, alone = Weights(given), Weights(given[1:2])
    assert torch.equal(together.flatten("value", 1), alone.flat["value"])
    assert torch.equal(together.flatten_model(given[1].state_dict()), alone.flat["value"])


def test_gradients_of_a_weight_are_added_after_the_first():
    net = shake(Net(None), 0)
    weights = Weights([net])
    weight, do = Weight(weights, "output.weight"), Program(Arena(torch.zeros(1).double()))
    for number in (1.0, 2.0, 4.0):
        with weight.write_grad(do) as out:
            do(out.fill_, number)
    for _ in range(2):  # each epoch begins anew
        do.run()
        assert_close(weights.read("grad", 0)["output.weight"], torch.full((3, WIDTH), 7.0).double())
