"""Ctrl-C at any moment: the exit code says so, and what is written is right as far as it goes."""

import json
import signal
import statistics

import pytest
from commands import Command, Fault, struck
from jobs import JOBS, TRAIN, check_end, check_kept

pytestmark = pytest.mark.slow

# Seeds that are trained together and end at different epochs, as their patience ends.
STACKED = TRAIN._replace(command=TRAIN.command.replace("pyg:GCN", "gcn") + " --patience 2")


@pytest.mark.parametrize("job", JOBS)
def test_the_same_command_goes_on(job, undisturbed, chance, faults, tally, tmp_path):
    whole, expected = undisturbed(job)
    for number in faults:
        place = tmp_path / str(number)
        command = struck(signal.SIGINT, chance, whole, job.words, place)
        assert command.process.exitcode in (0, 130), command.err
        assert "Traceback" not in command.err
        tally["interrupted" if command.process.exitcode else "too late"] += 1
        before = job.results(place)
        again = Command(*job.words, place=place)
        again.ended()
        check_kept(before, job.results(place))
        check_end(again, place, expected)


def test_differences_are_those_of_the_seeds_they_name(undisturbed, chance, faults, tally, tmp_path):
    operations = undisturbed(STACKED)[0].operations
    moments = [i for i, line in enumerate(operations) if "without-control" in line]
    for number in faults:
        place = tmp_path / str(number)
        fault = Fault(signal.SIGINT, chance.choice(moments))
        command = Command(*STACKED.words, place=place, fault=fault)
        assert command.ended() in (0, 130), command.err
        tally["interrupted"] += command.process.exitcode == 130
        found = json.loads((place / "run/results.json").read_text())
        pairs = both_finished(place / "run")
        assert found.get("difference_seeds", []) == list(pairs)
        if pairs:
            assert found["difference_mean"] == statistics.fmean(pairs.values())
        tally["pairs compared"] += len(pairs)


def both_finished(run):
    """The differences of the seeds that have a result with and without control."""
    found = {}
    for seed in range(3):
        both = [part / f"seed-{seed}/run.json" for part in (run, run / "without-control")]
        if all(path.exists() for path in both):
            ours, plain = (json.loads(path.read_text())["test_score"] for path in both)
            found[seed] = ours - plain
    return found
