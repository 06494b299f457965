import io

from rich.console import Console

from graphsct.search import progress
from graphsct.search.progress import SearchProgress


class Study:
    select = "val_accuracy"

    def __init__(self, trials, best):
        self.trials, self.best = trials, best

    def counts(self):
        over = {"trials": self.trials, "pruned": 1, "failed": 0, "seconds": 3.0}
        return over | {"finalists": self.trials // 2}

    def best_score(self):
        return self.best


def test_it_is_quiet_if_nobody_looks(capsys):
    with SearchProgress(10, "demo") as bar:
        bar(Study(1, 0.5))
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


def test_a_terminal_sees_trials_the_best_and_the_time_left(monkeypatch):
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=140)
    monkeypatch.setattr("rich.console.Console", lambda **options: console)
    with SearchProgress(10, "demo gcn2") as bar:
        bar(Study(0, None))
        bar(Study(4, 0.8125))
        bar._bar.refresh()
    shown = screen.getvalue()
    for text in (
        "demo gcn2",
        "4/10 trials, 1 given up, 2 in the finals, best 81.25 %",
        "about 0:00:",
    ):
        assert text in shown
    with SearchProgress(10, "demo", shown=False) as bar:
        assert bar._bar is None


def test_scores():
    assert progress.show_score(0.5, "val_accuracy") == "50.00 %"
    assert progress.show_score(0.5, "val_loss") == "0.5000"
