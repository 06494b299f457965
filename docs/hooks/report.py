"""A placeholder for a missing report, so that links to it stay valid."""

from typing import Any

from mkdocs.structure.files import File

_MISSING = """# Report

The report is not part of this build. This command writes it from the stored runs:

```sh
graphsct report --markdown docs/report.md
```

It becomes this page when the site is built again. [The rules](reproduce.md) were fixed
before the runs.
"""


def on_files(files: Any, config: Any, **_: Any) -> Any:
    """Add the page if it is missing."""
    if files.get_file_from_path("report.md") is None:
        files.append(File.generated(config, "report.md", content=_MISSING))
    return files
