"""Damaged settings, records, and files of runs and searches."""

import json
import tempfile
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import optuna
import pytest
from board import board_cell
from fuzzing import check_all, in_shares
from mutations import altered, damaged

from graphsct import datasets, fit
from graphsct.cli.inputs import read_options, read_split
from graphsct.distributed import Layout, write_partition
from graphsct.nn import GCN, MODELS
from graphsct.remedies.board_cell import BoardCell
from graphsct.search.journal import Journal
from graphsct.search.task import Task
from graphsct.training import ModelConfig, Run, TrainConfig

CONFIG = TrainConfig(epochs=2, checkpoint_every=1)


@cache
def right():
    """Right files, by the folder that they are in, and right records."""
    found = SimpleNamespace(data=datasets.demo())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run = fit(GCN(16, 4, 3, 2), found.data, CONFIG, folder=folder / "over")
        with pytest.raises(ZeroDivisionError):  # in the second epoch, after a checkpoint
            fit(
                GCN(16, 4, 3, 2),
                found.data,
                CONFIG,
                folder=folder / "begun",
                callbacks=[lambda record: 1 / (2 - record.epoch)],
            )
        write_partition(found.data, folder / "parts", 1)
        with Journal(folder / "search") as journal:
            optuna.create_study(storage=journal.open()).set_user_attr("identity", {"a": 1})
        found.files = {
            place: {path.name: path.read_bytes() for path in (folder / place).glob("[!.]*.*")}
            for place in ("over", "begun", "parts", "search")
        }
    found.run, found.cell = run.to_dict(), board_cell("dropedge", [0.5, 0.6]).to_dict()
    return found


def settings(draw, folder):
    """Settings of training, of a model or of a search, as values and as JSON."""
    kind, values = draw.choice(
        [
            (TrainConfig, TrainConfig().to_dict()),
            (ModelConfig, ModelConfig(model=draw.choice([*MODELS])).to_dict()),
            (Task, Task("demo", "gcn", None, 2).to_dict()),
        ]
    )
    if draw.random() < 0.3:
        return kind.from_json(damaged(draw, json.dumps(values).encode()).decode(errors="replace"))
    return kind.from_dict(altered(draw, values))


def records(draw, folder):
    """The record of a run, and the cell of a leaderboard."""
    kind, values = draw.choice([(Run, right().run), (BoardCell, right().cell)])
    if draw.random() < 0.3:
        return kind.from_json(damaged(draw, json.dumps(values).encode()).decode(errors="replace"))
    return kind.from_dict(altered(draw, values))


def words(draw, folder):
    """Values of options of the command."""
    line = damaged(draw, draw.choice([b"0.6,0.2", b"20,30", b"residual=true", b"a=[1, 2]"]))
    line = line.decode(errors="replace")
    return read_split(line, 0) if draw.random() < 0.5 else read_options([line])


def partition(draw, folder):
    """The header of a partition."""
    files = right().files["parts"]
    header = json.dumps(altered(draw, json.loads(files["partition.json"]))).encode()
    put(
        folder, files | {"partition.json": damaged(draw, header) if draw.random() < 0.3 else header}
    )
    return Layout.read(folder).open(folder, 0)


def run_folder(draw, folder):
    """The files of a finished run, or of one with a checkpoint."""
    files = right().files[draw.choice(["over", "begun"])]
    wrong = draw.choice([*files])
    put(folder, files | {wrong: damaged(draw, files[wrong])})
    return fit(GCN(16, 4, 3, 2), right().data, CONFIG, folder=folder)


def journal(draw, folder):
    """The journal of a search."""
    put(folder, {name: damaged(draw, file) for name, file in right().files["search"].items()})
    with Journal(folder) as found:
        return found.open()


def put(folder, files):
    for name, content in files.items():
        (folder / name).write_bytes(content)


#: Kinds of inputs, with their numbers in a whole run.
KINDS = {
    settings: 1500,
    records: 900,
    words: 500,
    partition: 400,
    run_folder: 120,
    journal: 300,
}


@in_shares
def test_only_our_errors_escape(tmp_path, capsys, share):
    check_all(KINDS, share, tmp_path, capsys)
