"""Two processes in one folder: they share the work, or one of them says that it cannot."""

import signal

import pytest
from commands import Command, Fault
from jobs import REMEDIES, SEARCH, TRAIN, TRIALS, check_end

pytestmark = pytest.mark.slow

ALONE = [word for word in TRAIN.words if word != "--resume"]


@pytest.mark.parametrize("flags", [[], ["--force"], ["--resume"]], ids=str)
def test_one_trains_and_the_other_says_so(flags, undisturbed, chance, tally, tmp_path):
    whole, expected = undisturbed(TRAIN)
    fault = Fault(signal.SIGSTOP, chance.randint(*while_locked(whole.operations)))
    first = Command(*ALONE, *flags, place=tmp_path / "place", fault=fault)
    assert first.stopped(), first.err
    for others in ([], ["--force"], ["--resume"]):
        second = Command(*ALONE, *others, place=tmp_path / "place")
        second.ended()
        assert "another process is using run" in second.reason
        tally["refused"] += 1
    first.send(signal.SIGCONT)
    first.ended()
    check_end(first, tmp_path / "place", expected)
    tally["trained"] += 1


def while_locked(operations):
    """The first and last number of an operation for which the run folder is locked."""
    lock = operations.index("open run/.lock")
    written = max(i for i, line in enumerate(operations) if "os.rename run/.results-" in line)
    return lock + 3, written + 1


def test_searches_share_the_trials(undisturbed, tally, tmp_path):
    whole, expected = undisturbed(SEARCH)
    fault = Fault(signal.SIGSTOP, len(whole.operations) // 2)  # in the midst of its trials
    first = Command(*SEARCH.words, place=tmp_path / "place", fault=fault)
    assert first.stopped(), first.err
    second = Command(*SEARCH.words, place=tmp_path / "place")
    second.wait_until(lambda: any("journal" in line for line in second.operations))
    first.send(signal.SIGCONT)
    for each in (first, second):
        each.ended()
    for each in (first, second):  # while one is there, its half-written files are, too
        check_end(each, tmp_path / "place", expected)
    tally["trials shared"] += TRIALS


def test_comparisons_share_the_cells(undisturbed, tally, tmp_path):
    expected = undisturbed(REMEDIES)[1]
    both = [Command(*REMEDIES.words, place=tmp_path / "place") for _ in range(2)]
    for each in both:
        each.ended()
    for each in both:
        check_end(each, tmp_path / "place", expected)
    cells = sorted(path.name for path in (expected / "cells").glob("[!.]*"))
    trained = [line.rpartition("/")[2] for each in both for line in each.err.splitlines()]
    assert sorted(trained) == cells
    tally["cells shared"] += len(cells)
