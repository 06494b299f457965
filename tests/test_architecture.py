"""The rooms of the package, who may import whom, and tests that stand where the source stands."""

import ast
from collections import defaultdict
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

import graphsct

SOURCE = Path(graphsct.__file__).parent
TESTS = Path(__file__).parent

#: Shared by all rooms.
BOTTOM = {"errors", "extras", "files", "names", "python_file", "records", "safe_path"}
#: The rooms that each room may import, besides the bottom.
ARROWS = {
    "graph": set(),
    "smoothness": {"graph"},
    "geometry": {"graph"},
    "nn": {"graph", "smoothness", "geometry"},
    "datasets": {"graph"},
    "engine": {"graph", "nn", "datasets"},
    "training": {"graph", "nn", "datasets", "engine"},
    "plotting": set(),
    "pages": set(),
    "search": {"graph", "nn", "datasets", "training", "plotting", "pages"},
    "distributed": {"graph", "nn", "datasets", "training"},
}
ARROWS["remedies"] = ARROWS["search"]
ARROWS["diagnosis"] = ARROWS["search"] | {"smoothness", "geometry", "remedies"}
ARROWS["paper"] = ARROWS["diagnosis"] | {"diagnosis", "search"}
ARROWS["cli"] = ARROWS["paper"] | {"paper", "distributed"}
ARROWS["__main__"] = {"cli"}
#: Arrows that begin or end in a few modules only: ``{arrow: (from, to)}``.
NARROW = {
    ("engine", "datasets"): (None, {"datasets.splits", "datasets.targets"}),
    ("training", "engine"): ({"training.backend", "training.bench"}, None),
}
#: Names of several modules that mean the same in each. A module of ``cli`` is named after its
#: command, and a package may hold a module of its own name.
SAME_MEANING = {
    "activations",  # the functions that nn applies and geometry has a theory of
    "backend",  # the protocol, and the backend of many processes
    "connections",  # between layers, and as remedies
    "controls",  # of a model, and as remedies
    "curves",
    "dropout",  # of a model, and as the engine records it
    "drops",  # of nodes and messages, and as remedies
    "features",  # feature matrices
    "figures",
    "fit",  # in one process or in many
    "normalized",  # the control, and as the engine records it
    "norms",  # of a model, as the engine records them, and as remedies
    "page",
    "progress",
    "remedies",  # the catalogue, and those that a diagnosis tries
    "seeds",  # in one process or in many
    "starts",  # of weights, and as remedies
    "tables",
    "target",  # the control, and as the engine records it
    "words",
}

#: Tests of more than one module.
WHOLE = {
    # commands that are disturbed
    "chaos/test_cut_link",
    "chaos/test_full_disk",
    "chaos/test_interrupt",
    "chaos/test_kill",
    "chaos/test_two_at_once",
    "test_architecture",
    "test_browser",  # the helper that opens pages
    "test_contributing",
    "test_docs",
    "test_edited_edges",  # every function that takes data
    "test_own_model",  # every part of the product with a model of a user
    "test_verdict_cases",  # models that one number gets wrong
    "test_examples",
    "test_readme",
    "test_statements",  # the statements of the paper
    "test_wheel",  # what is built, in an environment of its own
    "fuzz/test_call",  # wrong inputs of every kind, of which only errors of ours may come
    "fuzz/test_read_data",
    "fuzz/test_read_records",
    "distributed/test_exactness",  # losses and gradients of every model, in any number of processes
    "pages/test_explore_page",  # the page's scripts in a browser
    "search/test_together",  # two processes of which one is killed
    "training/test_reference",  # results stored by earlier versions
}


#: Modules without a test of their own.
UNTESTED = {
    "test___main__",  # two lines, run by cli/test_processes
}


class Import(NamedTuple):
    """An import of one module of the package by another; names without ``graphsct.``."""

    module: str
    target: str
    name: str | None

    @property
    def rooms(self):
        return self.module.split(".")[0], self.target.split(".")[0]


def modules(root):
    """Paths by module name without ``graphsct.``, packages included."""
    names = {path: path.relative_to(root).with_suffix("").parts for path in root.rglob("*.py")}
    found = {".".join(p for p in parts if p != "__init__"): path for path, parts in names.items()}
    return dict(sorted(found.items()))


