import os
import random
from collections import Counter

import pytest
from commands import Command

FAULTS = int(os.environ.get("GRAPHSCT_FAULTS", "2"))
SEED = int(os.environ.get("GRAPHSCT_SEED", "0"))


def pytest_terminal_summary(terminalreporter):
    """Print what happened in each module."""
    counts = {}
    for report in terminalreporter.stats.get("", ()):
        if report.when == "teardown":
            module = report.nodeid.partition("::")[0].rpartition("/")[2]
            counts.setdefault(module, Counter()).update(dict(report.user_properties))
    for module, count in counts.items():
        if module_counts := ", ".join(f"{number} {what}" for what, number in count.items()):
            terminalreporter.write_line(f"{module}, seed {SEED}: {module_counts}")


@pytest.fixture
def faults():
    """Numbers the faults of a test."""
    return range(FAULTS)


@pytest.fixture
def chance(request):
    """Random numbers of a test, the same in every run with the same seed."""
    return random.Random(f"{SEED} {request.node.name}")


@pytest.fixture
def tally(request):
    """Counts what happened, for the summary."""
    counts = Counter()
    yield counts
    request.node.user_properties.extend(counts.items())


@pytest.fixture(scope="session")
def cache(tmp_path_factory):
    """A folder of processed data that no fault hits."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def own_cache(cache, monkeypatch):
    monkeypatch.setenv("GRAPHSCT_CACHE", str(cache))


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory):
    """Runs a job to its end, once for all tests; returns the command and its folder."""
    known = {}

    def run(job):
        if job not in known:
            place = tmp_path_factory.mktemp("undisturbed") / "place"
            command = Command(*job.words, place=place)
            assert command.ended() == 0, command.err
            known[job] = command, place
        return known[job]

    return run
