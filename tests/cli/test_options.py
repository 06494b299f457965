import json
import os
import shlex
import subprocess
import sys

import pytest
import typer
from typer.testing import CliRunner

from graphsct.cli import app, options
from graphsct.cli.data import LEAKY, METHODS
from graphsct.cli.figure import NUMBERS
from graphsct.datasets.catalog import CATALOG
from graphsct.datasets.load import GENERATED
from graphsct.datasets.made_features import MADE_FEATURES
from graphsct.distributed import partition
from graphsct.nn import CONTROLS, MODELS
from graphsct.paper import paper
from graphsct.paper.figures import FIGURES
from graphsct.training.config import SELECTIONS
from graphsct.training.metrics import METRICS
from graphsct.training.precision import PRECISIONS


def commands():
    """Every command by its words, without groups."""
    group = typer.main.get_command(app)
    found = {}
    for name in group.list_commands(None):
        command = group.get_command(None, name)
        parts = getattr(command, "commands", None)
        found |= {(name, part): parts[part] for part in parts} if parts else {(name,): command}
    return found


COMMANDS = commands()
# Options, and the commands in which they mean something of their own.
HELP = {"data": ("reproduce",), "model": ("reproduce", "plan")}
HELP |= {"control": ("reproduce",), "depth": ("reproduce", "remedies"), "seeds": ("diagnose",)}
HELP |= {"root": (), "threads": (), "device": (), "as_json": ()}


def test_names_are_those_that_there_are():
    assert set(options.OF_THE_PAPER) == set(paper.TITLES)
    assert set(options.FROM_FILES) == set(CATALOG)
    assert set(options.DATASETS) == set(CATALOG) | set(GENERATED)
    assert all(MODELS[name].title == title for name, title in paper.MODELS.items())
    assert set(options.SELECTIONS) == set(SELECTIONS)
    assert list(options.METRICS) == list(METRICS)
    assert set(options.FEATURES) == set(MADE_FEATURES)
    assert list(options.PRECISIONS) == list(PRECISIONS)
    assert tuple(map(str, FIGURES)) == NUMBERS
    assert {*LEAKY} < {*CATALOG}
    assert tuple(partition.METHODS) == METHODS


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_takes_json_and_shows_examples(words):
    command = COMMANDS[words]
    assert "--json" in {name for param in command.params for name in param.opts}
    lines = lines_of(command.epilog)
    assert len(lines) >= 2
    assert lines[0].startswith(" ".join(("graphsct", *words)))
    result = CliRunner(env={"COLUMNS": "80", "TERMINAL_WIDTH": "80"}).invoke(
        app, [*words, "--help"]
    )
    for line in lines:
        assert f" {line} " in result.stdout  # on one line, to be copied


@pytest.mark.parametrize("name", HELP)
def test_the_same_option_has_the_same_words(name):
    found = set()
    for words, command in COMMANDS.items():
        if words[0] not in HELP[name]:
            found |= {param.help for param in command.params if param.name == name}
    assert len(found) == 1


def lines_of(epilog):
    return [line.strip() for line in epilog.splitlines() if line.strip().startswith("graphsct")]


EXAMPLES = sorted({line for command in COMMANDS.values() for line in lines_of(command.epilog)})


@pytest.mark.parametrize("line", EXAMPLES)
def test_examples_are_understood(line):
    words = shlex.split(line)[1:]
    size = 2 if tuple(words[:2]) in COMMANDS else 1
    command = COMMANDS[tuple(words[:size])]
    with command.make_context(" ".join(words[:size]), words[size:]) as ctx:
        assert not ctx.args


CHEAP = [
    "graphsct data list",
    "graphsct data list --root raw --json",
    "graphsct data statistics --json",
    "graphsct figure 1 --seed 7 --out pictures",
    "graphsct remedies list --json",
    "graphsct remedies show pair_norm",
    "graphsct reproduce sizes --report --markdown",
    "graphsct reproduce table1 --report",
]


@pytest.mark.parametrize("line", CHEAP)
def test_cheap_examples_run(line, tmp_path, monkeypatch):
    assert line in EXAMPLES
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GRAPHSCT_CACHE", str(tmp_path))
    monkeypatch.setenv("GRAPHSCT_DATA", str(tmp_path))
    result = CliRunner().invoke(app, shlex.split(line)[1:])
    assert result.exit_code == 0, result.output
    if "--json" in line:
        assert isinstance(json.loads(result.stdout), dict)


