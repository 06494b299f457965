"""Text that benchmarks write into pages."""

from __future__ import annotations

from pathlib import Path

__all__ = ["fill", "folded"]


def fill(page: Path, texts: dict[str, str]) -> None:
    """Replace what stands between the marks of each name in a Markdown file.

    The marks of ``name`` are ``<!-- name -->`` and ``<!-- end of name -->``.
    """
    content = page.read_text(encoding="utf-8")
    for name, text in texts.items():
        begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        if content.count(begin) != 1 or content.count(end) != 1:
            raise ValueError(f"{page} needs {begin} and {end}, each once")
        before, _, rest = content.partition(begin)
        content = f"{before}{begin}\n\n{text}\n\n{end}{rest.partition(end)[2]}"
    page.write_text(content, encoding="utf-8")


def folded(title: str, table: str) -> str:
    """A long Markdown table, closed until a reader opens it by its title."""
    rows = len(table.splitlines()) - 2  # without heading and rule
    return f"<details markdown>\n<summary>{title} ({rows} rows)</summary>\n\n{table}\n\n</details>"
