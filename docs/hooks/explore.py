"""The page of ``graphsct explore``, in a frame on its own page of the site."""

from typing import Any

from mkdocs.structure.files import File

from graphsct.paper.explore import SMALL_GRAPHS, page

_WHOLE = "explorer.html"
_FRAME = f"""
## Try it here

[On a page of its own]({_WHOLE}):

<iframe src="{_WHOLE}" title="The explorer" style="width: 100%; height: 85vh; border: 0"></iframe>
"""


def on_files(files: Any, config: Any, **_: Any) -> Any:
    """Add the explorer."""
    files.append(File.generated(config, _WHOLE, content=page(SMALL_GRAPHS)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Show it at the end of its page."""
    return markdown + _FRAME if page.file.src_uri == "explore.md" else markdown
