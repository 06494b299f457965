"""``kill -9`` at any moment: nothing finished is lost, and the same command ends as ever."""

import signal

import pytest
from commands import Command, struck
from jobs import JOBS, check_end, check_kept

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("job", JOBS)
def test_the_same_command_goes_on(job, undisturbed, chance, faults, tally, tmp_path):
    whole, expected = undisturbed(job)
    place = tmp_path / "0"
    for number in faults:
        before = job.results(place)
        command = struck(signal.SIGKILL, chance, whole, job.words, place)
        check_kept(before, job.results(place))
        if command.process.exitcode == -signal.SIGKILL:
            tally["kills"] += 1
        else:
            check_end(command, place, expected)
            tally["ends compared"] += 1
            place = tmp_path / str(number + 1)
    before = job.results(place)
    command = Command(*job.words, place=place)
    command.ended()
    check_kept(before, job.results(place))
    check_end(command, place, expected)
    tally["ends compared"] += 1
