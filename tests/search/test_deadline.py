import pickle
import time

from graphsct.search.deadline import Deadline


def test_nobody_sets_it_back(monkeypatch):
    later, now = Deadline(60.0), time.monotonic()
    monkeypatch.setattr(time, "time", lambda: 0.0)
    monkeypatch.setattr(time, "monotonic", lambda: now + 59.0)
    assert not later.passed
    monkeypatch.setattr(time, "monotonic", lambda: now + 61.0)
    assert later.passed


def test_another_machine_gets_the_time_that_is_left(monkeypatch):
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now)
    sent = pickle.dumps(Deadline(60.0))
    monkeypatch.setattr(time, "monotonic", lambda: 5.0)
    received = pickle.loads(sent)
    assert not received.passed
    monkeypatch.setattr(time, "monotonic", lambda: 65.1)
    assert received.passed
