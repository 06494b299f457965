"""Data sets: memory of Physics, reading ten million edges against pyarrow, making a graph.

``python benchmarks/datasets.py [--json]``. Physics needs ``GRAPHSCT_DATA`` or a network.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

EDGES = 10_000_000
NODES = 1_000_000
NAMES = ("source", "target")

# Each runs in a process of its own, whose whole peak is measured, imports included.
PROGRAMS = {
    "physics": "from graphsct.datasets import load; run = lambda: load('physics')",
    "read_edges": "from graphsct.datasets.readers.edges import read_edges; "
    "run = lambda: read_edges({csv!r})",
    "from_files": "from graphsct.datasets import from_files; "
    "run = lambda: from_files({csv!r}, symmetrize=True)",
    "csbm": "from graphsct.datasets import csbm; "
    "run = lambda: csbm({nodes}, {edges}, num_classes=10, num_components=100)",
}
# VmHWM and not ru_maxrss: the latter survives exec, so a child would report its parent's peak.
MEASURE = """
import time
import torch_geometric.data, torch_geometric.datasets, pyarrow.csv
{program}
def peak():
    for line in open("/proc/self/status"):
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
before, start = peak(), time.perf_counter()
result = run()
print(before, peak(), time.perf_counter() - start)
"""


def alone(name: str, **values: Any) -> dict[str, float]:
    """Peak memory in MB and seconds of one program in a fresh process."""
    program = MEASURE.format(program=PROGRAMS[name].format(**values))
    command = [sys.executable, "-W", "ignore", "-c", program]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    imports, peak, seconds = map(float, out.split())
    return dict(peak_mb=peak, imports_mb=imports, above_imports_mb=peak - imports, seconds=seconds)


def physics() -> dict[str, Any]:
    """From the raw file into an empty cache, then from the cache."""
    with tempfile.TemporaryDirectory() as cache:
        os.environ["GRAPHSCT_CACHE"] = cache
        return dict(raw=alone("physics"), cached=alone("physics"), limit_mb=700)


def edges_from_csv(rounds: int) -> dict[str, Any]:
    """Our reader against pyarrow's on the same file, in turns."""
    import pyarrow as pa
    import pyarrow.csv

    from graphsct.datasets import from_files
    from graphsct.datasets.readers.edges import read_edges

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "edges.csv"
        ends = np.random.default_rng(0).integers(0, NODES, (2, EDGES))
        pyarrow.csv.write_csv(pa.table(dict(zip(NAMES, ends, strict=True))), path)
        del ends
        types = pyarrow.csv.ConvertOptions(column_types={c: pa.int64() for c in NAMES})
        runs: dict[str, Callable[[], Any]] = {
            "pyarrow": lambda: pyarrow.csv.read_csv(path),
            "pyarrow_with_types": lambda: pyarrow.csv.read_csv(path, convert_options=types),
            "read_edges": lambda: read_edges(path),
            "from_files": lambda: from_files(path, symmetrize=True),
        }
        took: dict[str, list[float]] = {name: [] for name in runs}
        for turn in range(rounds + 1):
            # Each goes first and last in turn: the order changes what memory is warm.
            for name in np.roll(list(runs), turn):
                took[name].append(seconds(runs[name]))
        figures = {name: median(times[1:]) for name, times in took.items()}  # without the first
        return dict(
            seconds=figures,
            all_seconds=took,
            ratio=figures["read_edges"] / figures["pyarrow"],
            ratio_with_types=figures["read_edges"] / figures["pyarrow_with_types"],
            limit=2.0,
            from_files_ratio=figures["from_files"] / figures["pyarrow"],
            from_files_limit=4.0,
            edges_mb=16 * EDGES / 2**20,
            read_edges=alone("read_edges", csv=str(path)),
            whole_from_files=alone("from_files", csv=str(path)),
        )


def seconds(function: Callable[[], Any]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--rounds", type=int, default=9)
    arguments = parser.parse_args()
    report = dict(
        physics=physics(),
        csv=edges_from_csv(arguments.rounds),
        csbm=alone("csbm", nodes=NODES, edges=EDGES),
        threads=os.cpu_count(),
    )
    if arguments.json:
        print(json.dumps(report))
        return
    for name, figures in report.items():
        print(name, json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
