"""Small commands that can be run again in the same folder, and what they leave there."""

import json
import os
from importlib.util import find_spec
from typing import NamedTuple

import pytest
import safetensors

TRIALS = 6


class Job(NamedTuple):
    """A command that goes on where it was when it is run again.

    Args:
        command: the command and its options
        finished: pattern of the files that no later command may change
    """

    command: str
    finished: str

    @property
    def words(self):
        return self.command.split()

    def results(self, place):
        """The bytes of finished results, to which later commands may only add."""
        return {path: _entries(path) for path in place.glob(self.finished)}


TRAIN = Job(
    # A model that the engine cannot stack: its seeds are trained one after another.
    "train --model pyg:GCN --depth 2 --hidden 8 --control pooled --compare --epochs 20 --seeds 3 "
    "--checkpoint-every 5 --out run --resume",
    finished="run/**/run.json",
)
SEARCH = Job(
    f"search --depth 2 --max-hidden 16 --trials {TRIALS} --epochs 12 --patience 12 --out study",
    finished="study/journal.jsonl",
)
REMEDIES = Job(
    "remedies compare --depth 2 --remedy none --remedy pair_norm --epochs 10 --seeds 2 --out cells",
    finished="cells/[!.]*.json",
)
REPRODUCE = Job(
    # One seed each: seeds that are stacked are rounded otherwise than one that resumes alone.
    "reproduce table2 --data texas --model gcn --seeds 1 --out cells --work work",
    finished="cells/[!.]*.json",
)
RAY = SEARCH._replace(command=f"{SEARCH.command} --ray local --workers 2")

JOBS = [
    pytest.param(TRAIN, id="train"),
    pytest.param(SEARCH, id="search"),
    pytest.param(REMEDIES, id="remedies"),
    pytest.param(
        REPRODUCE,
        id="reproduce",
        marks=pytest.mark.skipif(
            "GRAPHSCT_DATA" not in os.environ,
            reason="GRAPHSCT_DATA is not set: the real data sets are not here",
        ),
    ),
    pytest.param(
        RAY,
        id="ray",
        marks=pytest.mark.skipif(
            find_spec("ray") is None, reason="ray is not installed: there is no cluster"
        ),
    ),
]


def check_kept(before, after):
    """Results that were finished are there as they were."""
    for path, content in before.items():
        assert after[path].startswith(content), path


def check_end(command, place, expected):
    """A command that ended well left what it leaves undisturbed: these files and no others."""
    assert command.process.exitcode == 0, command.err
    found, wanted = contents(place), contents(expected)
    assert not found.keys() ^ wanted.keys(), found.keys() ^ wanted.keys()
    for path, content in found.items():
        assert content == wanted[path], path
    if "study/trials.jsonl" in found:
        ours, theirs = scores(place), scores(expected)
        assert ours.keys() & theirs.keys()
        for key in ours.keys() & theirs.keys():
            # How many trials are stacked depends on the moment, and their rounding on how many.
            assert ours[key] == pytest.approx(theirs[key], rel=1e-5), key


def contents(place):
    """All files below a folder, by their paths: what can be compared of each."""
    return {
        str(path.relative_to(place)): _content(path) for path in place.rglob("*") if path.is_file()
    }


def scores(place):
    """The scores of all trials of a search, by their settings."""
    found = {}
    for row in _rows(place / "study/trials.jsonl"):
        assert row["state"] == "complete"
        outcome = [row.pop(name) for name in ("val_score", "val_loss", "best_epoch")]
        found[json.dumps({**row, "trial": None, "seconds": None})] = outcome
    assert len(found) == TRIALS
    return found


def _content(path):
    if path.name in ("best.json", "trials.jsonl", "journal.jsonl"):
        return None  # a search that was disturbed draws other settings
    if path.suffix == ".json":
        return _timeless(json.loads(path.read_text()))
    if path.suffix == ".jsonl":
        return _rows(path)
    if path.suffix == ".safetensors":
        with safetensors.safe_open(path, "np") as file:
            return {name: file.get_tensor(name).tolist() for name in file.keys()}  # noqa: SIM118
    if path.suffix == ".html":
        return path.read_text().rstrip().endswith("</html>")
    return None


def _rows(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def _entries(path):
    """The bytes of a file; of a journal, those of its complete entries."""
    content = path.read_bytes()
    return content[: content.rfind(b"\n") + 1] if path.suffix == ".jsonl" else content


def _timeless(value):
    """A JSON value without durations, and without the cost of a remedy, a ratio of two."""
    if isinstance(value, dict):
        return {
            key: _timeless(each)
            for key, each in value.items()
            if "seconds" not in key and key != "cost"
        }
    return [_timeless(each) for each in value] if isinstance(value, list) else value
