import pytest
import torch

from graphsct.training.seeding import GlobalRandom, dropout_generator, seeded

CPU = torch.device("cpu")


def test_the_generator_of_dropout_draws_the_numbers_of_its_seed():
    with seeded(3, 1):
        expected = torch.rand(4)
    assert torch.rand(4, generator=dropout_generator(3)).equal(expected)


def test_a_run_has_generators_of_its_own():
    torch.manual_seed(0)
    expected = torch.rand(3)
    torch.manual_seed(0)
    runs = [GlobalRandom(seed, CPU) for seed in (1, 1, 2)]
    found = []
    for run in runs:
        with run.active():
            found.append(torch.rand(3))
    assert found[0].equal(found[1])
    assert not found[0].equal(found[2])
    assert torch.rand(3).equal(expected)


def test_they_continue_from_their_state():
    first, second = GlobalRandom(1, CPU), GlobalRandom(2, CPU)
    with first.active():
        torch.rand(3)
    second.restore(first.state())
    found = []
    for run in (first, second):
        with run.active():
            found.append(torch.rand(3))
    assert found[0].equal(found[1])


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_those_of_cuda_are_the_runs_own_as_well():
    torch.cuda.manual_seed(0)
    expected = torch.rand(3, device="cuda")
    torch.cuda.manual_seed(0)
    found = []
    for seed, device in ((1, "cuda"), (1, "cuda"), (1, "cpu")):
        run = GlobalRandom(seed, torch.empty(0, device=device).device)
        with run.active():
            found.append(torch.rand(3, device=device).cpu())
    assert found[0].equal(found[1])
    assert torch.rand(3, device="cuda").equal(expected)
