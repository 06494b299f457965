"""The folder of one run: a checkpoint during training, then its weights and its result.

``checkpoint.safetensors`` holds all tensors that the rest of the run depends on and, in its header,
the fingerprint of the run, so that the two always belong together. A finished run has
``weights.safetensors``, ``history.jsonl`` and ``run.json`` instead; ``run.json`` is written last.
A file is either complete or does not exist.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Self

import safetensors.torch
from filelock import FileLock, Timeout
from torch import Tensor

from graphsct.errors import TrainingError
from graphsct.files import replacing, write_json, write_jsonl
from graphsct.training.fingerprint import check_same
from graphsct.training.run import Epoch, Run

__all__ = ["RUN_FILES", "WEIGHTS", "Checkpoint", "SingleRunFolder", "saving"]

_CHECKPOINT, WEIGHTS = "checkpoint.safetensors", "weights.safetensors"
_HISTORY, _RUN = "history.jsonl", "run.json"
RUN_FILES = (_RUN, _CHECKPOINT, WEIGHTS, _HISTORY)
_KEY = "graphsct"
_WAY_OUT = "Use another folder, or delete this one"


class Checkpoint(NamedTuple):
    """Tensors by name, and the seconds of training up to the checkpoint."""

    tensors: dict[str, Tensor]
    seconds: float


class SingleRunFolder:
    """The files of one run; as a context, it locks the folder against other processes.

    Args:
        folder: the folder, created if it does not exist
        identity: fingerprint of the run; files of another run are refused
    """

    def __init__(self, folder: Path, identity: Mapping[str, Any]) -> None:
        self.folder = folder
        self.identity = json.loads(json.dumps(identity))  # as it comes back from a file
        self.kept = 0  # the epoch of the checkpoint
        self._lock = FileLock(folder / ".lock", timeout=0)

    @property
    def begun(self) -> bool:
        """Whether there is a checkpoint or a result."""
        return self.folder.is_dir() and any(self.folder.glob("*.safetensors"))

    def __enter__(self) -> Self:
        with saving(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            try:
                self._lock.acquire()
            except Timeout:
                raise TrainingError(
                    f"another process is training in {self.folder}; wait for it, or use another "
                    "folder"
                ) from None
        for path in map(Path, RUN_FILES):
            # Leftovers of `replacing` in a killed process.
            for leftover in self.folder.glob(f".{path.stem}-*{path.suffix}"):
                leftover.unlink()
        return self

    def __exit__(self, *error: object) -> None:
        self._lock.release()

    def save(self, checkpoint: Checkpoint, history: list[Epoch]) -> None:
        """Replace the last checkpoint."""
        header = {"identity": self.identity, "seconds": checkpoint.seconds}
        with saving(self.folder):
            self._write(_CHECKPOINT, checkpoint.tensors, header)
            self.kept = history[-1].epoch
            write_jsonl(self.folder / _HISTORY, [record._asdict() for record in history])

    def load(self) -> Checkpoint | None:
        """The last checkpoint, if there is one."""
        found = self._read(_CHECKPOINT)
        if found is None:
            return None
        self.kept = len(found[0]["history"])
        return Checkpoint(found[0], found[1]["seconds"])

    def finish(self, run: Run, weights: dict[str, Tensor]) -> None:
        """Replace the checkpoint by the result."""
        with saving(self.folder):
            self._write(WEIGHTS, weights, {"identity": self.identity})
            write_jsonl(self.folder / _HISTORY, [record._asdict() for record in run.history])
            write_json(self.folder / _RUN, {**run.to_dict(), "identity": self.identity})
            (self.folder / _CHECKPOINT).unlink(missing_ok=True)

    def finished(self) -> tuple[Run, dict[str, Tensor]] | None:
        """The result and the weights, if the run is over."""
        path = self.folder / _RUN
        if not path.is_file():
            return None
        values = _read_json(path)
        check_same(values.pop("identity"), self.identity, path, _WAY_OUT)
        lines = (self.folder / _HISTORY).read_text(encoding="utf-8").splitlines()
        run = Run.from_dict({**values, "history": [json.loads(line) for line in lines]})
        found = self._read(WEIGHTS)
        if found is None:
            raise TrainingError(f"{path} exists, but {WEIGHTS} is missing. {_WAY_OUT}")
        return run, found[0]

    def _write(self, name: str, tensors: dict[str, Tensor], header: dict[str, Any]) -> None:
        whole = {key: tensor.detach().cpu().contiguous() for key, tensor in tensors.items()}
        content = safetensors.torch.save(whole, {_KEY: json.dumps(header)})
        with replacing(self.folder / name) as temporary:
            temporary.write_bytes(content)

    def _read(self, name: str) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
        path = self.folder / name
        if not path.is_file():
            return None
        try:
            with safetensors.safe_open(path, "pt") as file:
                header = json.loads(file.metadata()[_KEY])
                names = list(file.keys())
                tensors = {key: file.get_tensor(key) for key in names}
        except (safetensors.SafetensorError, TypeError, KeyError, ValueError) as error:
            raise TrainingError(
                f"{path} is damaged or was not written by graphsct. {_WAY_OUT}"
            ) from error
        check_same(header["identity"], self.identity, path, _WAY_OUT)
        return tensors, header


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise TrainingError(f"{path} is not valid JSON: {error}. {_WAY_OUT}") from error


@contextmanager
def saving(folder: Path) -> Iterator[None]:
    """Turn errors of the disk into one that says which files are safe."""
    try:
        yield
    except OSError as error:
        raise TrainingError(
            f"cannot write to {folder}: {error.strerror or error}. Files written earlier are "
            "intact; free some space and continue, or use another folder"
        ) from error
