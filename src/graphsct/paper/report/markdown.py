"""The report as Markdown, for the documentation."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from graphsct.files import replacing, write_text
from graphsct.pages.tables import Table
from graphsct.paper.report.brief import brief
from graphsct.paper.report.drawings import Drawing
from graphsct.paper.report.findings import breakdown
from graphsct.paper.report.goals import goals
from graphsct.paper.report.overview import overview
from graphsct.paper.report.page import TITLE

__all__ = ["write_markdown"]


def write_markdown(
    path: Path, tables: Mapping[str, Table[Any]], drawings: Sequence[Drawing]
) -> list[Path]:
    """Write the summary and all figures, these into ``images`` beside the file.

    The tables are too wide for most pages; ``graphsct reproduce --markdown`` prints each of them.
    """
    images = {d.number: path.parent / "images" / f"figure{d.number}.png" for d in drawings if d.png}
    for drawing in drawings:
        if drawing.png is not None:
            with replacing(images[drawing.number]) as temporary:
                shutil.copyfile(drawing.png, temporary)
    write_text(path, "\n\n".join(_parts(tables, drawings)) + "\n")
    return [path, *images.values()]


def _parts(tables: Mapping[str, Table[Any]], drawings: Sequence[Drawing]) -> Iterator[str]:
    yield f"# {TITLE}"
    yield " ".join(brief(tables))
    for finding in overview(tables, drawings):
        yield f"**{finding.question} {finding.answer}.** {finding.text}"
        if finding.items:
            yield "\n".join(f"- {item}" for item in finding.items)
    yield goals(tables).to_markdown()
    found = breakdown(tables)
    if found.rows:
        yield found.to_markdown()
    for drawing in drawings:
        yield f"## Figure {drawing.number}: {drawing.title}"
        if drawing.png is None:
            yield f"Not drawn: {drawing.why}"
            continue
        yield f"![{drawing.caption}](images/figure{drawing.number}.png)"
        yield drawing.caption
        if drawing.digest is not None:
            yield drawing.digest.to_markdown(level=3)
