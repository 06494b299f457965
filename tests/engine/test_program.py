import pytest
import torch
from torch.testing import assert_close

from graphsct.engine.program import Arena, OneThread, Program, apart, multiply, multiply_transposed


def random(*shape):
    return torch.randn(*shape, dtype=torch.float64)


@pytest.fixture
def do():
    torch.manual_seed(0)
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
    x, w, out = random(n, k * d), random(k, d, e), random(n, k * e)
    bias = random(k, e) if biased else None
    multiply(do, x, w, out, scale=2.0, bias=bias)
    grad = torch.empty(k, d, e, dtype=torch.float64)
    multiply_transposed(do, x, out, grad, 0.5)
    x.copy_(random(n, k * d))  # what counts is what stands there when the calls are made
    do.run()
    for run in range(k):
        own, made = apart(x, k)[run], apart(out, k)[run]
        assert own.equal(x[:, run * d : (run + 1) * d])
        wanted = 2 * own @ w[run] + (bias[run] if biased else 0)
        assert_close(made, wanted)
        assert_close(grad[run], 0.5 * own.t() @ wanted)


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
