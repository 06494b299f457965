import ast
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import graphsct
from graphsct.cli import CONTENTS, app
from graphsct.cli.flags import with_flags
from graphsct.datasets import from_folder
from graphsct.distributed import write_partition
from graphsct.errors import GraphsctError

SOURCE = Path(graphsct.__file__).parent


def command_of(*names):
    found = typer.main.get_command(app)
    for name in names:
        found = found.get_command(None, name)
    return found


@pytest.mark.parametrize(
    ("names", "message", "shown"),
    [
        (["diagnose"], "pass symmetrize=True to add them", "pass --symmetrize to add them"),
        (["figure"], "pass symmetrize=True to add them", "pass symmetrize=True to add them"),
        (["train"], "pass normalize=False", "pass --no-normalize"),
        (
            ["train"],
            "use control='pooled' or control=\"gated\"",
            "use --control pooled or --control gated",
        ),
        (["train"], "choose another folder: folder=...", "choose another folder: --out"),
        (["search"], "another folder: storage=...; see below", "another folder: --out; see below"),
        (["reproduce"], "another folder: storage=...", "another folder: --work"),
        (["search"], "less than workers=4, ray='local'", "less than --workers 4, --ray local"),
        (["diagnose"], "layers=[...] out of convs.0", "--layer out of convs.0"),
        (["train"], "GCN(depth=2) and model.depth=2", "GCN(depth=2) and model.depth=2"),
        (
            ["train"],
            "with graphsct.distributed.write_partition(data, folder, parts)",
            "with 'graphsct data partition NAME --parts 2 --out FOLDER'",
        ),
    ],
)
def test_arguments_become_options_of_the_command(names, message, shown):
    assert with_flags(message, command_of(*names).params) == shown


@pytest.fixture
def directed(tmp_path):
    folder = tmp_path / "directed"
    folder.mkdir()
    (folder / "edges.csv").write_text("0,1\n1,2\n")
    return folder


def run(*arguments):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 1
    return result.stderr


def test_a_directed_folder_in_both_languages(directed, tmp_path):
    with pytest.raises(GraphsctError, match="pass symmetrize=True to add the reverse"):
        from_folder(directed)
    for command in (["diagnose", "--data", directed], ["data", "partition", directed]):
        options = ["--parts", 2, "--out", tmp_path / "parts"] if command[0] == "data" else []
        shown = run(*command, *options)
        assert "pass --symmetrize to add the reverse" in shown
        assert "=True" not in shown


def test_no_flag_shows_a_type():
    for arguments in ([], ["train"], ["data"], ["data", "partition"], ["remedies", "compare"]):
        shown = CliRunner(env={"COLUMNS": "120"}).invoke(app, [*arguments, "--help"]).stdout
        assert "--help " in shown and "bool" not in shown.lower() and "list[" not in shown


@pytest.mark.parametrize("group", ["data", "remedies"])
def test_a_group_tells_of_each_command_in_one_sentence(group):
    for inner in command_of(group).commands.values():
        assert "\n" not in inner.short_help
        assert inner.short_help.endswith(".") and ". " not in inner.short_help


def test_an_existing_partition_in_both_languages(tmp_path, data):
    write_partition(data, tmp_path, 2)
    with pytest.raises(GraphsctError, match="use force=True to replace it"):
        write_partition(data, tmp_path, 2)
    shown = run("data", "partition", "demo", "--parts", 2, "--out", tmp_path)
    assert shown.endswith("use --force to replace it\n")


def options_of(command):
    for inner in getattr(command, "commands", {}).values():
        yield from options_of(inner)
    for param in command.params:
        yield from (option for option in param.opts if option.startswith("--"))


def strings_of(path):
    """The strings of a file that are no docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
            yield node.lineno, node.value


def test_the_library_does_not_speak_of_options():
    flags = {
        flag
        for name in (n for lines in CONTENTS.values() for n in lines)
        for flag in options_of(command_of(name))
    }
    assert {"--resume", "--symmetrize", "--out"} <= flags
    rooms = {path for path in SOURCE.iterdir() if path.is_dir()}
    rooms -= {SOURCE / name for name in ("cli", "paper", "training")}
    found = [
        f"{path.relative_to(SOURCE)}:{line}: {text!r}"
        for room in sorted(rooms)
        for path in sorted(room.rglob("[!_]*.py"))
        for line, text in strings_of(path)
        if flags & {word.strip("'\",;.()") for word in text.split()}
    ]
    assert found == []
