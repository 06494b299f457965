"""Search on pages that are opened from the disk, without a server and without a network."""

from pathlib import Path
from typing import Any


def on_post_build(config: Any, **_: Any) -> None:
    """Put the index where the theme looks for it on a page from the disk, as a script."""
    folder = Path(config.site_dir) / "search"
    index = (folder / "search_index.json").read_text(encoding="utf-8")
    (folder / "search_index.js").write_text(f"var __index = {index}", encoding="utf-8")
