"""A page in place of the report where nobody has written it yet, so that links to it hold."""

from typing import Any

from mkdocs.structure.files import File

_MISSING = """# Report

The report is not part of this build. It is written from the runs that are there by

```sh
graphsct report --markdown docs/report.md
```

and becomes this page when the site is built again. [The rules](reproduce.md) say what
was fixed before the runs.
"""


def on_files(files: Any, config: Any, **_: Any) -> Any:
    """Add the page if there is none."""
    if files.get_file_from_path("report.md") is None:
        files.append(File.generated(config, "report.md", content=_MISSING))
    return files
