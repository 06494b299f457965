"""Communication between processes, by :mod:`torch.distributed`."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import safetensors.torch
import torch
import torch.distributed as dist
from torch import Tensor

from graphsct.errors import GraphsctError, TrainingError

__all__ = [
    "device",
    "gather",
    "joined",
    "lead",
    "lead_tensors",
    "rank",
    "restarts",
    "total",
    "world",
]


def rank() -> int:
    """Number of this process, from 0."""
    return dist.get_rank()


def world() -> int:
    """Number of processes."""
    return dist.get_world_size()


def device() -> torch.device:
    """The device of this process: a GPU of its own if there are enough, else the CPU."""
    local = int(os.environ.get("LOCAL_WORLD_SIZE", "1"))
    if torch.cuda.device_count() >= local:
        return torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
    return torch.device("cpu")


@contextmanager
def joined(seconds: float, **how: Any) -> Iterator[None]:
    """Join the processes that torchrun started.

    Args:
        seconds: time to wait for other processes before an error
        **how: how the processes meet, for :func:`torch.distributed.init_process_group`; by default
            as torchrun says
    """
    backend, timeout = "nccl" if device().type == "cuda" else "gloo", timedelta(seconds=seconds)
    try:
        dist.init_process_group(backend, timeout=timeout, **(how or _after_restarts(timeout)))
    except (RuntimeError, ValueError) as error:
        raise TrainingError(
            f"the processes did not find each other: {_reason(error)}; start them with torchrun, "
            "for instance 'torchrun --nproc-per-node 2 SCRIPT.py'"
        ) from error
    try:
        yield
    except RuntimeError as error:
        if not _is_lost(error):
            raise
        raise TrainingError(
            f"process {rank()} of {world()} lost another one, or waited more than {seconds:g} "
            f"seconds for it ({_reason(error)}); resume from the last checkpoint with "
            "resume=True, or let torchrun restart the processes (its option --max-restarts)"
        ) from error
    finally:
        dist.destroy_process_group()


def restarts() -> int:
    """Number of times that torchrun restarted these processes because one died."""
    return int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"))


def _after_restarts(timeout: timedelta) -> dict[str, Any]:
    """How to meet if torchrun keeps one store for all its starts.

    Without a prefix of its own, a start would find the addresses of dead processes.
    """
    if os.environ.get("TORCHELASTIC_USE_AGENT_STORE") != "True":
        return {}
    meeting: Any = dist
    store, number, count = next(meeting.rendezvous("env://", timeout=timeout))
    own = meeting.PrefixStore(f"start-{restarts()}", store)
    return {"store": own, "rank": number, "world_size": count}


def _is_lost(error: RuntimeError) -> bool:
    """Whether another process is lost or silent; gloo has no exception of its own for it."""
    known = isinstance(error, dist.DistError | dist.DistBackendError | dist.DistNetworkError)
    return known or any(word in str(error).lower() for word in ("gloo", "timeout"))


def _reason(error: Exception) -> str:
    """The message of an error, without its place in the source and its advice."""
    return re.sub(r"^\[[^]]*/[^]]*\] ", "", str(error).strip()).split(". ")[0].splitlines()[0]


class _Total(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        out = x.clone(memory_format=torch.contiguous_format)
        dist.all_reduce(out)
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return total(grads[0])


def total(x: Tensor) -> Tensor:
    """The sum over all processes, on all of them; its gradient is the sum of all gradients."""
    return _Total.apply(x)  # type: ignore[no-any-return, no-untyped-call]


def gather(x: Tensor) -> list[Tensor]:
    """The tensors of all processes, of equal shapes, on all of them."""
    found = [torch.empty_like(x) for _ in range(world())]
    dist.all_gather(found, x)
    return found


def lead(make: Callable[[], Any]) -> Any:
    """A JSON value that process 0 makes, on all processes; its errors are raised on all."""
    return json.loads(_lead(lambda: json.dumps(make()).encode()))


def lead_tensors(make: Callable[[], dict[str, Tensor]]) -> dict[str, Tensor]:
    """Tensors by name that process 0 makes, on the CPU of all processes."""

    def content() -> bytes:
        return safetensors.torch.save({k: v.cpu().contiguous() for k, v in make().items()})

    return safetensors.torch.load(_lead(content))


def _lead(make: Callable[[], bytes]) -> bytes:
    content, failure = b"", None
    if rank() == 0:
        try:
            content = make()
        except GraphsctError as error:
            content, failure = str(error).encode(), error
    size = torch.tensor([len(content), failure is not None], device=device())
    dist.broadcast(size, 0)
    if rank() == 0:
        message = torch.frombuffer(bytearray(content), dtype=torch.uint8).to(device())
    else:
        message = torch.empty(int(size[0]), dtype=torch.uint8, device=device())
    dist.broadcast(message, 0)
    content = message.cpu().numpy().tobytes()
    if failure is not None:
        raise failure
    if size[1]:
        raise TrainingError(f"process 0 could not continue: {content.decode()}")
    return content
