"""How fast are we? The measurements of docs/speed.md, and the page's tables and picture.

    python benchmarks/speed.py run [PART ...] [--threads 2] [--seconds 30]
    python benchmarks/speed.py list
    python benchmarks/speed.py report

``run`` measures the parts that docs/speed.json does not have yet, or those that are named, and
writes after each of them. A part is a case of ``graphsct bench``, the same under ``torch.compile``,
ten seeds of a case at once, a wide network with its memory, ``growth`` or ``files``. ``list``
prints the parts that are missing. ``report`` writes the picture and the tables into docs/speed.md,
and the two ratios into the README.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import textwrap
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import many
import scale
import torch
from page import fill

import datasets
from graphsct.plotting.style import BLACK, BLUE, GREY, ORANGE, styled
from graphsct.training.bench import CASES, GRAPHS, LARGE_PEERS, Case, measure
from graphsct.training.peers import COMPILED

ROOT = Path(__file__).parents[1]
PAGE, RESULT = ROOT / "docs" / "speed.md", ROOT / "docs" / "speed.json"
PICTURE = ROOT / "docs" / "images" / "speed.png"
NAMES = {"arxiv_graph": "Ogbn-arxiv's graph", "pubmed": "PubMed"}
#: Cases that torch.compile compiles within some minutes.
SHALLOW = [case for case in CASES if case.model == "gcn" and case.layers <= 8]
#: Too long for ``graphsct bench``.
WIDE = [Case("arxiv_graph", "gcn", layers, 256) for layers in (4, 16)]
#: Numbers of nodes, from features that fit into a cache of 32 MB to those that do not.
SIZES = (50_000, 100_000, 200_000, 400_000)


def epochs(case: Case, seconds: float) -> Any:
    if case.data not in GRAPHS:
        return measure(case, seconds=seconds)
    rows: list[dict[str, Any]] = []
    for control in (False, True):  # apart, as memory is short
        rows += measure(case, seconds=seconds, controls=[control])
        rows[-1]["overhead"] = rows[1]["ours_ms"] / rows[0]["ours_ms"] if control else None
    return rows


def compiled(case: Case, seconds: float) -> Any:
    return measure(case, seconds=seconds, peers=[COMPILED], controls=[False])


def wide(case: Case, seconds: float) -> Any:
    """Times of a few epochs, and the memory of a process that trains one of them alone."""
    (row,) = measure(case, seconds=seconds, repeats=2, controls=[False])
    memory = {whose: scale.peak_gigabytes(case, whose) for whose in ("ours", *LARGE_PEERS)}
    return row | {f"{whose}_gb": found for whose, found in memory.items()}


def growth(seconds: float) -> Any:
    return {"seconds": scale.growth(SIZES, seconds)}


def files(seconds: float) -> Any:
    """Reading and building a graph of ten million edges, five times, however long that takes."""
    del seconds
    read = datasets.edges_from_csv(rounds=5)
    made = datasets.alone("csbm", nodes=datasets.NODES, edges=datasets.EDGES)
    return {"seconds": {**read["seconds"], "csbm": made["seconds"]}}


def seeds(control: bool, case: Case, seconds: float) -> Any:
    """Three runs of the peer and, about as long, three times ten of ours."""
    return many.against_pyg(case, control, seconds=seconds / 6)


def parts() -> dict[str, Callable[[float], Any]]:
    """What can be measured in so many seconds, by name."""
    found: dict[str, Callable[[float], Any]] = {str(case): partial(epochs, case) for case in CASES}
    for case in many.SMALL:
        for control in (False, True):
            name = f"seeds-{case}{'-control' if control else ''}"
            found[name] = partial(seeds, control, case)
    found |= {f"wide-{case}": partial(wide, case) for case in WIDE}
    found |= {"growth": growth, "files": files}
    return found | {f"compiled-{case}": partial(compiled, case) for case in SHALLOW}


def read() -> dict[str, Any]:
    """The results so far."""
    return json.loads(RESULT.read_text(encoding="utf-8")) if RESULT.exists() else {}


def missing() -> list[str]:
    return [name for name in parts() if name not in read()]


def run(names: Sequence[str], threads: int, seconds: float) -> None:
    """Measure parts, and write the results after each."""
    torch.set_num_threads(threads)
    for name in names or missing():
        found = parts()[name](seconds)
        setup = {"threads": threads, "torch": torch.__version__, "processor": processor()}
        kept = read() | {name: {"setup": setup, "found": found}}
        ordered = {part: kept[part] for part in parts() if part in kept}
        RESULT.write_text(json.dumps(ordered, indent=1) + "\n", encoding="utf-8")
        print(name, json.dumps(found), flush=True)


def processor() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor()


def label(case: str) -> str:
    data, model, layers, _, *control = case.split("-")
    name, depth = NAMES.get(data, data.title()), layers.removeprefix("L")
    return f"{name}, {depth} layers, {model.upper()}{', with control' if control else ''}"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table, its first column to the left."""
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def epoch_table(rows: Sequence[dict[str, Any]], fast: dict[str, float]) -> str:
    """Our time, and those of the others as multiples of it."""
    heads = ["", "control", "ours, ms", "PyG", "compiled", "expert", "autograd", "limit"]
    lines = []
    for row in rows:
        ours, compiled = row["ours_ms"], None if row["control"] else fast.get(row["case"])
        times = [row["speedup"], compiled, row["over_expert"]]
        times += [row["autograd_ms"] / ours, row["limit_ms"] / ours]
        shown = [f"{ours:,.0f}" if ours >= 100 else f"{ours:.3g}"]
        shown += ["-" if time is None else f"{time:.3g}" for time in times]
        lines.append([label(row["case"]), row["control"] or "none", *shown])
    return table(heads, lines)


