import io

import pytest
from rich.console import Console

from graphsct.training.progress import Progress
from graphsct.training.run import Epoch

RECORD = Epoch(3, 0.51234, 0.7, 0.9, 0.8)


def test_it_is_quiet_if_nobody_looks(capsys):
    with Progress(1, 10) as bar:
        bar(RECORD)
        bar.next_run()
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


@pytest.mark.parametrize("runs", [1, 4])
def test_a_terminal_sees_epoch_loss_accuracies_and_time(runs):
    screen = io.StringIO()
    bar = Progress(runs, 10, "seed")
    bar._console = Console(file=screen, force_terminal=True, width=120)
    with bar:
        bar.next_run()
        bar(RECORD)
        bar._bar.refresh()
    shown = screen.getvalue()
    for text in ("epoch 3/10", "loss 0.512", "train 0.900", "val 0.800", "at most 0:00:"):
        assert text in shown
    assert ("seed 2/4" in shown) == (runs == 4)


def test_names_are_not_markup():
    screen = io.StringIO()
    bar = Progress(1, 10, "my[/red][bold]model.py:snake:Net")
    bar._console = Console(file=screen, force_terminal=True, width=120)
    with bar:
        bar._bar.refresh()
    assert "my[/red][bold]model.py:snake:Net" in screen.getvalue()
