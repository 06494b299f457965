import os
import re
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from graphsct import __version__
from graphsct.cli import CONTENTS, app
from graphsct.paper import figures


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_version():
    result = run("--version")
    assert result.exit_code == 0
    assert result.stdout == f"graphsct {__version__}\n"


@pytest.mark.parametrize("arguments", [(), ("--help",)])
def test_help_lists_the_commands(arguments):
    result = run(*arguments)
    for name in ("demo", "figure", "--debug", "--version"):
        assert name in result.output


def test_a_terminal_that_knows_only_ascii():
    command = [sys.executable, "-m", "graphsct", "reproduce", "table2", "--report"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    result = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")
    assert r" \xb1 " in result.stdout


def test_contents_have_a_line_for_each_command():
    result = CliRunner(env={"COLUMNS": "80", "TERMINAL_WIDTH": "80"}).invoke(app, ["--help"])
    for panel, lines in CONTENTS.items():
        assert f"─ {panel} ─" in result.stdout
        for name, line in lines.items():
            assert re.search(rf"│ {name} +{re.escape(line)} +│", result.stdout)
    for code in ("0    success", "1    failure", "2    wrong usage", "130  interrupted"):
        assert f" {code}" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("trian",), "there is no command 'trian', did you mean 'train'?"),
        (("train", "--modle", "gcn"), "No such option: --modle (Possible options: --model)"),
        (("data", "lits"), "Did you mean 'list'?"),
        (("train", "--depth", "two"), "--depth"),
        (("train", "--seeds", 0), "--seeds"),
    ],
)
def test_wrong_usage_has_the_nearest_name(arguments, hint):
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert hint in " ".join(result.stderr.replace("│", "").split())


def test_what_was_not_foreseen_is_one_line_too(tmp_path, monkeypatch):
    def fail(*_):
        raise RuntimeError("two\nlines")

    monkeypatch.setattr(figures, "write_figure", fail)
    result = run("figure", 1, "--out", tmp_path)
    assert result.exit_code == 1
    assert result.stderr == (
        "graphsct: RuntimeError: two lines (unexpected; 'graphsct --debug ...' shows where)\n"
    )
    assert type(run("--debug", "figure", 1).exception).__name__ == "RuntimeError"


@pytest.mark.parametrize("debug", [(), ("--debug",)])
def test_ctrl_c_is_one_line(tmp_path, monkeypatch, debug):
    monkeypatch.setattr(
        figures, "write_figure", lambda *_: os.kill(os.getpid(), signal.SIGINT) or time.sleep(9)
    )
    result = run(*debug, "figure", 1, "--out", tmp_path)
    assert result.exit_code == 130
    assert (result.stdout, result.stderr) == ("", "graphsct: interrupted\n")


def test_ctrl_c_in_a_process_of_its_own_is_one_line(tmp_path):
    line = [sys.executable, "-u", "-m", "graphsct", "demo", "--out", str(tmp_path)]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as found:
        while "The remedies" not in found.stdout.readline() and found.poll() is None:
            pass
        found.send_signal(signal.SIGINT)
        _, errors = found.communicate(timeout=60)
    # Python ends by the signal itself if it came inside exec(); a shell shows 130 for both.
    assert found.returncode in (130, -signal.SIGINT)
    assert errors == "graphsct: interrupted\n"


def test_debug_lets_the_error_through(tmp_path):
    result = run("--debug", "figure", 7, "--out", tmp_path)
    assert result.exit_code == 1
    assert type(result.exception).__name__ == "ExperimentError"


def test_missing_matplotlib_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = run("figure", 2, "--out", tmp_path)
    assert result.exit_code == 1
    message = 'graphsct: matplotlib is not installed; run: pip install "graphsct[plot]"\n'
    assert result.stderr == message


def test_a_file_where_the_folder_should_be_is_one_line(tmp_path):
    taken = tmp_path / "taken"
    taken.write_text("")
    result = run("figure", 2, "--out", taken)
    assert result.exit_code == 1
    assert result.stderr == f"graphsct: {taken}: File exists\n"


def command(*arguments):
    line = [sys.executable, "-m", "graphsct", *arguments]
    return subprocess.run(line, capture_output=True, text=True, check=False)


def test_python_m_graphsct_draws(tmp_path):
    result = command("figure", "2", "--out", str(tmp_path))
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "figure2.png").stat().st_size > 50_000
    assert result.stderr == ""


def test_python_m_graphsct_shows_a_traceback_when_asked():
    result = command("--debug", "figure", "0")
    assert result.returncode == 1
    assert "Traceback" in result.stderr
    assert "ExperimentError: there is no figure 0" in result.stderr


def test_a_reader_that_goes_away_is_no_error(tmp_path):
    ours, theirs = os.pipe()
    os.close(ours)
    line = [sys.executable, "-m", "graphsct", "data", "list", "--root", str(tmp_path)]
    try:
        result = subprocess.run(line, stdout=theirs, stderr=subprocess.PIPE, check=False)
    finally:
        os.close(theirs)
    assert result.stderr == b""


@pytest.mark.parametrize("arguments", [("--help",), ("data", "list", "--json")])
def test_an_output_that_is_full_is_one_line(arguments):
    line = [sys.executable, "-m", "graphsct", *arguments]
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(line, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert result.returncode == 1
    assert result.stderr == "graphsct: No space left on device\n"


@pytest.fixture
def small_files():
    """No file may grow beyond 16 kB, which fails as a full disk does."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (16_384, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_disk_that_is_full_is_one_line_and_leaves_no_part(tmp_path, small_files):
    result = run("figure", 2, "--out", tmp_path)
    assert result.exit_code == 1
    assert result.stderr == f"graphsct: {tmp_path / 'figure2.png'}: File too large\n"
    assert list(tmp_path.iterdir()) == []


def test_training_imports_nothing_of_the_paper(tmp_path):
    """What everybody runs must not load the experiments of one paper, nor its figures."""
    code = (
        "import sys; from typer.testing import CliRunner; from graphsct.cli import app\n"
        f"options = ['--seeds', '1', '--epochs', '2', '--out', {str(tmp_path / 'run')!r}]\n"
        "result = CliRunner().invoke(app, ['train', *options], catch_exceptions=False)\n"
        "assert result.exit_code == 0, result.output\n"
        "print(sorted(name for name in sys.modules if name.startswith('graphsct.paper')))\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"
    assert (tmp_path / "run" / "page.html").is_file()