def seeds_table(rows: Sequence[dict[str, Any]]) -> str:
    heads = ["", "control", "epochs", "ten seeds, s", "one run of PyG, s", "ratio"]
    lines = [
        [label(row["case"]), row["control"] or "none", str(row["epochs"])]
        + [f"{row[key]:.2f}" for key in ("ours_s", "pyg_s", "ratio")]
        for row in rows
    ]
    return table(heads, lines)


def files_table(seconds: dict[str, float]) -> str:
    jobs = {
        "pyarrow": "`pyarrow.csv.read_csv`, which parses the file",
        "read_edges": "our reader: ids as integers, checked",
        "from_files": "`from_files(..., symmetrize=True)`: the whole `Data` with its `Graph`",
        "csbm": "`csbm` with as many nodes and edges, in a fresh process",
    }
    lines = [
        [what, f"{seconds[job]:.2f}", f"{seconds[job] / seconds['pyarrow']:.1f}"]
        for job, what in jobs.items()
    ]
    return table(["", "seconds", "over pyarrow"], lines)


def growth_table(seconds: dict[str, float]) -> str:
    """The time of an epoch by the number of nodes, and what each doubling costs."""
    times = list(seconds.values())
    ratios = ["", *(f"{after / before:.2f}" for before, after in pairwise(times))]
    lines = [
        [f"{int(nodes):,}", f"{1e3 * time:,.0f}", ratio]
        for (nodes, time), ratio in zip(seconds.items(), ratios, strict=True)
    ]
    return table(["nodes", "ms", "over half as many"], lines)


def wide_table(rows: Sequence[dict[str, Any]]) -> str:
    """Time and memory, ours and those of the peers."""
    heads = ["", "channels", "ours", "PyG", "expert", "ours, GB", "PyG, GB", "expert, GB"]
    lines = []
    for row in rows:
        times = [f"{row[key] / 1e3:.1f} s" for key in ("ours_ms", "pyg_sparse_ms", "expert_ms")]
        memory = [f"{row[key]:.1f}" for key in ("ours_gb", "pyg_sparse_gb", "expert_gb")]
        lines.append([label(row["case"]), row["case"].rpartition("d")[2], *times, *memory])
    return table(heads, lines)


def uncompiled(found: Iterable[str]) -> str:
    """Which cases have no time under ``torch.compile``."""
    left = [label(str(case)) for case in SHALLOW if f"compiled-{case}" not in found]
    return textwrap.fill(f"Not compiled yet: {'; '.join(left)}.", width=116) if left else ""


