"""Processes of this machine that share one study."""

from __future__ import annotations

import multiprocessing
import signal
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from typing import Any

import torch

from graphsct.errors import TrainingError
from graphsct.search.blind import BlindData
from graphsct.search.worker import Plan, work

__all__ = ["run_pool"]

# The number of processes that may end by accident and are replaced.
_ACCIDENTS = 3


def run_pool(
    plan: Plan, data: BlindData, workers: int, stop: Callable[[], bool], show: Callable[[], None]
) -> None:
    """Run processes until the study has its trials; one that is killed is replaced.

    Args:
        plan: a plan with a folder or a database
        data: data without test nodes
        workers: number of processes
        stop: called twice a second; if true, unfinished trials are given back
        show: called twice a second
    """
    context = _context()
    asked = context.Event()
    threads = max(1, torch.get_num_threads() // workers)

    content = data.to_bytes()

    def begin() -> Any:
        arguments = (plan, content, threads, asked)
        process = context.Process(target=_work, args=arguments, daemon=True)
        process.start()
        return process

    going = [begin() for _ in range(workers)]
    accidents = 0
    while going:
        going[0].join(0.5)
        show()
        if stop():
            asked.set()
        ended = [process for process in going if process.exitcode is not None]
        going = [process for process in going if process.exitcode is None]
        for process in ended:
            if process.exitcode and not stop():
                accidents += 1
                if accidents > _ACCIDENTS:
                    asked.set()
                    raise TrainingError(
                        f"{accidents} workers ended by accident, the last one with exit code "
                        f"{process.exitcode}. Their results are kept: run the search again to "
                        f"resume it, with fewer than workers={workers} if memory is short"
                    )
                going.append(begin())


def _context() -> Any:
    """Children of a server that has imported everything, if the system has one: they start fast."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["graphsct.search.study"])
    return context


def _work(plan: Plan, content: bytes, threads: int, asked: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
    torch.set_num_threads(threads)
    parent = multiprocessing.parent_process()

    def stop() -> bool:
        return asked.is_set() or parent is None or not parent.is_alive()

    data = BlindData.from_bytes(content)
    # A model of a user may print, and standard output belongs to the command.
    with redirect_stdout(sys.stderr), plan.open(data) as study:
        work(plan, study, data, stop)
