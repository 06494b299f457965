import sys
import time
from itertools import count

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from graphsct.errors import MissingExtraError
from graphsct.training import TensorBoard
from graphsct.training.run import Epoch


def write(folder, *epochs, loss=1.0):
    with TensorBoard(folder) as board:
        for epoch in epochs:
            board(Epoch(epoch, loss / epoch, 0.75, 0.5, 0.25))


def read(folder, tag):
    events = EventAccumulator(str(folder)).Reload()
    return [(event.step, event.value) for event in events.Scalars(tag)]


def test_every_value_of_an_epoch_has_its_curve(tmp_path):
    write(tmp_path, 1, 2)
    expected = {"loss/train": [1.0, 0.5], "loss/val": [0.75] * 2}
    expected |= {"score/train": [0.5] * 2, "score/val": [0.25] * 2}
    for tag, values in expected.items():
        assert read(tmp_path, tag) == list(enumerate(values, 1))


def test_a_resumed_run_replaces_its_earlier_events(tmp_path, monkeypatch):
    # Files of the same second are read in no certain order.
    monkeypatch.setattr(time, "time", map(float, count(1_000_000_000)).__next__)
    write(tmp_path, 1, 2, 4)
    write(tmp_path, 2, loss=8.0)
    assert read(tmp_path, "loss/train") == [(1, 1.0), (2, 4.0)]


def test_no_epoch_no_file(tmp_path):
    write(tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    with pytest.raises(MissingExtraError, match=r"graphsct\[tensorboard\]"):
        TensorBoard("events")