def summary(rows: Sequence[dict[str, Any]]) -> str:
    """Both ratios, in a sentence."""
    means, smallest = [], []
    for key, peer in (
        ("speedup", "stock PyTorch Geometric in its fastest form"),
        ("over_expert", "what an expert writes in plain PyTorch"),
    ):
        found = [row[key] for row in rows]
        means.append(f"**{statistics.geometric_mean(found):.1f} times** as fast as {peer}")
        smallest.append(f"{min(found):.3g}")
    cases = len({row["case"] for row in rows})
    return textwrap.fill(
        f"An epoch of our GCN and GCNII is {' and '.join(means)}. These are geometric means over "
        f"{cases} cases, each without and with control, on a CPU with two threads; the smallest "
        f"ratios are {' and '.join(smallest)}.",
        width=116,
    )


def draw(rows: Sequence[dict[str, Any]]) -> None:
    """Both ratios of every case."""
    with styled():
        from matplotlib import pyplot as plt

        names = list(dict.fromkeys(row["case"] for row in rows))
        figure, axes = plt.subplots(figsize=(10, 1.6 + 0.36 * len(names)), layout="constrained")
        for key, color, peer in (
            ("speedup", ORANGE, "stock PyTorch Geometric"),
            ("over_expert", BLUE, "an expert's plain PyTorch"),
        ):
            for hollow in (False, True):
                own = [row for row in rows if (row["control"] is not None) == hollow]
                axes.scatter(
                    [row[key] for row in own],
                    [-names.index(row["case"]) for row in own],
                    s=70,
                    facecolors="white" if hollow else color,
                    edgecolors=color,
                    linewidths=1.8,
                    zorder=3,
                    label=f"over {peer}{', with control' if hollow else ''}",
                )
        axes.axvline(1, color=BLACK, linewidth=1)
        axes.set_xscale("log")
        ticks = [1, 2, 5, 10, 20, 50, 100, 200, 500]
        axes.set_xticks(ticks, [f"{tick}×" for tick in ticks])
        axes.minorticks_off()
        axes.set_yticks([-i for i in range(len(names))], [label(name) for name in names])
        axes.tick_params(axis="y", length=0)
        axes.grid(color=GREY, alpha=0.25, linewidth=0.8)
        axes.set_axisbelow(True)
        axes.set_xlabel("Our epoch is this many times as fast")
        axes.legend(loc="lower center", bbox_to_anchor=(0.35, 1.0), ncols=2, fontsize=11)
        figure.savefig(PICTURE, dpi=150, bbox_inches="tight")


def report() -> None:
    """Write the picture, the tables of the page and the sentence of the README."""
    found = {name: part["found"] for name, part in read().items()}
    rows = [row for case in CASES for row in found.get(str(case), [])]
    fast = {
        name.removeprefix("compiled-"): found[name][0]["speedup"]
        for name in found
        if name.startswith("compiled-")
    }
    draw(rows)
    sentence = summary(rows)
    left = [label(name) for name in map(str, CASES) if name not in found]
    left += [f"ten seeds of {label(n.removeprefix('seeds-'))}" for n in missing() if "seeds" in n]
    later = "Not measured yet."
    wide_rows = [found[name] for name in found if name.startswith("wide-")]
    texts = {
        "left": textwrap.fill(f"Not measured yet: {'; '.join(left)}.", width=116) if left else "",
        "summary": sentence,
        "epochs": epoch_table(rows, fast),
        "uncompiled": uncompiled(found),
        "seeds": seeds_table([found[name] for name in found if name.startswith("seeds-")]),
        "wide": wide_table(wide_rows) if wide_rows else later,
        "growth": growth_table(found["growth"]["seconds"]) if "growth" in found else later,
        "files": files_table(found["files"]["seconds"]) if "files" in found else later,
    }
    fill(PAGE, texts)
    fill(ROOT / "README.md", {"summary": sentence})


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    measuring = commands.add_parser("run")
    measuring.add_argument("parts", nargs="*", metavar="PART", help="the missing ones by default")
    measuring.add_argument("--threads", type=int, default=2)
    measuring.add_argument("--seconds", type=float, default=30.0, help="for each part, about")
    commands.add_parser("list")
    commands.add_parser("report")
    options = parser.parse_args()
    if options.command == "run":
        unknown = set(options.parts) - set(parts())
        if unknown:
            parser.error(f"no part is called {', '.join(unknown)}; there are {', '.join(parts())}")
        run(options.parts, options.threads, options.seconds)
    elif options.command == "list":
        print("\n".join(missing()))
    else:
        report()


if __name__ == "__main__":
    main()
