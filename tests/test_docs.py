"""Whatever code the documentation shows runs, and its commands and options exist."""

import re
import shlex
import tomllib
from pathlib import Path

import pytest
from typer.main import get_command

from graphsct.cli import app

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs").rglob("*.md"))


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.M)


def commands():
    """Every line of a shell block, in words, comments and continuations taken out."""
    found = [block for page in (ROOT / "README.md", *PAGES) for block in blocks(page, "sh")]
    lines = "".join(found).replace("\\\n", " ").splitlines()
    return [words for line in lines if (words := shlex.split(line, comments=True))]


def parse(words):
    """Parse a command as Typer would, and run nothing."""
    command, context, (name, *rest) = get_command(app), None, words
    while hasattr(command, "get_command") and rest:
        context = command.make_context(name, [], parent=context, resilient_parsing=True)
        name, *rest = rest
        found = command.get_command(context, name)
        assert found is not None, f"there is no command {name}"
        command = found
    command.make_context(name, rest, parent=context)


WITH_CODE = [page for page in PAGES if blocks(page, "python")]


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: page.stem)
def test_the_python_of_a_page_runs_from_top_to_bottom(
    page, tmp_path, monkeypatch, registry, request
):
    if 'load("cora"' in "".join(blocks(page, "python")):
        request.getfixturevalue("load")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    namespace = {"__name__": "__main__"}
    for code in blocks(page, "python"):
        exec(compile(code, str(page), "exec"), namespace)


def test_there_is_python_to_run():
    assert {"tutorial", "graph", "model", "diagnose", "control"} <= {
        page.stem for page in WITH_CODE
    }


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_commands_and_their_options_exist(words):
    match words:
        case ["graphsct", *_]:
            parse(words)
        case ["torchrun", *rest]:
            parse(rest[rest.index("-m") + 1 :])
        case ["make", target]:
            assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text("utf-8"), re.M)
        case ["pip", "install", *what]:
            extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
            for name in re.findall(r"\[(.*)\]", " ".join(what)):
                assert set(name.split(",")) <= set(extras["optional-dependencies"])
        case _:
            assert words[0] in {"export", "python"}


@pytest.mark.parametrize(
    "line", ["graphsct trian", "graphsct train --dept 2", "graphsct data list --nmae x"]
)
def test_what_does_not_exist_is_noticed(line):
    with pytest.raises((Exception, SystemExit), match=r"(?i)no such|no command"):
        parse(shlex.split(line))
