import math
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch.testing import assert_close

from graphsct.nn.dropout import Lanes, Masks, Rate, dropout

RATES = [0.1, 0.25, 0.5, 0.6, 0.9, 0.999, 1e-4]
COUNT = 1_000_000


def deviations(successes, count, probability):
    """How many standard deviations a count is from its expectation."""
    spread = math.sqrt(count * probability * (1 - probability))
    return abs(successes - count * probability) / spread


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


@pytest.mark.parametrize("p", RATES)
def test_rate_and_scale(p):
    out = dropout(torch.ones(COUNT), p)
    kept = out != 0
    assert deviations(int(kept.sum()), COUNT, 1 - p) < 4.5
    rate = Rate(p)
    assert abs(rate.keep - (1 - p)) <= 2**-17
    assert_close(out[kept], torch.full_like(out[kept], 1 / rate.keep))


@pytest.mark.parametrize("p", [0.5, 0.6])
def test_entries_are_independent_of_each_other_and_of_the_next_call(p):
    first, second = (dropout(torch.ones(COUNT), p) != 0 for _ in range(2))
    both = (1 - p) ** 2
    for shift in (1, 2, 3, 4, 7, 8, 16, 64, 1000):
        pairs = int((first[shift:] & first[:-shift]).sum())
        assert deviations(pairs, COUNT - shift, both) < 4.5, shift
    assert deviations(int((first & second).sum()), COUNT, both) < 4.5
    columns = first.view(-1, 64).sum(0)
    assert all(deviations(int(c), COUNT // 64, 1 - p) < 4.5 for c in columns)


def test_the_seed_of_torch_decides():
    x = torch.randn(100, 7)
    outs = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        outs.append((dropout(x, 0.4), dropout(x, 0.4)))
    assert outs[0][0].equal(outs[1][0])
    assert outs[0][1].equal(outs[1][1])
    assert not outs[0][0].equal(outs[0][1])
    assert not outs[0][0].equal(outs[2][0])


def test_gradient_is_the_same_mask_of_any_order():
    x = torch.randn(50, 3, dtype=torch.float64, requires_grad=True)
    out = dropout(x, 0.3)
    mask = (out != 0).double() / Rate(0.3).keep
    assert_close(out, x * mask)
    (grad,) = torch.autograd.grad(out.square().sum(), x, create_graph=True)
    assert_close(grad, 2 * x * mask**2)
    (again,) = torch.autograd.grad(grad.sum(), x)
    assert_close(again, 2 * mask**2)


def test_what_it_is_given_stays_as_it_is():
    x = torch.randn(10, 3)
    before = x.clone()
    dropout(x, 0.5)
    assert x.equal(before)


@pytest.mark.parametrize("shape", [(0,), (1,), (3, 5), (2, 3, 4)])
def test_shapes_and_types(shape):
    for dtype in (torch.float32, torch.float64):
        out = dropout(torch.ones(shape, dtype=dtype), 0.5)
        assert out.shape == shape
        assert out.dtype == dtype


def test_lanes_are_uniform():
    for p, levels in ((0.5, 256), (0.3, 65536)):
        rate = Rate(p)
        words = Lanes().reseed().words(rate.words(COUNT))
        lanes = rate.lanes(torch.from_numpy(words.view("int64")), COUNT).long() + levels // 2
        counts = torch.bincount(lanes // (levels // 256), minlength=256)
        assert len(counts) == 256
        assert max(deviations(int(c), COUNT, 1 / 256) for c in counts) < 5


TRAIN = torch.tensor([False, True, True, False, True])


def masks(seed=3):
    return Masks(torch.Generator().manual_seed(seed), TRAIN)


def expected(stream, shape, p):
    """The mask that the next words of a stream make."""
    rate, count = Rate(p), math.prod(shape)
    words = torch.from_numpy(stream.words(rate.words(count)).view("int64"))
    return (rate.lanes(words, count).view(shape) > rate.threshold) / rate.keep


def test_masks_take_the_words_of_one_stream_in_the_order_of_the_calls():
    own, ones = masks(), torch.ones(5, 3)
    stream = Lanes(torch.Generator().manual_seed(3))
    for _ in range(2):  # every epoch seeds the stream anew
        with own.active():
            found = [
                dropout(torch.ones(7), 0.5, kind="values"),
                dropout(ones, 0.3),
                dropout(ones, 0.6, kind="output"),
                dropout(ones, 0.5),
            ]
        stream.reseed()
        assert_close(found[0], expected(stream, (7,), 0.5))
        assert_close(found[1], expected(stream, (5, 3), 0.3))
        assert_close(found[2][TRAIN], expected(stream, (3, 3), 0.6))
        assert_close(found[3], expected(stream, (5, 3), 0.5))


def test_masks_are_active_inside_of_their_context_only():
    ones = torch.ones(50, 3)
    torch.manual_seed(1)
    outside = dropout(ones, 0.5)
    torch.manual_seed(1)
    with Masks(torch.Generator().manual_seed(2), torch.ones(50, dtype=torch.bool)).active():
        inside = dropout(ones, 0.5)
    assert dropout(ones, 0.5).equal(outside)  # PyTorch's generator was left alone
    assert not inside.equal(outside)


def test_an_epoch_without_dropout_draws_nothing():
    own = masks()
    before = own.generator.get_state()
    with own.active():
        pass
    assert own.generator.get_state().equal(before)


def test_threads_have_their_own_masks():
    ones = torch.ones(5, 3)
    with masks().active():
        alone = dropout(ones, 0.5)
    with masks().active(), ThreadPoolExecutor(1) as pool:
        pool.submit(dropout, ones, 0.5).result()
        assert dropout(ones, 0.5).equal(alone)
