"""Workers of a Ray cluster that share one study."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, chdir, nullcontext
from pathlib import Path
from typing import Any

from graphsct.errors import TrainingError
from graphsct.extras import require
from graphsct.safe_path import safe_path
from graphsct.search.blind import BlindData
from graphsct.search.worker import Plan, work

__all__ = ["run_cluster"]

_RETRIES = 3


def run_cluster(
    plan: Plan,
    data: BlindData,
    workers: int,
    stop: Callable[[], bool],
    show: Callable[[], None],
    *,
    address: str,
) -> None:
    """Run Ray's workers until the study has its trials; one that fails is started again.

    All machines must share the folder of the study, unless there is a database.

    Args:
        plan: a plan with a folder or a database
        data: data without test nodes
        workers: number of workers, one processor each
        stop: called twice a second; if true, the next process takes over unfinished trials
        show: called twice a second
        address: address of the cluster, ``auto`` for this machine's, or ``local`` for a new one
    """
    ray = require("ray", "ray")
    try:
        own = {"num_cpus": workers, "include_dashboard": False} if address == "local" else {}
        with safe_path(), _away():
            ray.init(address, **own, log_to_driver=False, logging_level="error")
    except ConnectionError as error:
        raise TrainingError(
            f"there is no Ray cluster at {address!r}: {error}. Start one with 'ray start --head', "
            "or pass ray='local'"
        ) from error
    except Exception as error:  # Ray has no class for a wrong address or a start that is too slow
        raise TrainingError(
            f"Ray does not start at {address!r}: {error}. Try again, or pass workers={workers} "
            f"without ray={address!r}"
        ) from error
    try:
        begin: Any = ray.remote(num_cpus=1, max_retries=_RETRIES)(_work)
        shared = ray.put(data.to_bytes())
        going = [begin.remote(plan, shared) for _ in range(workers)]
        while going and not stop():
            ended, going = ray.wait(going, timeout=0.5)
            show()
            ray.get(ended)  # raises the error that ended a worker
        for task in going:
            ray.cancel(task)
        if going:
            ray.wait(going, num_returns=len(going), timeout=10)
    except ray.exceptions.RayError as error:
        raise TrainingError(
            "a worker of the Ray cluster failed; one that is killed is restarted up to "
            f"{_RETRIES} times. The results are kept: run the search again to resume it. The "
            f"worker said: {error}"
        ) from error
    finally:
        ray.shutdown()


def _away() -> AbstractContextManager[None]:
    """A context in which to start Ray, whose workers look for modules in the current folder. If
    this process does not, the current folder becomes another one, without modules.
    """
    looks_here = not {"", str(Path.cwd())}.isdisjoint(sys.path)
    return nullcontext() if looks_here else chdir(sys.prefix)


def _work(plan: Plan, content: bytes) -> None:
    data = BlindData.from_bytes(content)
    with plan.open(data) as study:
        work(plan, study, data, stop=lambda: False)
