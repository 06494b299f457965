r"""The cost of exact training of one graph on many machines: memory, bytes sent, time.

A process that has :math:`n` nodes, :math:`k` entries of :math:`\mathbf G` and a halo of :math:`h`
rows takes, for :math:`L` layers of width :math:`d` and the three passes of an epoch (forward,
backward, validation),

.. math::
    \text{time} = p_1 \, 3 L k d + p_2 \, n (3 f d + 4 L d^2 + 4 d c) + p_3 \, L n d
                  + p_4 \, N r + p_5 \, 3 L h d + p_6 \, 3 L,

.. math::
    \text{memory} = q_0 + q_1 k + q_2 \, n f + q_3 \, (L + 1) n d + q_4 \, h d

for products with :math:`\mathbf G`, dense products, passes over activations, the random numbers of
dropout (:math:`r` for each of all :math:`N` nodes, drawn by every process), sent rows, and
messages. The prices :math:`p, q` are fitted to epochs of real training, with control, which
``benchmarks/distributed.py`` measured; ``measured.json`` has them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import nnls

from graphsct.errors import TrainingError
from graphsct.records import Record

__all__ = [
    "MEASURED",
    "Machine",
    "Measurement",
    "Prices",
    "Quote",
    "Share",
    "Workload",
    "fit_prices",
    "measurements",
    "prices",
    "quote",
    "share",
]

#: The models whose epochs were measured.
MEASURED = ("gcn", "gcnii")
_NUMBER = 4  # bytes of a float32
_PASSES = 3


@dataclass(frozen=True)
class Workload(Record):
    """One graph and one model.

    Args:
        nodes: number of nodes
        edges: number of undirected edges
        depth: number of convolutions
        width: channels of each
        features: number of dense features of a node
        classes: number of classes
        model: ``gcn`` or ``gcnii``, with control
        cut: share of the entries whose column is in another process; defaults to that of a random
            partition, which a good partition is far below
    """

    nodes: float
    edges: float
    depth: int
    width: int
    features: int = 128
    classes: int = 40
    model: str = "gcn"
    cut: float | None = None

    def __post_init__(self) -> None:
        for name in ("nodes", "edges", "depth", "width", "features", "classes"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 1):
                raise TrainingError(f"{name} is {value:g}, expected at least 1")
        if self.cut is not None and not 0 <= self.cut <= 1:
            raise TrainingError(f"cut is {self.cut:g}, expected a share in 0 .. 1")
        if self.model not in MEASURED:
            raise TrainingError(f"model is {self.model!r}, expected {' or '.join(MEASURED)}")


@dataclass(frozen=True)
class Machine:
    """One of several equal machines, each with one process.

    Args:
        gigabytes: memory
        gigabits: bandwidth per second in each direction; ``None`` for processes on one machine, at
            the measured price
        speed: speed relative to one measured core
    """

    gigabytes: float = 24.0
    gigabits: float | None = 10.0
    speed: float = 1.0

    def __post_init__(self) -> None:
        for name in ("gigabytes", "gigabits", "speed"):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value > 0):
                raise TrainingError(f"{name} is {value:g}, expected more than 0")


class Share(NamedTuple):
    """The share of the graph of one process.

    Args:
        nodes: number of its rows
        entries: number of their non-zeros
        halo: number of rows of other processes that it needs
    """

    nodes: float
    entries: float
    halo: float


def share(job: Workload, processes: int) -> Share:
    """An even share, with a halo as if the ends of cut edges were drawn at random.

    Example:
        >>> job = Workload(nodes=1000, edges=4500, depth=2, width=16)
        >>> share(job, 1)
        Share(nodes=1000.0, entries=10000.0, halo=0.0)
        >>> round(share(job, 2).halo)
        497
    """
    nodes = job.nodes / processes
    entries = (2 * job.edges + job.nodes) / processes
    others = job.nodes - nodes
    cut = 1 - 1 / processes if job.cut is None else job.cut
    halo = -others * math.expm1(-entries * cut / others) if others else 0.0
    return Share(nodes, entries, halo)


class Prices(NamedTuple):
    """The prices of a unit of each kind of work and of memory, for a process with one core."""

    seconds: dict[str, float]
    bytes: dict[str, float]


class Quote(NamedTuple):
    """The cost of an epoch for each process.

    Args:
        share: its share of the graph
        seconds: time by kind of work
        bytes: memory by its contents
        sent: bytes that a layer sends forward, and again backward
        fits: whether the memory is sufficient
    """

    share: Share
    seconds: dict[str, float]
    bytes: dict[str, float]
    sent: float
    fits: bool

    @property
    def limit(self) -> str:
        """The largest part of the memory if that is too small, else of the time."""
        costs = self.seconds if self.fits else self.bytes
        return max(costs, key=lambda name: costs[name])


def work(job: Workload, own: Share, processes: int) -> dict[str, float]:
    """Units of each kind of work in an epoch, as in the formula above."""
    n, d, depth = own.nodes, job.width, job.depth
    dense = 3 * job.features * d + 4 * depth * d**2 + 4 * d * job.classes
    return {
        "sparse products": _PASSES * depth * own.entries * d,
        "dense products": n * dense,
        **_by_model("activations", job, depth * n * d),
        "random numbers": job.nodes * (job.features + d * (1 + depth * (job.model == "gcnii"))),
        "network": _PASSES * depth * own.halo * d * _NUMBER,
        "messages": _PASSES * depth * (processes > 1),
    }


def kept(job: Workload, own: Share) -> dict[str, float]:
    """Units of each kind of memory."""
    n, d = own.nodes, job.width
    return {
        "program": 1.0,
        "operator": own.entries,
        "features": n * job.features,
        **_by_model("activations", job, (job.depth + 1) * n * d),
        "halo": own.halo * d,
    }


def _by_model(name: str, job: Workload, units: float) -> dict[str, float]:
    return {f"{name} of {model}": units * (job.model == model) for model in MEASURED}


@dataclass(frozen=True)
class Measurement(Record):
    """The measured cost of an epoch.

    Args:
        job: graph and model
        share: the largest share of a process
        processes: number of processes
        seconds: duration of the epoch
        bytes: memory of a process
        name: name of the measurement
        held_out: whether it was left out of the fit, to check it
        sent_per_layer: bytes that a process sends for a layer
    """

    job: Workload
    share: Share
    processes: int
    seconds: float
    bytes: float
    name: str = ""
    held_out: bool = False
    sent_per_layer: float = 0.0


def fit_prices(measured: Iterable[Measurement]) -> Prices:
    """Prices that are not negative, by least squares of the relative errors."""
    rows = list(measured)
    return Prices(
        _solve([work(r.job, r.share, r.processes) for r in rows], [r.seconds for r in rows]),
        _solve([kept(r.job, r.share) for r in rows], [r.bytes for r in rows]),
    )


def _solve(units: Sequence[Mapping[str, float]], costs: Sequence[float]) -> dict[str, float]:
    names = list(units[0])
    matrix: npt.NDArray[np.float64] = np.array([[row[name] for name in names] for row in units])
    matrix /= np.array(costs)[:, None]
    scale = np.maximum(matrix.max(axis=0), np.finfo(float).tiny)
    found, _ = nnls(matrix / scale, np.ones(len(costs)))
    return dict(zip(names, (found / scale).tolist(), strict=True))


@cache
def measurements() -> list[Measurement]:
    """Epochs measured by ``benchmarks/distributed.py``; the ``held_out`` were not fitted."""
    text = files("graphsct.distributed").joinpath("measured.json").read_text(encoding="utf-8")
    return [Measurement.from_dict(values) for values in json.loads(text)["epochs"]]


@cache
def prices() -> Prices:
    """Prices of the measured machine, for processes with one core."""
    return fit_prices(row for row in measurements() if not row.held_out)


def quote(
    job: Workload,
    processes: int,
    machine: Machine | None = None,
    *,
    own: Share | None = None,
    at: Prices | None = None,
) -> Quote:
    """The cost of an epoch of a job for each of several processes.

    Args:
        job: graph and model
        processes: number of processes, one per machine
        machine: the machine of each
        own: share of the graph of each; defaults to an even one
        at: prices; default to :func:`prices`
    """
    if processes < 1 or processes > job.nodes:
        raise TrainingError(f"machines is {processes}, expected 1 up to the number of nodes")
    machine, own = machine or Machine(), own or share(job, processes)
    time, memory = at or prices()
    units = work(job, own, processes)
    seconds = {name: units[name] * time[name] / machine.speed for name in units}
    if machine.gigabits is not None:
        seconds["network"] = units["network"] / (machine.gigabits * 1e9 / 8)
        seconds["messages"] = units["messages"] * time["messages"]
    needs = {name: count * memory[name] for name, count in kept(job, own).items()}
    return Quote(
        own,
        _one_model(seconds, job),
        _one_model(needs, job),
        sent=own.halo * job.width * _NUMBER,
        fits=sum(needs.values()) <= machine.gigabytes * 1e9,
    )


def _one_model(costs: Mapping[str, float], job: Workload) -> dict[str, float]:
    """The costs of one model, without its name."""
    short = {name: name.removesuffix(f" of {job.model}") for name in costs}
    return {short[name]: cost for name, cost in costs.items() if " of " not in short[name]}
