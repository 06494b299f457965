"""The run folder of several seeds: what is in it, and how runs are started, resumed and replaced.

.. code-block:: text

    config.json, results.json, page.html
    seed-0/                                 the files of one run
    without-control/seed-0/                 those of the same run without control
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from graphsct.errors import TrainingError
from graphsct.files import leftovers, parse_json, sweep, write_json
from graphsct.training.checkpoint import RUN_FILES
from graphsct.training.disk import LOCK, held, saving
from graphsct.training.fingerprint import check_same

__all__ = ["CONFIG", "PAGE", "RESULTS", "WITHOUT", "open_folder", "seed_folder"]

CONFIG, RESULTS, PAGE = "config.json", "results.json", "page.html"
#: Folder of the runs without control, inside that of the runs with control.
WITHOUT = "without-control"

_FILES = (RESULTS, PAGE, CONFIG)
# The settings that the result depends on; the number of seeds and the versions may change.
_SAME = ("data", "model", "train")
_SEED = re.compile(r"seed--?\d+")


def seed_folder(folder: Path, seed: int) -> Path:
    """Folder of the run of a seed."""
    return folder / f"seed-{seed}"


@contextmanager
def open_folder(
    folder: Path, settings: Mapping[str, Any], *, resume: bool = False, force: bool = False
) -> Iterator[None]:
    """A run folder with its settings, for this process alone; an existing one is refused unless
    it is to be continued or deleted.

    Args:
        folder: path of the folder
        settings: plain values; to continue, ``data``, ``model`` and ``train`` must equal those in
            the folder
        resume: continue the runs in the folder
        force: delete the runs in the folder; other files stay
    """
    path = folder / CONFIG
    _check_ours(folder)
    with held(folder):
        if path.is_file():
            there = _read(path)
            if force:
                _clear(folder)
            else:
                _check_continued(folder, there, settings, resume)
        with saving(folder):
            sweep(folder, _FILES)
            write_json(path, settings)
        yield


def _check_ours(folder: Path) -> None:
    """Refuse a folder with files that are not ours, before anything is written there."""
    if folder.is_dir() and not (folder / CONFIG).is_file() and _others(folder):
        raise TrainingError(
            f"{folder} is not empty and not a run folder (it has no {CONFIG}); use another "
            "folder=..."
        )


def _others(folder: Path) -> set[Path]:
    """All files but those of a process that was killed while it wrote the first settings."""
    return {*folder.iterdir()} - {folder / LOCK, *leftovers(folder, [CONFIG])}


def _check_continued(
    folder: Path, there: Mapping[str, Any], settings: Mapping[str, Any], resume: bool
) -> None:
    """Refuse runs that nobody asked to continue, and those with other settings."""
    if not resume:
        raise TrainingError(
            f"{folder} holds a run already; use resume=True to continue it, force=True to "
            "delete it and start again, or another folder=..."
        )
    check_same(
        {key: there[key] for key in _SAME},
        {key: settings[key] for key in _SAME},
        folder / CONFIG,
        "Continue with the same settings, use another folder=..., or force=True to start again",
    )


def _read(path: Path) -> dict[str, Any]:
    try:
        found = parse_json(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise TrainingError(f"{path} is not valid JSON: {error}; use another folder=...") from error
    if not (isinstance(found, dict) and set(_SAME) <= set(found)):
        raise TrainingError(f"{path} was not written by graphsct; use another folder=...")
    return found


def _clear(folder: Path) -> None:
    """Delete the runs of this folder, but not those in folders inside it, and no other files."""
    with saving(folder), ExitStack() as stack:
        places = _seed_folders(folder)
        for place in places:  # nothing is deleted while another process trains one of them
            stack.enter_context(held(place))
        for place in places:
            for path in place.glob("events.out.tfevents.*"):
                path.unlink()
            _delete(place, RUN_FILES)
        _delete(folder, _FILES)


def _delete(folder: Path, names: Iterable[str]) -> None:
    sweep(folder, names)
    for name in names:
        (folder / name).unlink(missing_ok=True)


def _seed_folders(folder: Path) -> list[Path]:
    """The folders of seeds, none of which may be a link to files elsewhere."""
    places = [folder]
    if not (folder / WITHOUT / CONFIG).exists():  # else it is a run folder of its own
        places.append(folder / WITHOUT)
    found = [
        path
        for place in places
        if place.is_dir()
        for path in place.iterdir()
        if _SEED.fullmatch(path.name) and path.is_dir()
    ]
    for path in (*places[1:], *found):
        if path.is_symlink():
            raise TrainingError(
                f"{path} is a link to {path.readlink()}, whose files force=True does not delete; "
                "remove the link, or use another folder=..."
            )
    return found
