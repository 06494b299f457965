"""Pages as notebooks: run once, shown with their output on the page, and for download."""

import logging
import os
import re
from pathlib import PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
from jinja2 import DictLoader
from mkdocs.structure.files import File
from nbclient import NotebookClient
from nbconvert import MarkdownExporter
from traitlets.config import Config

from graphsct import datasets
from graphsct.errors import DataError

#: The pages, and the data set without which a page is shown as it is written.
_PAGES = {"tutorial.md": "demo", "howto/diagnose.md": "demo", "howto/reproduce.md": "cora"}
#: What code prints is a block of its own class, which wraps; a table is of another, which scrolls.
_TEMPLATE = """{% extends 'markdown/index.md.j2' %}
{% block stream %}
``` {.text .{{ output.text | kind }}}
{{ output.text | trim('\\n') }}
```
{% endblock stream %}"""
_PYTHON = re.compile(r"^```python\n(.*?)^```\n", flags=re.DOTALL | re.MULTILINE)
_COLUMNS = re.compile(r"\S {2,}\S")
_log = logging.getLogger("mkdocs.hooks.notebook")
_bodies: dict[str, str] = {}


def on_files(files: Any, config: Any, **_: Any) -> Any:
    """Run the code of the pages; add the notebooks and their pictures to the site."""
    for name, data in _PAGES.items():
        page = PurePosixPath(name)
        notebook = to_notebook(files.get_file_from_path(name).content_string)
        if _has(data):
            _run(notebook)
            keys = {"unique_key": page.stem}
            exporter = MarkdownExporter(
                extra_loaders=[DictLoader({"page.md.j2": _TEMPLATE})], template_file="page.md.j2"
            )
            exporter.register_filter("kind", _kind)
            _bodies[name], resources = exporter.from_notebook_node(notebook, keys)
            for picture, content in resources["outputs"].items():
                place = str(page.with_name(picture))
                files.append(File.generated(config, place, content=content))
        else:
            _log.info("%s is shown without output: %s is not on this machine", name, data)
        download = str(page.with_suffix(".ipynb"))
        files.append(File.generated(config, download, content=nbformat.writes(notebook)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """The page with what its code prints and draws."""
    return _bodies.get(page.file.src_uri, markdown)


def to_notebook(markdown: str) -> Any:
    """Blocks of Python as cells of code. All else is text: shell commands are never run."""
    cells = []
    for place, part in enumerate(_PYTHON.split(markdown)):
        make = nbformat.v4.new_code_cell if place % 2 else nbformat.v4.new_markdown_cell
        cells.append(make(part.strip(), id=f"cell-{place}"))
    return nbformat.v4.new_notebook(cells=cells)


def _kind(text: str) -> str:
    """The class of a block; half of the lines of a table, or more, have a gap."""
    lines = text.splitlines()
    gaps = sum(bool(_COLUMNS.search(line)) for line in lines)
    return "output-table" if 2 * gaps >= len(lines) else "output"


def _has(data: str) -> bool:
    try:
        datasets.load(data)
    except DataError:
        return False
    return True


def _run(notebook: Any) -> None:
    """Execute a notebook in a folder of its own."""
    with TemporaryDirectory() as folder:  # for what the page writes
        # By TCP, the default, anyone on the machine might listen, and the kernel says so.
        private = Config({"KernelManager": {"transport": "ipc", "ip": f"{folder}/kernel"}})
        client = NotebookClient(
            notebook,
            kernel_name="python3",
            timeout=600,
            coalesce_streams=True,  # what one cell prints is one block
            config=private,
            resources={"metadata": {"path": folder}},
        )
        client.execute(env={**os.environ, "PYTHONWARNINGS": "ignore"})  # tests see the warnings
