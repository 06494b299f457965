import ast
from pathlib import Path

import pytest

import graphsct

ROOT = Path(graphsct.__file__).parent
FOUNDATION = {"errors", "extras", "files", "names"}


def imports(path):
    """Top names below graphsct that a module imports, anywhere in it."""
    names = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return {name.split(".")[1] for name in names if name.startswith("graphsct.")}


def test_only_the_command_line_imports_the_paper():
    others = [p for p in ROOT.rglob("*.py") if p.relative_to(ROOT).parts[0] not in ("paper", "cli")]
    assert len(others) > 100
    assert [path for path in others if "paper" in imports(path)] == []


@pytest.mark.parametrize("room", ["plotting", "pages"])
def test_figures_and_pages_know_nothing_of_models(room):
    found = set().union(*(imports(path) for path in (ROOT / room).rglob("*.py")))
    assert found <= FOUNDATION | {room}
