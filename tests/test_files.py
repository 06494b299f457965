import csv
import errno
import json
import os
import stat
from pathlib import Path

import pytest

from graphsct.files import (
    leftovers,
    make_folder,
    parse_json,
    replacing,
    sweep,
    write_csv,
    write_json,
    write_jsonl,
    write_text,
)


def test_a_file_takes_its_place_when_it_is_whole(tmp_path):
    path = tmp_path / "new" / "folder" / "a.txt"
    with replacing(path) as temporary:
        temporary.write_text("all of it")
        assert temporary.suffix == ".txt"
        assert not path.exists()
    assert path.read_text() == "all of it"
    assert list(path.parent.iterdir()) == [path]


def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(RuntimeError), replacing(path) as temporary:
        temporary.write_text("half of")
        raise RuntimeError
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_is_on_the_disk_before_its_name_is(tmp_path, monkeypatch):
    path, flushed = tmp_path / "a.txt", []

    def flush(handle):
        flushed.append((os.fstat(handle).st_ino, path.exists()))

    monkeypatch.setattr(os, "fsync", flush)
    write_text(path, "all of it")
    assert flushed == [(path.stat().st_ino, False), (tmp_path.stat().st_ino, True)]
    write_text(path, "again", flush=False)
    assert len(flushed) == 2


def test_a_new_folder_is_on_the_disk_too(tmp_path, monkeypatch):
    flushed = []
    monkeypatch.setattr(os, "fsync", lambda handle: flushed.append(os.fstat(handle).st_ino))
    make_folder(tmp_path / "deep" / "new")
    assert set(flushed) == {tmp_path.stat().st_ino, (tmp_path / "deep").stat().st_ino}
    flushed.clear()
    make_folder(tmp_path / "deep" / "new")
    assert flushed == []


def test_a_folder_that_cannot_be_flushed_has_its_file(tmp_path, monkeypatch):
    def flush(handle):
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(os, "fsync", flush)
    write_text(tmp_path / "a.txt", "all of it")
    assert (tmp_path / "a.txt").read_text() == "all of it"


def test_a_killed_process_leaves_what_is_swept(tmp_path):
    path = tmp_path / "part-1.txt"
    context = replacing(path)
    left = context.__enter__()  # and nothing more
    (tmp_path / ".part-mine.txt").write_text("not ours")
    assert leftovers(tmp_path, ["part-1.txt"]) == leftovers(tmp_path, ["part-*.txt"]) == [left]
    assert leftovers(tmp_path, ["part-2.txt", "part-1.json"]) == []
    sweep(tmp_path, ["part-*.txt"])
    assert [found.name for found in tmp_path.iterdir()] == [".part-mine.txt"]
    context.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)


def test_errors_name_the_file_and_not_its_temporary_name(tmp_path):
    with pytest.raises(IsADirectoryError, match="is a folder; name a file in it") as caught:
        write_json(tmp_path, {})
    assert caught.value.filename == str(tmp_path)
    assert list(tmp_path.iterdir()) == []
    with (
        pytest.raises(OSError, match="No such file") as caught,
        replacing(tmp_path / "a.txt") as temporary,
    ):
        temporary.unlink()
        temporary.read_text()
    assert caught.value.filename == str(tmp_path / "a.txt")


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="there is no /proc")
def test_a_place_that_takes_no_file_is_named_by_the_file():
    path = Path("/proc/self/a.txt")
    with pytest.raises(OSError, match="No such file") as caught:
        write_json(path, {})
    assert caught.value.filename == str(path)


def test_others_may_read_it_as_the_umask_says(tmp_path):
    before = os.umask(0o022)
    try:
        write_json(tmp_path / "a.json", {})
    finally:
        os.umask(before)
    assert (tmp_path / "a.json").stat().st_mode & 0o777 == 0o644


def test_csv_has_names_and_empty_fields_for_none(tmp_path):
    write_csv(tmp_path / "a.csv", {"layers": [1, 2], "s": [0.1, None]})
    with (tmp_path / "a.csv").open(newline="") as file:
        assert list(csv.reader(file)) == [["layers", "s"], ["1", "0.1"], ["2", ""]]
    with pytest.raises(ValueError, match="shorter"):
        write_csv(tmp_path / "b.csv", {"layers": [1, 2], "s": [0.1]})
    assert not (tmp_path / "b.csv").exists()


def test_json_is_strict(tmp_path):
    write_json(tmp_path / "a.json", {"s": None, "n": [1, 2]})
    assert json.loads((tmp_path / "a.json").read_text()) == {"s": None, "n": [1, 2]}
    with pytest.raises(ValueError, match="JSON"):
        write_json(tmp_path / "b.json", {"s": float("nan")})
    assert not (tmp_path / "b.json").exists()


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, f"1{'0' * 5000}"])
def test_text_that_is_no_json_is_a_value_error(text):
    with pytest.raises(ValueError, match=r".+") as caught:
        parse_json(text)
    assert "\n" not in str(caught.value)


def test_jsonl_has_a_line_for_each_row(tmp_path):
    write_jsonl(tmp_path / "a.jsonl", [{"epoch": 1}, {"epoch": 2}])
    assert (tmp_path / "a.jsonl").read_text() == '{"epoch": 1}\n{"epoch": 2}\n'
    with pytest.raises(ValueError, match="JSON"):
        write_jsonl(tmp_path / "b.jsonl", [{}, {"s": float("inf")}])
    assert not (tmp_path / "b.jsonl").exists()
