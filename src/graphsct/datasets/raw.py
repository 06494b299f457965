"""Raw files: found or downloaded, and checked by their checksums before they are read."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphsct.datasets.catalog import CATALOG, Entry
from graphsct.datasets.paths import cache_folder, lock, temporary_folder
from graphsct.errors import DataError

__all__ = ["RawFile", "check", "download", "locate", "look"]

_OGB_URL = "https://snap.stanford.edu/ogb/data/nodeproppred"

# Classes whose files are fetched by their names, because their address has more than they know.
_PLAIN = ("HeterophilousGraphDataset", "WikiCS")


@dataclass(frozen=True)
class RawFile:
    """One raw file: its name in the catalogue, its path, and its state.

    ``state`` is ``ok``, ``missing``, ``wrong`` (another checksum) or ``unchecked`` (there is no
    published checksum to compare with).
    """

    name: str
    path: Path
    state: str
    sha256: str | None = None


def look(entry: Entry, root: Path) -> list[RawFile]:
    """The state of every raw file of a data set below ``root``."""
    return [_look_at(entry, file, root) for file in entry.raw]


def _look_at(entry: Entry, file: str, root: Path) -> RawFile:
    places = [root / entry.folder / file]
    if file in entry.elsewhere:
        places.append(root / entry.elsewhere[file])
    right = entry.sha256(file)
    seen = [RawFile(file, path, *_state(path, right)) for path in places]
    return min(seen, key=lambda found: ("ok", "unchecked", "wrong", "missing").index(found.state))


def _state(path: Path, right: str | None) -> tuple[str, str | None]:
    if not path.is_file():
        return "missing", None
    with path.open("rb") as handle:
        digest = hashlib.file_digest(handle, "sha256").hexdigest()
    if right is None:
        return "unchecked", digest
    return ("ok" if digest == right else "wrong"), digest


def locate(entry: Entry, root: Path) -> list[RawFile] | None:
    """The checked raw files below ``root`` or in the cache; ``None`` if they are in neither.

    Raises :class:`DataError` if a file exists but is not the right one.
    """
    for place in dict.fromkeys((root, cache_folder())):
        found = look(entry, place)
        states = {file.state for file in found}
        if "wrong" in states or "missing" not in states:
            return check(entry, found)
    return None


def check(entry: Entry, found: list[RawFile]) -> list[RawFile]:
    """Return the files if all exist and are right, else raise :class:`DataError`."""
    for file in found:
        if file.state in ("ok", "unchecked"):
            continue
        if file.state == "missing":
            raise DataError(f"{file.path} is missing, one of {entry.title}'s raw files")
        if entry.name == "cornell" and file.sha256 == CATALOG["texas"].sha256(file.name):
            raise DataError(
                f"{file.path} is Texas's file under Cornell's name, byte for byte: its features "
                "and labels are Texas's. That is what the public source serves today. Replace it "
                f"by the earlier file (SHA256 {entry.sha256(file.name)}), or, to compare with "
                "papers that used the wrong one, load 'cornell_as_served'"
            )
        raise DataError(
            f"{file.path} is not {entry.title}'s file: its SHA256 is {file.sha256}, expected "
            f"{entry.sha256(file.name)}. Delete it and load again, or put the right one there"
        )
    return found


def download(entry: Entry, root: Path) -> list[RawFile]:
    """Download the raw files, check them, and only then move them to their place.

    They go below ``root`` if it is writable, else into the cache.
    """
    base = root if _writable(root) else cache_folder()
    with lock(base, entry.name):
        found = locate(entry, base)  # another process may have been faster
        if found is not None:
            return found
        with temporary_folder(base, entry.name) as new:
            try:
                _fetch(entry, new)
            except Exception as error:  # whatever urllib, ssl, fsspec or zipfile may raise
                raise DataError(_how_to_get(entry, root, error)) from error
            check(entry, look(entry, new))
            for file in entry.raw:
                goal = base / entry.elsewhere.get(file, f"{entry.folder}/{file}")
                goal.parent.mkdir(parents=True, exist_ok=True)
                (new / entry.folder / file).replace(goal)
        return check(entry, look(entry, base))


def _writable(root: Path) -> bool:
    existing = next(path for path in (root, *root.parents) if path.exists())
    return existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)


def _fetch(entry: Entry, folder: Path) -> None:
    if entry.instead is not None:
        raise DataError(f"nobody serves these files; load {entry.instead!r} instead")
    if entry.source == "OGB":
        from torch_geometric.data import download_url, extract_zip

        archive = download_url(f"{_OGB_URL}/{entry.key}.zip", str(folder))
        extract_zip(archive, str(folder))
        (folder / entry.key).rename(folder / entry.folder)
        return
    import torch_geometric.datasets

    base: Any = getattr(torch_geometric.datasets, entry.source)
    if entry.source in _PLAIN:
        from torch_geometric.data import download_url

        for file in entry.raw:
            download_url(f"{base.url}/{file}", str(folder / entry.folder))
        return
    # Only its download: parsing may unpickle, and nothing is known about these files yet.
    nothing = {"process": lambda _: None, "load": lambda *_: None}
    type(entry.source, (base,), nothing)(str(folder / entry.source), entry.key)


def _how_to_get(entry: Entry, root: Path, error: Exception) -> str:
    return (
        f"{entry.title} is not below {root} and could not be downloaded ({error}). Offline, put "
        f"these files into {root / entry.folder}: {', '.join(entry.raw)}; or point GRAPHSCT_DATA "
        f"at a folder that has them in {entry.folder}"
    )
