"""The folder of the runs of several seeds, which are started, continued or replaced."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from graphsct.errors import TrainingError
from graphsct.files import write_json
from graphsct.training.checkpoint import RUN_FILES, saving
from graphsct.training.fingerprint import check_same

__all__ = ["CONFIG", "LAYERS", "PAGE", "RESULTS", "open_folder"]

CONFIG, RESULTS, PAGE = "config.json", "results.json", "page.html"
#: File of the diagnoses during a run, in its folder.
LAYERS = "layers.jsonl"

# The settings that the result depends on; the number of seeds and the versions may change.
_SAME = ("data", "model", "train")


def open_folder(
    folder: Path, settings: Mapping[str, Any], *, resume: bool = False, force: bool = False
) -> None:
    """Create a run folder and write its settings; an existing one is refused by default.

    Args:
        folder: path of the folder
        settings: plain values; to continue, ``data``, ``model`` and ``train`` must equal those in
            the folder
        resume: continue the runs in the folder
        force: delete the runs in the folder; other files stay
    """
    path = folder / CONFIG
    if path.is_file():
        there = _read(path)
        if force:
            with saving(folder):
                _clear(folder)
        elif resume:
            same = {key: settings[key] for key in _SAME}
            way_out = (
                "Continue with the same settings, use another folder=..., or force=True to start "
                "again"
            )
            check_same({key: there.get(key, {}) for key in _SAME}, same, path, way_out)
        else:
            raise TrainingError(
                f"{folder} holds a run already; use resume=True to continue it, force=True to "
                "delete it and start again, or another folder=..."
            )
    elif folder.is_dir() and any(folder.iterdir()):
        raise TrainingError(
            f"{folder} is not empty and not a run folder (it has no {CONFIG}); use another "
            "folder=..."
        )
    with saving(folder):
        write_json(path, settings)


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise TrainingError(f"{path} is not valid JSON: {error}; use another folder=...") from error
    if not isinstance(found, dict):
        raise TrainingError(f"{path} was not written by graphsct; use another folder=...")
    return found


def _clear(folder: Path) -> None:
    """Delete the files of graphsct, those of single runs first, and then empty folders."""
    for name in (*RUN_FILES, LAYERS):
        for path in folder.glob(f"**/seed-*/{name}"):
            path.unlink()
    for place in sorted(folder.glob("**/seed-*"), reverse=True):
        for path in (*place.glob("events.out.tfevents.*"), *place.glob(".lock")):
            path.unlink()
        if not any(place.iterdir()):
            place.rmdir()
    for path in (*folder.glob(f"**/{RESULTS}"), folder / PAGE, folder / CONFIG):
        path.unlink(missing_ok=True)
