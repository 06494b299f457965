import io
import logging

import pytest
from rich.console import Console

from graphsct.search import progress
from graphsct.search.outcome import Counts
from graphsct.search.progress import SearchProgress
from graphsct.training.selection import Criterion


class Study:
    criterion = Criterion("val_score")

    def __init__(self, trials, best):
        self.trials, self.best = trials, best

    def counts(self):
        return Counts(self.trials, pruned=1, failed=0, seconds=3.0, finalists=self.trials // 2)

    def best_score(self):
        return self.best


@pytest.fixture
def log(caplog):
    caplog.set_level(logging.INFO, "graphsct")
    return caplog


def test_it_is_quiet_for_a_minute_if_it_is_no_terminal(capsys, log):
    with SearchProgress(10, "demo") as bar:
        bar(Study(1, 0.5))
    assert capsys.readouterr() == ("", "")
    assert log.messages == []


def test_without_a_terminal_a_line_a_minute_is_logged(capsys, log, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(progress.time, "perf_counter", lambda: now[0])
    with SearchProgress(10, "demo gcn2") as bar:
        for seconds, trials in ((0, 2), (30, 3), (61, 4), (90, 5), (130, 6), (200, 10)):
            now[0] = seconds
            bar(Study(trials, 0.5))
    assert capsys.readouterr() == ("", "")
    first, second, last = log.messages
    assert first.startswith("demo gcn2: 4/10 trials, 1 given up, 2 in the finals, best 50.00 %")
    assert first.endswith("about 0:03:03 left")  # two new ones in 61 seconds, six to go
    assert second.startswith("demo gcn2: 6/10 trials") and second.endswith("about 0:02:10 left")
    assert last == "demo gcn2: 10/10 trials, 1 given up, 5 in the finals, best 50.00 %"


def test_it_can_be_silenced(log, monkeypatch):
    monkeypatch.setattr(progress, "_PAUSE", 0.0)
    with SearchProgress(10, "demo", shown=False) as bar:
        bar(Study(4, 0.5))
    assert log.messages == []


def test_a_terminal_sees_trials_the_best_and_the_time_left(monkeypatch):
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=140)
    monkeypatch.setattr("rich.console.Console", lambda **options: console)
    with SearchProgress(10, "demo[/red] gcn2") as bar:
        bar(Study(0, None))
        bar(Study(4, 0.8125))
        bar._bar.refresh()
    shown = screen.getvalue()
    for text in (
        "demo[/red] gcn2",
        "4/10 trials, 1 given up, 2 in the finals, best 81.25 %",
        "about 0:00:",
    ):
        assert text in shown
    with SearchProgress(10, "demo", shown=False) as bar:
        assert bar._bar is None
