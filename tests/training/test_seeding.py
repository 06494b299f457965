import pytest
import torch

from graphsct.training.seeding import GlobalRandom, dropout_generator, seed_of, seeded

CPU = torch.device("cpu")


def test_seeds_are_numbers_that_stay():
    assert seed_of(7) == 7
    assert seed_of(7, 1) == 6635463128224577688
    assert len({seed_of(7, 1), seed_of(7, 2), seed_of(1, 7)}) == 3


def test_the_callers_numbers_go_on_as_if_nothing_was():
    torch.manual_seed(1)
    expected = torch.rand(2)
    torch.manual_seed(1)
    with seeded(5):
        first = torch.rand(3)
    run = GlobalRandom(5, CPU)
    with run.active():
        torch.rand(3)
    assert torch.equal(torch.rand(2), expected)
    with seeded(5):
        assert torch.equal(torch.rand(3), first)


def test_weights_and_dropout_have_different_numbers():
    with seeded(5):
        weights = torch.rand(3)
    with seeded(5, 1):
        dropout = torch.rand(3)
    assert not torch.equal(weights, dropout)
    assert torch.equal(torch.rand(3, generator=dropout_generator(5)), dropout)


def test_a_run_goes_on_with_its_own_numbers():
    with seeded(5, 1):
        expected = torch.rand(6)
    run = GlobalRandom(5, CPU)
    with run.active():
        first = torch.rand(2)
    state = run.state()
    with run.active():
        second = torch.rand(4)
    assert torch.equal(torch.cat([first, second]), expected)
    run.restore(state)
    with run.active():
        assert torch.equal(torch.rand(4), second)


def test_an_error_does_not_move_the_numbers_of_a_run():
    run = GlobalRandom(5, CPU)
    with pytest.raises(RuntimeError, match="forward"), run.active():
        torch.rand(2)
        raise RuntimeError("forward")
    fresh = GlobalRandom(5, CPU).state()
    assert all(torch.equal(value, fresh[name]) for name, value in run.state().items())


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
