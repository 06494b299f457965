import errno
import os
from pathlib import Path

import platformdirs
import pytest

from graphsct import DataError
from graphsct.datasets.paths import cache_folder, data_root, lock, temporary_folder


def test_root_is_the_argument_else_the_environment_else_the_cache(cache, tmp_path, monkeypatch):
    assert data_root() == cache_folder() == cache
    monkeypatch.setenv("GRAPHSCT_DATA", str(tmp_path / "environment"))
    assert data_root() == tmp_path / "environment"
    assert data_root("~/argument") == Path.home() / "argument"


def test_the_cache_is_where_the_platform_wants_it(monkeypatch):
    monkeypatch.delenv("GRAPHSCT_CACHE")
    assert cache_folder() == Path(platformdirs.user_cache_dir("graphsct", appauthor=False))


def test_a_temporary_folder_goes_away_and_takes_leftovers_along(tmp_path):
    (tmp_path / ".cora-dead.tmp").mkdir()
    (tmp_path / ".texas-other.tmp").mkdir()
    with lock(tmp_path, "cora"), pytest.raises(KeyError), temporary_folder(tmp_path, "cora") as new:
        assert [path.name for path in tmp_path.glob(".cora-*.tmp")] == [new.name]
        raise KeyError
    assert [path.name for path in tmp_path.glob("*.tmp")] == [".texas-other.tmp"]


def test_a_full_disk_is_named_by_the_folder_and_leaves_nothing(tmp_path):
    with (
        pytest.raises(DataError, match=rf"cannot write to {tmp_path} \(No space left .*CACHE to a"),
        temporary_folder(tmp_path, "cora"),
    ):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "some/raw/file")
    assert list(tmp_path.iterdir()) == []
