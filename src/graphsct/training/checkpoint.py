"""The folder of one run: a checkpoint during training, then its weights and its result.

``checkpoint.safetensors`` holds all tensors that the rest of the run depends on and, in its header,
the fingerprint of the run, so that the two always belong together. A finished run has
``weights.safetensors``, ``history.jsonl`` and ``run.json`` instead; ``run.json`` is written last.
A file is either complete or does not exist, and a power cut leaves the last checkpoint or the
result: each is on the disk before what it replaces is deleted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Self

import safetensors.torch
from torch import Tensor

from graphsct.errors import TrainingError
from graphsct.files import parse_json, replacing, sweep, write_json, write_jsonl
from graphsct.python_file import explain
from graphsct.training.disk import held, saving
from graphsct.training.fingerprint import check_same
from graphsct.training.run import Epoch, Run

__all__ = [
    "CHECKPOINT",
    "LAYERS",
    "RUN_FILES",
    "WEIGHTS",
    "Checkpoint",
    "SingleRunFolder",
    "naming",
]

CHECKPOINT, WEIGHTS = "checkpoint.safetensors", "weights.safetensors"
_HISTORY, _RUN = "history.jsonl", "run.json"
#: File of the diagnoses during the run.
LAYERS = "layers.jsonl"
RUN_FILES = (_RUN, CHECKPOINT, WEIGHTS, _HISTORY, LAYERS)
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
        self._held = ExitStack()

    @property
    def begun(self) -> bool:
        """Whether there is a checkpoint or a result."""
        return self.folder.is_dir() and any(self.folder.glob("*.safetensors"))

    def __enter__(self) -> Self:
        self._held.enter_context(held(self.folder))
        sweep(self.folder, RUN_FILES)
        return self

    def __exit__(self, *error: object) -> None:
        self._held.close()

    def save(self, checkpoint: Checkpoint, history: list[Epoch]) -> None:
        """Replace the last checkpoint."""
        header = {"identity": self.identity, "seconds": checkpoint.seconds}
        with saving(self.folder):
            self._write(CHECKPOINT, checkpoint.tensors, header)
            self.kept = history[-1].epoch
            # The checkpoint has the history too, and to flush both would slow small graphs down.
            rows = [record._asdict() for record in history]
            write_jsonl(self.folder / _HISTORY, rows, flush=False)

    def load(self) -> Checkpoint | None:
        """The last checkpoint, if there is one."""
        found = self._read(CHECKPOINT)
        if found is None:
            return None
        with naming(self.folder / CHECKPOINT):
            self.kept = len(found[0]["history"])
            return Checkpoint(found[0], float(found[1]["seconds"]))

    def finish(self, run: Run, weights: dict[str, Tensor]) -> None:
        """Replace the checkpoint by the result."""
        with saving(self.folder):
            self._write(WEIGHTS, weights, {"identity": self.identity})
            write_jsonl(self.folder / _HISTORY, [record._asdict() for record in run.history])
            write_json(self.folder / _RUN, {**run.to_dict(), "identity": self.identity})
            (self.folder / CHECKPOINT).unlink(missing_ok=True)

    def finished(self) -> tuple[Run, dict[str, Tensor]] | None:
        """The result and the weights, if the run is over."""
        path = self.folder / _RUN
        if not path.is_file():
            return None
        with naming(path):
            values = dict(parse_json(path.read_text(encoding="utf-8")))
            identity = dict(values.pop("identity"))
            Run.from_dict(values)
        check_same(identity, self.identity, path, _WAY_OUT)
        with naming(self.folder / _HISTORY) as history:
            lines = history.read_text(encoding="utf-8").splitlines()
            run = Run.from_dict({**values, "history": [parse_json(line) for line in lines]})
            if len(lines) != run.epochs:
                raise TrainingError(f"it has {len(lines)} lines for a run of {run.epochs} epochs")
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
        with naming(path), safetensors.safe_open(path, "pt") as file:
            header = dict(parse_json(file.metadata()[_KEY]))
            identity = dict(header["identity"])
            names = list(file.keys())
            tensors = {key: file.get_tensor(key) for key in names}
        check_same(identity, self.identity, path, _WAY_OUT)
        return tensors, header


@contextmanager
def naming(path: Path) -> Iterator[Path]:
    """Turn whatever the content of a damaged file raises into an error that names the file."""
    try:
        yield path
    except Exception as error:
        raise TrainingError(
            f"{path} is damaged or was not written by graphsct: {explain(error)}. {_WAY_OUT}"
        ) from error
