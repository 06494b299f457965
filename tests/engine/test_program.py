import pytest
import torch
from recording import WIDTH, PoisonedArena, PoisonedProgram, Problem, random, shake
from torch.testing import assert_close

from graphsct.engine import program
from graphsct.engine.program import Arena, OneThread, Program, apart, multiply, multiply_transposed
from graphsct.nn import GCNII
from graphsct.training import TrainConfig


@pytest.fixture
def do():
    return Program(Arena(torch.zeros(1, dtype=torch.float64)))


def test_calls_are_made_in_order_each_time(do):
    seen = []
    do(seen.append, 1)
    do(seen.append, 2)
    assert seen == []
    do.run()
    do.run()
    assert seen == [1, 2, 1, 2]


def test_scratch_is_shared_by_use_and_shape(do):
    assert do.scratch("a", 2, 3) is do.scratch("a", 2, 3)
    assert do.scratch("a", 2, 3) is not do.scratch("b", 2, 3)
    assert do.scratch("a", 2, 3).dtype == torch.float64


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("n", [5, 1 << 15])  # above and below the size where a copy pays
@pytest.mark.parametrize("biased", [False, True])
def test_products_are_those_of_each_run(do, k, n, biased):
    d, e = 4, 6
    x, w, out = random(n, k * d), random(k, d, e, seed=1), random(n, k * e, seed=2)
    bias = random(k, e, seed=3) if biased else None
    multiply(do, x, w, out, scale=2.0, bias=bias)
    grad = torch.empty(k, d, e, dtype=torch.float64)
    multiply_transposed(do, x, out, grad, 0.5)
    x.copy_(random(n, k * d, seed=4))  # what counts is what stands there when the calls are made
    do.run()
    for run in range(k):
        own, made = apart(x, k)[run], apart(out, k)[run]
        assert own.equal(x[:, run * d : (run + 1) * d])
        wanted = 2 * own @ w[run] + (bias[run] if biased else 0)
        assert_close(made, wanted)
        assert_close(grad[run], 0.5 * own.t() @ wanted)


@pytest.mark.parametrize("n", [32, 75])  # with and without a rest
def test_sums_over_many_nodes_are_those_of_their_pieces(do, monkeypatch, n):
    monkeypatch.setattr(program, "MANY_NODES", 32)
    x, y, out = random(n, 4), random(n, 6, seed=1), torch.empty(1, 4, 6, dtype=torch.float64)
    multiply_transposed(do, x, y, out, 0.5)
    do.run()
    do.run()
    assert_close(out[0], 0.5 * x.t() @ y)


@pytest.mark.parametrize("only", [False, True])
def test_one_thread_and_then_as_before(only):
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        with OneThread(only):
            assert torch.get_num_threads() == (1 if only else 2)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_an_array_is_handed_out_again_after_its_last_user():
    arena = Arena(torch.zeros(1, dtype=torch.float64))
    array = arena.take(2, 3)
    assert arena.take(2, 3) is not array
    arena.share(array)
    arena.release(array)
    assert arena.take(2, 3) is not array
    arena.release(array)
    assert arena.take(3, 2) is not array
    assert arena.take(2, 3) is array
    assert array.dtype == torch.float64


def test_a_product_may_be_added_to_what_is_there(do):
    x, w, out = random(5, 4), random(1, 4, 3, seed=1), random(5, 3, seed=2)
    before = out.clone()
    multiply(do, x, w, out, scale=0.5, add=True)
    do.run()
    assert_close(out, before + 0.5 * x @ w[0])


def test_nobody_reads_an_array_before_it_is_written_or_after_it_is_released():
    """Poison changes nothing in ten epochs of models that use most of the operations."""
    options = [
        dict(control="gated_full", residual=True, norm="BatchNorm", activation="srelu"),
        dict(control="pooled", jumping="max", norm="PairNorm", activation="elu"),
        dict(control=None, jumping="cat", norm="LayerNorm", activation="silu"),
    ]
    for settings in options:
        shape = 5, WIDTH, 3, 4
        models = [
            shake(GCNII(*shape, num_components=3, dropout=0.5, **settings), s) for s in range(2)
        ]
        engines = [
            Problem().engine(models, configs=[TrainConfig()] * 2, poisoned=poisoned)
            for poisoned in (False, True)
        ]
        for _ in range(10):
            plain, poisoned = (torch.stack([e.descend(), *e.validate()]) for e in engines)
            assert torch.equal(plain, poisoned)
            assert plain.isfinite().all()


def test_poison_shows_what_is_read_too_late():
    do = PoisonedProgram(PoisonedArena(torch.zeros(1)))
    array, seen = do.arena.take(2), torch.zeros(2)
    do(array.fill_, 1.0)
    do(seen.copy_, array)
    do.arena.release(array)
    late = torch.zeros(2)
    do(late.copy_, array)
    do.run()
    assert seen.tolist() == [1.0, 1.0]
    assert late.isnan().all()
