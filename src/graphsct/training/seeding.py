"""The random numbers of a run: their seeds and their generators."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import numpy as np
import torch

__all__ = ["GlobalRandom", "dropout_generator", "seed_of", "seeded"]


@contextmanager
def seeded(*seed: int) -> Iterator[None]:
    """Seed PyTorch's generators, and restore them afterwards.

    ``seeded(s)`` draws the first weights, ``seeded(s, 1)`` dropout, so that the two differ.
    """
    with torch.random.fork_rng(range(torch.cuda.device_count())):
        torch.manual_seed(seed_of(*seed))
        yield


def seed_of(*seed: int) -> int:
    """Combine several numbers into one seed."""
    if len(seed) == 1:
        return seed[0]
    return int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0])


def dropout_generator(seed: int, device: torch.device | str = "cpu") -> torch.Generator:
    """The generator of the dropout of a run; it draws the numbers of ``seeded(s, 1)``.

    Args:
        seed: seed of the run
        device: device on which it draws
    """
    return torch.Generator(device).manual_seed(seed_of(seed, 1))


class GlobalRandom:
    """The state of PyTorch's global generators in one run.

    A model from elsewhere may draw from them, for example in :class:`torch.nn.Dropout`. They
    belong to the whole process, so only one thread may be :meth:`active` at a time. Those of the
    CPU and of CUDA are kept; on MPS such a model draws from the generator of the process.

    Args:
        seed: seed of the run
        device: device of the model
    """

    def __init__(self, seed: int, device: torch.device) -> None:
        self._devices = [device] if device.type == "cuda" else []
        self._state: list[torch.Tensor] = []
        with torch.random.fork_rng(self._devices):
            # Not torch.manual_seed, which would also seed devices of others.
            torch.default_generator.manual_seed(seed_of(seed, 1))
            for device in self._devices:
                with torch.cuda.device(device):
                    torch.cuda.manual_seed(seed_of(seed, 1))
            self._save()

    @contextmanager
    def active(self) -> Iterator[None]:
        """Let the global generators continue those of this run, and restore them afterwards."""
        with torch.random.fork_rng(self._devices):
            torch.set_rng_state(self._state[0])
            for device, state in zip(self._devices, self._state[1:], strict=True):
                torch.cuda.set_rng_state(state, device)
            yield
            self._save()

    def _save(self) -> None:
        own = [torch.cuda.get_rng_state(device) for device in self._devices]
        self._state = [torch.get_rng_state(), *own]

    def state(self) -> dict[str, torch.Tensor]:
        """The state for a checkpoint."""
        return {f"torch.{number}": state for number, state in enumerate(self._state)}

    def restore(self, tensors: Mapping[str, torch.Tensor]) -> None:
        """Continue from :meth:`state`."""
        self._state = [tensors[name] for name in self.state()]
