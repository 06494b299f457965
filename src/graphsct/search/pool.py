"""Processes of this machine that share one study."""

from __future__ import annotations

import multiprocessing
import signal
import sys
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from multiprocessing.connection import Connection
from typing import Any

import torch

from graphsct.errors import GraphsctError, TrainingError
from graphsct.safe_path import safe_path
from graphsct.search.blind import BlindData
from graphsct.search.worker import Plan, work

__all__ = ["run_pool"]

# How many processes may end unexpectedly and be replaced before the search fails.
_ACCIDENTS = 3


@safe_path()
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

    def begin() -> tuple[Any, Connection]:
        listen, said = context.Pipe(duplex=False)
        arguments = (plan, content, threads, asked, said)
        process = context.Process(target=_work, args=arguments, daemon=True)
        process.start()
        said.close()
        return process, listen

    going = [begin() for _ in range(workers)]
    accidents = 0
    while going:
        going[0][0].join(0.5)
        show()
        if stop():
            asked.set()
        ended = [each for each in going if each[0].exitcode is not None]
        going = [each for each in going if each[0].exitcode is None]
        for process, listen in ended:
            if process.exitcode and not stop():
                reason = _last_words(listen)
                if reason is not None:
                    asked.set()
                    raise reason
                accidents += 1
                if accidents > _ACCIDENTS:
                    asked.set()
                    raise TrainingError(
                        f"{accidents} workers ended unexpectedly, the last one with exit code "
                        f"{process.exitcode}. Their results are kept: run the search again to "
                        f"resume it, with fewer than workers={workers} if memory is short"
                    )
                going.append(begin())


def _last_words(listen: Connection) -> GraphsctError | None:
    """The error of ours that ended a process, ``None`` if it was killed."""
    with suppress(EOFError):
        if listen.poll():
            error: GraphsctError = listen.recv()
            return error
    return None


def _context() -> Any:
    """Processes start fast from a server that has imported everything, where there is one."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["graphsct.search.study"])
    return context


def _work(plan: Plan, content: bytes, threads: int, asked: Any, said: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
    torch.set_num_threads(threads)
    parent = multiprocessing.parent_process()

    def stop() -> bool:
        return asked.is_set() or parent is None or not parent.is_alive()

    data = BlindData.from_bytes(content)
    try:
        # A model of a user may print, and standard output belongs to the command.
        with redirect_stdout(sys.stderr), plan.open(data) as study:
            work(plan, study, data, stop)
    except GraphsctError as error:  # the parent raises it, once for all workers
        with suppress(OSError):
            said.send(error)
        sys.exit(1)
