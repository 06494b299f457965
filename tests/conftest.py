import os
import signal
import sys

import pytest
import torch
from browser import open_browser
from hypothesis import settings
from oracle import Dense
from zoo import ZOO

from graphsct import datasets
from graphsct.nn import MODELS

# A shell starts what it runs in the background with Ctrl-C ignored, and tests press it.
signal.signal(signal.SIGINT, signal.default_int_handler)
torch.set_num_threads(1)  # the graphs here are small, and threads only wait for each other
# A fixed set of examples in CI, new ones on every run elsewhere, many on request.
EXAMPLES = int(os.environ.get("GRAPHSCT_EXAMPLES", "100"))
settings.register_profile(
    "graphsct", deadline=None, max_examples=EXAMPLES, derandomize="CI" in os.environ
)
settings.load_profile("graphsct")


@pytest.fixture(params=list(ZOO))
def case(request):
    return ZOO[request.param]


@pytest.fixture
def graph(case):
    return case.graph()


@pytest.fixture
def dense(case):
    return Dense(case)


@pytest.fixture
def x(case):
    generator = torch.Generator().manual_seed(7)
    return torch.randn(case.num_nodes, 3, dtype=torch.float64, generator=generator)


@pytest.fixture(scope="session")
def data():
    """The built-in data, which no test changes."""
    return datasets.demo()


@pytest.fixture
def seed():
    """The same random numbers for every test of a file that asks for them."""
    torch.manual_seed(0)


@pytest.fixture
def registry():
    """For tests that register models or execute files: both are forgotten afterwards."""
    known, modules = dict(MODELS), set(sys.modules)
    yield
    MODELS.clear()
    MODELS.update(known)
    for name in set(sys.modules) - modules:
        if name.endswith(".py"):
            del sys.modules[name]


@pytest.fixture(scope="session")
def warm_cache(tmp_path_factory, worker_id):
    """One cache for all tests, so that each data set is parsed once."""
    folder = tmp_path_factory.getbasetemp()
    return (folder if worker_id == "master" else folder.parent) / "warm"


@pytest.fixture
def load(monkeypatch, warm_cache):
    """Loads a real data set."""
    if "GRAPHSCT_DATA" not in os.environ:
        pytest.skip("GRAPHSCT_DATA is not set: the real data sets are not here")
    monkeypatch.setenv("GRAPHSCT_CACHE", str(warm_cache))
    return datasets.load


@pytest.fixture
def cora(load):
    return load("cora")


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    with open_browser(tmp_path_factory.mktemp("browser")) as found:
        yield found