def ask(shell, line, monkeypatch):
    """What a shell would offer at the end of a line."""
    monkeypatch.setenv("_GRAPHSCT_COMPLETE", f"complete_{shell}")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", line)
    monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
    result = CliRunner().invoke(app, prog_name="graphsct")
    assert result.exit_code == 0
    return result.stdout.splitlines()


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("graphsct tr", ["train"]),
        ("graphsct data v", ["verify"]),
        ("graphsct data verify te", ["texas"]),
        ("graphsct data leaks ", ["chameleon", "squirrel"]),
        ("graphsct train --thr", ["--threads"]),
        ("graphsct train --data d", ["demo"]),
        ("graphsct train --control ", ["none", *CONTROLS]),
        ("graphsct search --model gcn", ["gcn", "gcnii"]),
        ("graphsct search --select ", list(options.SELECTIONS)),
        ("graphsct figure ", ["1", "2", "3", "4", "5"]),
        ("graphsct reproduce table1", ["table1", "table10", "table11"]),
        ("graphsct reproduce dep", ["depth"]),
        ("graphsct reproduce depth --data cora,ci", ["cora,citeseer"]),
        ("graphsct reproduce depth --control s", ["sct"]),
    ],
)
def test_bash_completes(line, offered, monkeypatch):
    assert [word for word in ask("bash", line, monkeypatch) if word] == offered


def test_zsh_and_fish_get_a_line_about_each(monkeypatch):
    assert ask("fish", "graphsct tra", monkeypatch) == [
        "train\tTrain a model on a data set with several seeds."
    ]
    assert '"depth":"Accuracy by depth' in ask("zsh", "graphsct reproduce dep", monkeypatch)[0]


def test_bash_itself_completes(tmp_path):
    program = tmp_path / "graphsct"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m graphsct "$@"\n')
    program.chmod(0o755)
    script = """
        eval "$(graphsct --show-completion)"
        complete -p graphsct
        COMP_WORDS=(graphsct train --control g) COMP_CWORD=3
        _graphsct_completion graphsct
        echo "${COMPREPLY[@]}"
    """
    env = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    line = ["bash", "--norc", "-c", script]
    result = subprocess.run(line, capture_output=True, text=True, check=True, env=env)
    assert result.stdout.splitlines() == [
        "complete -o default -F _graphsct_completion graphsct",
        "gated gated_full",
    ]
    assert result.stderr == ""


@pytest.mark.parametrize(
    ("arguments", "asked"),
    [
        (["--help"], None),
        (["--version"], None),
        (["train", "--help"], None),
        (["train", "--modle", "gcn"], None),
        (["figure", "one"], None),
        ([], "graphsct train --data c"),
        ([], "graphsct reproduce ta"),
    ],
)
def test_nothing_heavy_is_imported_to_help(arguments, asked):
    code = f"""
import sys
from graphsct.cli import app
try:
    app({arguments!r}, prog_name="graphsct")
finally:
    sys.stderr.write(f"heavy: {{sorted({{'torch', 'numpy', 'scipy'}} & set(sys.modules))}}")
"""
    env = dict(os.environ)
    if asked:
        env |= {"_GRAPHSCT_COMPLETE": "complete_bash", "COMP_WORDS": asked}
        env |= {"COMP_CWORD": str(len(asked.split()) - 1)}
    line = [sys.executable, "-c", code]
    result = subprocess.run(line, capture_output=True, text=True, check=False, env=env)
    assert result.stderr.endswith("heavy: []")
    assert result.stdout or result.returncode == 2


def test_brackets_in_examples_are_shown():
    shown = CliRunner(env={"COLUMNS": "120"}).invoke(app, ["data", "partition", "--help"]).stdout
    assert "(needs graphsct[metis]):" in shown


@pytest.mark.parametrize(
    "arguments",
    [
        ("train", "--seeds", 2**64),
        ("train", "--threads", 100_000),
        ("search", "--trials", 2**64),
        ("search", "--workers", 100_000),
    ],
)
def test_numbers_that_no_machine_can_serve_are_wrong_usage(arguments):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 2
    assert "less than or equal to" in result.stderr
