"""Processes on this machine, started by torchrun's launcher."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from graphsct.errors import TrainingError
from graphsct.safe_path import safe_path

if TYPE_CHECKING:
    from torch.distributed.elastic.multiprocessing.errors import ProcessFailure

__all__ = ["is_worker", "launch"]

_RESUME = "resume from the last checkpoint with resume=True"
_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)


def is_worker() -> bool:
    """Whether torchrun, or another launcher with its variables, started this process."""
    return {"RANK", "WORLD_SIZE"} <= os.environ.keys()


@safe_path()
def launch(processes: int, arguments: Sequence[str]) -> None:
    """Run a program in several processes, as ``torchrun`` does, until all are done.

    Each process gets its share of the cores, unless ``OMP_NUM_THREADS`` is set.

    Args:
        processes: number of processes
        arguments: a script, or ``-m`` and a module, followed by the arguments of the program
    """
    import torch
    from torch.distributed.elastic.multiprocessing.api import SignalException
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError

    torchrun: Any = import_module("torch.distributed.run")
    threads = max(1, torch.get_num_threads() // processes)
    os.environ.setdefault("OMP_NUM_THREADS", str(threads))
    options = ["--standalone", "--nproc-per-node", str(processes)]
    try:
        with _own_signals():
            torchrun.run(torchrun.parse_args([*options, *arguments]))
    except SignalException as error:
        if error.sigval == signal.SIGINT:
            raise KeyboardInterrupt from error
        raise TrainingError(f"ended by {error.sigval.name}; {_RESUME}") from error
    except ChildFailedError as error:
        raise TrainingError(_explain(error.failures, processes)) from error


@contextmanager
def _own_signals() -> Iterator[None]:
    """Restore the signal handlers of this process, which torchrun replaces."""
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _explain(failures: Mapping[int, ProcessFailure], processes: int) -> str:
    """Name the process that failed first: one that was killed before those that lost it.

    Torchrun ends the others with SIGTERM.
    """

    def order(rank: int) -> tuple[bool, int]:
        return failures[rank].exitcode == -signal.SIGTERM, failures[rank].exitcode

    rank = min(failures, key=order)
    code = failures[rank].exitcode
    end = f"failed with exit code {code}; its own message is above"
    if code < 0:
        name = signal.Signals(-code).name
        end = f"was killed by {name}; {_RESUME}"
    return f"process {rank} of {processes} {end}"