def parse(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def statements(node):
    """All nodes below one, without those that only a type checker reads."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            child = ast.Module(child.orelse)
        yield child
        yield from statements(child)


def imports(root):
    """Every import of a module of the package, also inside functions."""
    known = modules(root)
    for module, path in known.items():
        for node in statements(parse(path)):
            if isinstance(node, ast.Import):
                found = [(alias.name, None) for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{path} has a relative import"
                found = [(str(node.module), alias.name) for alias in node.names]
            else:
                continue
            for target, name in found:
                package, _, inner = target.partition(".")
                if package != "graphsct":
                    continue
                deeper = ".".join(filter(None, (inner, name)))
                yield Import(module, *((deeper, None) if deeper in known else (inner, name)))


def rooms(root):
    """The rooms and files at the top, each with those that it imports."""
    found = defaultdict(set, {name.split(".")[0]: set() for name in modules(root) if name})
    for line in imports(root):
        here, there = line.rooms
        if here and there and here != there:
            found[here].add(there)
    return found


def forbidden(line):
    """Whether an arrow between two rooms is not in the plan."""
    here, there = line.rooms
    if here == there:
        return False
    if not there:
        return line.name != "__version__"
    if there in BOTTOM:
        return False
    starts, ends = NARROW.get(line.rooms, (None, None))
    return (
        there not in ARROWS.get(here, set())
        or (starts is not None and line.module not in starts)
        or (ends is not None and line.target not in ends)
    )


def is_private(name):
    return name.startswith("_") and not name.endswith("__")


def private(root):
    """Imports of private names and from private modules."""
    for line in imports(root):
        parts = [*line.target.split("."), line.name or ""]
        if any(map(is_private, parts)):
            yield line


def namesakes(found):
    """Groups of more than one place for one name."""
    places = defaultdict(list)
    for name, place in found:
        places[name].append(place)
    return {name: group for name, group in places.items() if len(group) > 1}


def classes(root):
    for module, path in modules(root).items():
        for node in parse(path).body:
            if isinstance(node, ast.ClassDef) and not is_private(node.name):
                yield node.name, module


def module_names(root):
    for name in modules(root):
        *rest, last = name.split(".")
        if name and last not in rest and "cli" not in rest:
            yield last, name


def test_the_graph_of_rooms_has_no_cycle():
    found = rooms(SOURCE)
    order = list(TopologicalSorter(found).static_order())
    print()
    for room in order:
        print(f"{room:12} -> {', '.join(sorted(found[room] - BOTTOM)) or '-'}")
    assert set(ARROWS) | BOTTOM == set(order)


def test_every_arrow_is_in_the_plan():
    assert [line for line in imports(SOURCE) if forbidden(line)] == []


def test_the_plan_is_consistent():
    TopologicalSorter(ARROWS).prepare()
    assert all(there in ARROWS[here] for here, there in NARROW)


def test_no_private_name_crosses_a_module():
    assert list(private(SOURCE)) == []


def test_a_name_means_one_thing():
    assert namesakes(classes(SOURCE)) == {}
    shared = namesakes(module_names(SOURCE))
    assert set(shared) == SAME_MEANING, shared


@pytest.fixture
def house(tmp_path):
    """A package with a fault of each kind."""
    files = {
        "__init__.py": "__version__ = '1'",
        "errors.py": "from graphsct import __version__",
        "graph/__init__.py": "",
        "graph/graph.py": "def late():\n    from graphsct.nn.gcn import _weight",
        "nn/gcn.py": "import graphsct.graph\nfrom graphsct import errors, Graph\nclass A: ...",
        "engine/gcn.py": "from graphsct.datasets.load import load\nclass A: ...\nclass _B: ...",
        "datasets/load.py": "if TYPE_CHECKING:\n    import graphsct.cli\nclass _B: ...",
        "training/fit.py": "if not TYPE_CHECKING:\n    from graphsct.engine import gcn",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_faults_are_found(house):
    assert [line for line in imports(house) if forbidden(line)] == [
        ("engine.gcn", "datasets.load", "load"),
        ("graph.graph", "nn.gcn", "_weight"),
        ("nn.gcn", "", "Graph"),
        ("training.fit", "engine.gcn", None),
    ]
    with pytest.raises(CycleError, match="graph"):
        TopologicalSorter(rooms(house)).prepare()
    assert list(private(house)) == [("graph.graph", "nn.gcn", "_weight")]
    assert namesakes(classes(house)) == {"A": ["engine.gcn", "nn.gcn"]}
    assert namesakes(module_names(house)) == {"gcn": ["engine.gcn", "nn.gcn"]}


def mirrored(root):
    """The tests of modules, and those that packages as a whole may have."""
    own, whole = set(), set()
    for name, path in modules(root).items():
        parts = name.split(".") if name else []
        if path.stem == "__init__":
            whole.add("/".join([*parts, f"test_{(parts or ['package'])[-1]}"]))
        else:
            own.add("/".join([*parts[:-1], f"test_{parts[-1]}"]))
    return own, whole


def test_tests_stand_where_the_source_stands():
    """A module is tested under its own name, a package as a whole under the package's name."""
    own, whole = mirrored(SOURCE)
    found = {str(path.relative_to(TESTS).with_suffix("")) for path in TESTS.rglob("test_*.py")}
    assert found - own - whole == WHOLE
    assert own - found == UNTESTED


def test_every_module_of_a_package_wants_a_test(house):
    own, whole = mirrored(house)
    assert own >= {"test_errors", "nn/test_gcn", "graph/test_graph", "datasets/test_load"}
    assert whole == {"test_package", "graph/test_graph"}
