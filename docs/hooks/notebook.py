"""The tutorial as a notebook: run once, shown with its output on the page, and for download."""

import os
import re
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
from mkdocs.structure.files import File
from nbclient import NotebookClient
from nbconvert import MarkdownExporter
from traitlets.config import Config

_PAGE, _NOTEBOOK = "tutorial.md", "tutorial.ipynb"
_PYTHON = re.compile(r"^```python\n(.*?)^```\n", flags=re.DOTALL | re.MULTILINE)
_bodies: dict[str, str] = {}


def on_files(files: Any, config: Any, **_: Any) -> Any:
    """Run the code of the page; add the notebook and its pictures to the site."""
    notebook = to_notebook(files.get_file_from_path(_PAGE).content_string)
    with TemporaryDirectory() as folder:  # for what the tutorial writes
        # By TCP, the default, anyone on the machine might listen, and the kernel says so.
        private = Config({"KernelManager": {"transport": "ipc", "ip": f"{folder}/kernel"}})
        NotebookClient(
            notebook,
            kernel_name="python3",
            timeout=600,
            config=private,
            resources={"metadata": {"path": folder}},
        ).execute(
            env={**os.environ, "PYTHONWARNINGS": "ignore"}
        )  # tests see them, readers need not
    files.append(File.generated(config, _NOTEBOOK, content=nbformat.writes(notebook)))
    names = {"unique_key": "tutorial"}
    _bodies[_PAGE], resources = MarkdownExporter().from_notebook_node(notebook, names)
    for name, picture in resources["outputs"].items():
        files.append(File.generated(config, name, content=picture))
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
