import pytest
from workers import meet, started


@pytest.fixture(scope="session")
def workers(tmp_path_factory):
    """Four processes, of which a test may use as many as it likes."""
    with started(tmp_path_factory.mktemp("workers")) as found:
        yield found


@pytest.fixture
def alone(tmp_path):
    """This process as the only one."""
    with meet(tmp_path / "meeting"):
        yield
