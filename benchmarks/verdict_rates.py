"""The tables of ``benchmarks/verdicts.py``: how often each finding is right."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from page import fill
from verdicts import CAUSES, FAULTS, IGNORES, INSIDE, WHOLE

from graphsct.diagnosis import Diagnosis
from graphsct.diagnosis.rates import ErrorRate, ErrorRates
from graphsct.diagnosis.verdict import KINDS, Thresholds

HERE = Path(__file__).parents[1]
RATES = HERE / "src/graphsct/diagnosis/rates.json"
DOCS = HERE / "docs/diagnosis.md"


def read(path: Path, half: str) -> list[dict[str, Any]]:
    """The models of one half, judged with the limits of this version."""
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    best: dict[str, float] = {}
    for row in rows:
        row["skill"] = (row["test"] - row["guess"]) / (1 - row["guess"])
        name = row["case"]["data"]
        best[name] = max(best.get(name, 0.0), row["skill"])
    chosen = [row for row in rows if row["case"]["half"] == half]
    for row in chosen:
        found = Diagnosis.from_dict(row.pop("diagnosis")).judged(Thresholds())
        row["found"], row["share"] = found, row["skill"] / best[row["case"]["data"]]
        row["kinds"] = {finding.kind for finding in found.findings}
        row["truth"] = truth(row["case"]["fault"], row["share"])
    return chosen


def truth(fault: str, share: float) -> dict[str, bool]:
    """What is known about a model: the fault that was built in, and what that rules out.

    Findings of the whole model are ruled out for models without a fault that reach four fifths of
    the best test skill on their data.

    Args:
        fault: name of the fault
        share: its skill on test nodes as a share of the best on these data
    """
    true, unknown = FAULTS[fault]
    found = {kind: False for kind in INSIDE if kind not in unknown}
    if fault in ("none", "shift", "frozen", "shuffled", "gradient"):
        found |= dict.fromkeys(IGNORES, False)
    if fault in ("none", "shift", "frozen") and share >= 0.8:
        found |= dict.fromkeys((*WHOLE[:3],), False)
    if fault == "expander" or fault in ("none", "shift"):
        found["over-squashed"] = False
    return found | dict.fromkeys(true, True)


def rate(pairs: Iterator[tuple[bool, bool]]) -> ErrorRate:
    """The rate of some pairs of truth and finding."""
    every = list(pairs)
    return ErrorRate(
        found=sum(true and found for true, found in every),
        faulty=sum(true for true, _ in every),
        clear=sum(not true and not found for true, found in every),
        sound=sum(not true for true, _ in every),
    )


def measure(rows: list[dict[str, Any]]) -> ErrorRates:
    """All rates of some models."""
    findings = {
        kind: rate((r["truth"][kind], kind in r["kinds"]) for r in rows if kind in r["truth"])
        for kind in KINDS
    }
    clear = [row for row in rows if not 0.5 <= row["share"] < 0.8]  # neither good nor bad
    works = rate((row["share"] < 0.5, row["found"].works is False) for row in clear)
    causes = [
        row["found"].cause.name == CAUSES[row["case"]["fault"]]
        for row in rows
        if row["found"].cause is not None
    ]
    return ErrorRates(len(rows), findings, works, (sum(causes), len(causes)))


def table(rates: ErrorRates) -> str:
    """The rates as a table in Markdown."""
    lines = [
        "| finding | models with the fault | found | models without it | false alarms |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for kind, own in (*rates.findings.items(), ("does not work, by test score", rates.works)):
        if own.faulty or own.sound:
            lines.append(
                f"| {kind} | {own.faulty or '–'} | {_share(own.found, own.faulty)} | "
                f"{own.sound or '–'} | {_share(own.sound - own.clear, own.sound)} |"
            )
    right, total = rates.causes
    lines.append(f"| right cause, by experiment | {total} | {_share(right, total)} | – | – |")
    return "\n".join(lines)


def _share(part: int, whole: int) -> str:
    return f"{part} ({100 * part / whole:.0f} %)" if whole else "–"


def report(path: Path, half: str) -> None:
    """Print the table of a half; that of the one kept out is also stored."""
    rows = read(path, half)
    rates = measure(rows)
    print(f"{rates.models} models, {half}\n\n{table(rates)}\n")
    for row in rows:
        wrong = [k for k, true in row["truth"].items() if true != (k in row["kinds"])]
        if wrong:
            print(*row["case"].values(), f"{row['share']:.2f}", wrong, sorted(row["kinds"]))
    if half == "kept out":
        RATES.write_text(rates.to_json(indent=1) + "\n", encoding="utf-8")
        if DOCS.exists():
            fill(DOCS, {"rates": table(rates)})
