import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import graphsct


def test_public_names_are_there_and_listed():
    for name in graphsct.__all__:
        assert getattr(graphsct, name) is not None
        assert name in dir(graphsct)
    assert graphsct.Graph.__module__ == "graphsct.graph.graph"
    assert graphsct.smoothness.__name__ == "graphsct.smoothness"
    assert graphsct.__version__ == version("graphsct")


def test_source_that_is_not_installed_has_no_version():
    source = Path(graphsct.__file__).parents[1]
    line = [sys.executable, "-S", "-c", "import graphsct; print(graphsct.__version__)"]
    found = subprocess.check_output(line, env={"PYTHONPATH": str(source)}, text=True)
    assert found == "0+unknown\n"


def test_other_names_are_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Grph'"):
        _ = graphsct.Grph


@pytest.mark.parametrize("statement", ["import graphsct", "from graphsct.cli import app"])
def test_start_up_imports_nothing_heavy(statement):
    heavy = "{'torch', 'numpy', 'scipy', 'matplotlib', 'networkx', 'torch_geometric'}"
    code = f"{statement}; import sys; print(sorted({heavy} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_a_library_logs_nothing_unless_asked():
    code = "import graphsct, logging; logging.getLogger('graphsct.nn').warning('heard')"
    for more, heard in {"": "", "; logging.basicConfig()": "WARNING:graphsct.nn:heard\n"}.items():
        line = [sys.executable, "-c", code.replace(";", f"{more};", 1)]
        run = subprocess.run(line, capture_output=True, text=True, check=True)
        assert run.stderr == heard


def test_names_come_at_first_use():
    code = "from graphsct import Graph, smoothness; print(Graph([[0, 1], [1, 0]]))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "Graph(num_nodes=2, num_edges=1, num_components=1)"


def test_every_package_is_an_attribute_after_the_import():
    names = ["datasets", "diagnosis", "distributed", "geometry", "nn", "search", "smoothness"]
    names += ["remedies", "training"]
    code = f"import graphsct; print([getattr(graphsct, name).__name__ for name in {names}])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == str([f"graphsct.{name}" for name in names])
