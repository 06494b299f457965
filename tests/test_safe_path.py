import os
import subprocess
import sys

import pytest

from graphsct import datasets
from graphsct.distributed import write_partition
from graphsct.safe_path import safe_path


@pytest.fixture
def trap(tmp_path, monkeypatch):
    """A current folder with modules that must not be executed."""
    for name in ("graphsct", "json", "queue"):
        (tmp_path / f"{name}.py").write_text("open('executed', 'a')\nraise SystemExit(3)\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    return tmp_path


def test_modules_of_the_current_folder_are_not_executed(trap):
    command = [sys.executable, "-c", "import json"]
    assert subprocess.run(command).returncode == 3
    (trap / "executed").unlink()
    with safe_path():
        assert subprocess.run(command).returncode == 0
    assert not (trap / "executed").exists()


@pytest.mark.parametrize("before", [None, ""])
def test_the_environment_is_restored_after_an_error(monkeypatch, before):
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    if before is not None:
        monkeypatch.setenv("PYTHONSAFEPATH", before)
    with pytest.raises(ZeroDivisionError), safe_path():
        raise ZeroDivisionError
    assert os.environ.get("PYTHONSAFEPATH") == before


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        "search --depth 2 --max-hidden 16 --trials 2 --workers 2",
        "train --data parts --distributed --hidden 8 --seeds 1",
    ],
)
def test_commands_with_many_processes(trap, tmp_path_factory, words):
    write_partition(datasets.demo(), trap / "parts", 2)
    script = tmp_path_factory.mktemp("bin") / "graphsct.py"  # as pip installs it
    lines = "del sys.path[0]", "from graphsct.cli import main", "if __name__ == '__main__': main()"
    script.write_text("\n".join(["import sys", *lines]))
    command = [sys.executable, str(script), *words.split(), "--epochs", "3", "--out", "out"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert not (trap / "executed").exists()
