import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def real():
    """The folder with the real files."""
    root = os.environ.get("GRAPHSCT_DATA")
    if not root:
        pytest.skip("GRAPHSCT_DATA is not set: the real data sets are not here")
    return Path(root)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """An empty cache, and no data sets unless a test says where they are."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("GRAPHSCT_CACHE", str(folder))
    monkeypatch.delenv("GRAPHSCT_DATA", raising=False)
    return folder


@pytest.fixture
def warm(real, warm_cache, monkeypatch):
    """The real files, with the cache that all tests share."""
    monkeypatch.setenv("GRAPHSCT_CACHE", str(warm_cache))
    return real
