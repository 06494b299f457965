import pytest
import torch

from graphsct.engine.dropout import Masking, Noise
from graphsct.engine.program import Arena, Program

N, D = 50, 8


def masks(rates, seeds, count=3, size=N * D, epochs=2):
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


@pytest.mark.parametrize("size", [N * D, 1 << 18])  # drawn at once, and mask by mask
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
    assert torch.allclose(kept.double().mean(1), torch.tensor(0.5).double(), atol=0.02)
    assert set(seen.unique().tolist()) == {0.0, 2.0}


def test_nothing_to_drop_uses_no_random_numbers():
    generator = torch.Generator().manual_seed(0)
    before = generator.get_state()
    Noise([generator], []).begin()
    assert generator.get_state().equal(before)
    assert not Masking([0.0, 0.0])
