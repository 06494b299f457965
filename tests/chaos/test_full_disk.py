"""A disk that is full at any point: one line, nothing half-written, and it goes on with space."""

import os
import subprocess
from contextlib import contextmanager

import pytest
from commands import Command
from jobs import JOBS, REPRODUCE, Job, check_end

from graphsct.training.checkpoint import RUN_FILES

pytestmark = pytest.mark.slow

PAGE = 4096  # a tmpfs counts in these
PARTITION = Job("data partition demo --parts 2 --out parts --force", "parts/[!.]*")


@contextmanager
def disk(place, pages):
    """A file system of so many pages."""
    place.mkdir()
    options = f"size={pages * PAGE}"
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "graphsct", place], capture_output=True, text=True
    )
    if made.returncode:
        pytest.skip(f"no file system can be mounted here: {made.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)


def names(place):
    return {path.name for path in files(place)}


def enlarge(place):
    subprocess.run(["mount", "-o", "remount,size=1G", place], check=True)


def most_pages(job, place):
    """The largest number of pages that a job needs at any time, as far as it was seen."""
    seen = 0

    def look():
        nonlocal seen
        space = os.statvfs(place)
        seen = max(seen, space.f_blocks - space.f_bfree)

    with disk(place, 2**18):
        command = Command(*job.words, place=place)
        command.wait_until(look)
        assert command.ended() == 0, command.err
    return seen


@pytest.mark.parametrize("job", [*JOBS, pytest.param(PARTITION, id="partition")])
def test_the_same_command_goes_on(job, undisturbed, chance, faults, tally, tmp_path):
    expected = undisturbed(job)[1]
    most = most_pages(job, tmp_path / "roomy")
    for number in faults:
        place = tmp_path / str(number)
        with disk(place, chance.randint(1, most - 1)):
            command = Command(*job.words, place=place)
            command.ended()
            if command.process.exitcode == 0:
                assert "is left out: " in command.err  # a page or a figure
            else:
                # A cell that fails is no reason to leave out the others.
                told = command.err.splitlines()[-1] if job is REPRODUCE else command.reason
                assert "No space left on device" in told
            tally["full disks"] += 1
            assert names(place) <= {*names(expected), *RUN_FILES}  # nothing half-written
            enlarge(place)
            again = Command(*job.words, place=place)
            again.ended()
            check_end(again, place, expected)


def test_a_full_cache(chance, faults, tally, tmp_path):
    if "GRAPHSCT_DATA" not in os.environ:
        pytest.skip("GRAPHSCT_DATA is not set: the real data sets are not here")
    words = PARTITION.command.replace("demo", "texas").split()
    for number in faults:
        cache = tmp_path / f"cache-{number}"
        with disk(cache, chance.randint(1, 33)):
            own = {"GRAPHSCT_CACHE": str(cache)}
            command = Command(*words, place=tmp_path / "place", environment=own)
            command.ended()
            assert "No space left on device" in command.reason
            tally["full caches"] += 1
            assert all(path.name == ".texas.lock" for path in files(cache))
            enlarge(cache)
            again = Command(*words, place=tmp_path / "place", environment=own)
            assert again.ended() == 0, again.err
            assert [path.suffix for path in files(cache)] == [".lock", ".npz"]


def files(place):
    return sorted(path for path in place.rglob("*") if path.is_file())
