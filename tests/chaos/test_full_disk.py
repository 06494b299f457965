"""A disk that is full at any point: one line, nothing half-written, and it goes on with space."""

import os
import subprocess
from contextlib import contextmanager

import pytest
from commands import Command
from jobs import REMEDIES, SEARCH, TRAIN, Job, check_end, contents

pytestmark = pytest.mark.slow

PAGE = 4096  # a tmpfs counts in these
PARTITION = Job("data partition demo --parts 2 --out parts --force", "parts/[!.]*")
DISK_JOBS = {"train": TRAIN, "search": SEARCH, "remedies": REMEDIES, "partition": PARTITION}


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


def enlarge(place):
    subprocess.run(["mount", "-o", "remount,size=1G", place], check=True)


def pages_of(place):
    """The number of pages that the files below a folder need."""
    return sum(-(-path.stat().st_size // PAGE) for path in place.rglob("*") if path.is_file())


@pytest.mark.parametrize("name", DISK_JOBS)
def test_the_same_command_goes_on(name, undisturbed, chance, faults, tally, tmp_path):
    job = DISK_JOBS[name]
    expected = undisturbed(job)[1]
    for number in faults:
        place = tmp_path / str(number)
        with disk(place, chance.randint(1, pages_of(expected) - 1)):
            command = Command(*job.words, place=place)
            command.ended()
            if command.process.exitcode == 0:
                assert "is left out: " in command.err  # a page or a figure
            else:
                assert "No space left on device" in command.reason
            tally["full disks"] += 1
            assert not contents(place).keys() - contents(expected).keys()
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
