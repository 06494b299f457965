import math
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch.testing import assert_close

from graphsct.nn.dropout import DeviceMasks, Lanes, Masks, Rate, dropout, make_masks

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


def drawn_there(seed=3):
    """The masks of other devices, drawn by the CPU."""
    return DeviceMasks(torch.Generator().manual_seed(seed), TRAIN)


@pytest.mark.parametrize("p", RATES)
def test_masks_of_a_device_have_the_rate_and_the_scale(p):
    with drawn_there().active():
        out = dropout(torch.ones(COUNT), p)
    kept = out != 0
    assert deviations(int(kept.sum()), COUNT, 1 - p) < 4.5
    assert_close(out[kept], torch.full_like(out[kept], 1 / Rate(p).keep))


def test_masks_of_a_device_are_drawn_by_its_generator_in_the_order_of_the_calls():
    generator, x = torch.Generator().manual_seed(3), torch.randn(5, 3, requires_grad=True)
    with drawn_there().active():
        found = [dropout(x, p, kind="output") for p in (0.5, 0.3)]
    for out, p in zip(found, (0.5, 0.3), strict=True):
        rate = Rate(p)
        mask = (rate.draw(x.shape, x.device, generator) > rate.threshold) / rate.keep
        assert_close(out, x * mask)
        assert_close(torch.autograd.grad(out.square().sum(), x)[0], 2 * x * mask**2)


def test_masks_of_a_device_continue_from_the_state_of_their_generator():
    ones, own, other = torch.ones(50, 3), drawn_there(), drawn_there(seed=4)
    with own.active():
        dropout(ones, 0.5)
    other.generator.set_state(own.generator.get_state())
    outs = []
    for masks in (own, other):
        with masks.active():
            outs.append(dropout(ones, 0.5))
    assert outs[0].equal(outs[1])


class EveryLane(Masks):
    """A mask in which every lane stands once."""

    def lanes(self, shape, rate, kind):
        half = 1 << (rate.bits - 1)
        return torch.arange(-half, half).to(rate.dtype).view(shape)


@pytest.mark.parametrize("p", RATES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_the_expectation_is_exact_in_any_precision(p, dtype):
    rate = Rate(p)
    levels = 1 << rate.bits
    with EveryLane(torch.Generator(), TRAIN).active():
        out = dropout(torch.ones(levels, dtype=dtype), p)
    assert out.dtype == dtype
    assert int((out != 0).sum()) == rate.keep * levels
    assert out.max() == torch.tensor(1 / rate.keep, dtype=dtype)


def test_the_device_of_the_generator_decides_where_masks_are_drawn():
    assert type(make_masks(torch.Generator(), TRAIN)) is Masks
    outside = dropout(torch.ones(5, 3, device="meta"), 0.5)  # by the device's own generator
    assert outside.device.type == "meta"


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_masks_on_cuda_are_drawn_there():
    found = []
    for _ in range(2):
        masks = make_masks(torch.Generator("cuda").manual_seed(3), TRAIN.cuda())
        with masks.active():
            found.append(dropout(torch.ones(COUNT, device="cuda"), 0.5))
    assert type(masks) is DeviceMasks
    assert found[0].equal(found[1])
    assert deviations(int((found[0] != 0).sum()), COUNT, 0.5) < 4.5
