import pytest
import torch
from recording import WIDTH, Net, Problem, check_gradients, shake
from torch.nn import functional as F

from graphsct.engine.dropout import Masking, Noise
from graphsct.engine.program import Arena, Program
from graphsct.nn import GCN, GCNConv
from graphsct.nn.linear import dropout

SIZE = 400

OPERATIONS = {
    "relu": lambda x: F.relu(x),
    "tanh": lambda x: torch.tanh(x),
    "relu that is read again": lambda x: F.relu(x) + x,
}


@pytest.mark.parametrize("rate", [0.5, 0.3])  # lanes of 8 bits, and of 16
@pytest.mark.parametrize("name", OPERATIONS)
def test_dropout(context, name, rate):
    def body(net, x, graph):
        return dropout(OPERATIONS[name](x), rate, net.training)

    context.check(body)


def test_dropout_before_products(context):
    """Convolutions and linear layers multiply by the scale, if all readers do."""

    def body(net, x, graph):
        dropped = dropout(F.relu(x), 0.5, net.training)
        return net.linear(dropped) + net.conv(dropped, graph)

    conv = GCNConv(WIDTH, WIDTH, bias=False)
    context.check(body, linear=torch.nn.Linear(WIDTH, WIDTH), conv=conv)


def test_dropout_that_a_product_and_a_sum_read(context):
    def body(net, x, graph):
        dropped = dropout(F.relu(x), 0.5, net.training)
        return net.linear(dropped) + dropped

    context.check(body, linear=torch.nn.Linear(WIDTH, WIDTH))


@pytest.mark.parametrize("readers", ["some", "all"])
def test_dropout_before_the_output(readers):
    """Runs with other training nodes have the random numbers that they would have alone."""

    def body(net, x, graph):
        x = F.relu(graph.propagate(x))
        if readers == "all":
            x = x + graph.propagate(x)
        return dropout(x, 0.4, net.training, kind="output")

    check_gradients(Problem(), [shake(Net(body), seed) for seed in range(2)])


@pytest.mark.parametrize("rates", [(0.5, 0.25), (0.3, 0.6), (0.5, 0.3)])
@pytest.mark.parametrize("activation", ["relu", "tanh"])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_runs_with_rates_of_their_own(rates, activation, sparse):
    models = [shake(GCN(5, 4, 3, 2, activation=activation), seed) for seed in range(2)]
    for model, rate in zip(models, rates, strict=True):
        model.dropout = model.conv_dropout = rate
    check_gradients(Problem(sparse=sparse), models)


def masks(rates, seeds, count=3, size=SIZE, epochs=2):
    """What is kept of ones by each mask, epoch and run; shape: ``(epochs, count, k, size)``."""
    do = Program(Arena(torch.zeros(1)))
    masking = Masking(rates)
    generators = [torch.Generator().manual_seed(seed) for seed in seeds]
    noise = Noise(generators, [masking.words(size) for _ in range(count)])
    kept = [torch.zeros(len(rates), size) for _ in range(count)]
    for out in kept:
        numbers = torch.empty_like(out)
        masking.numbers(do, noise.take(do), numbers)
        masking.apply(do, torch.ones_like(out), numbers, out)
        masking.rescale(do, out)
    seen = []
    for _ in range(epochs):
        noise.begin()
        do.run()
        seen.append(torch.stack(kept).clone() * masking.scale)
    return torch.stack(seen)


@pytest.mark.parametrize("size", [SIZE, 1 << 18])  # drawn at once, and mask by mask
@pytest.mark.parametrize("rates", [(0.5, 0.5), (0.5, 0.25), (0.5, 0.3), (0.0, 0.6)])
def test_each_run_has_the_masks_it_would_have_alone(rates, size):
    together = masks(rates, (3, 4), size=size)
    for run, (rate, seed) in enumerate(zip(rates, (3, 4), strict=True)):
        alone = masks((rate,), (seed,), size=size)
        torch.testing.assert_close(together[:, :, run], alone[:, :, 0])


def test_masks_and_epochs_differ_and_keep_the_rate():
    seen = masks((0.5,), (0,), size=1 << 16)[:, :, 0]
    kept = (seen > 0).flatten(0, 1)
    assert len({tuple(row[:64].tolist()) for row in kept}) == len(kept)
    assert torch.allclose(kept.double().mean(1), torch.tensor(0.5).double(), atol=0.01)
    assert set(seen.unique().tolist()) == {0.0, 2.0}


def test_nothing_to_drop_uses_no_random_numbers():
    generator = torch.Generator().manual_seed(0)
    before = generator.get_state()
    Noise([generator], []).begin()
    assert generator.get_state().equal(before)
    assert not Masking([0.0, 0.0])
