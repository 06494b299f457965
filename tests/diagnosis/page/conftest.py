import faulty
import pytest

from graphsct import diagnose


@pytest.fixture(scope="module")
def dead(data):
    return diagnose(faulty.dead(), data)


@pytest.fixture(scope="module")
def smooth(data):
    return diagnose(faulty.over_smoothed(30), data)
