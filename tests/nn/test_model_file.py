import sys
from dataclasses import is_dataclass

import own_model
import pytest

from graphsct import ModelError
from graphsct.nn import GCN, MODELS
from graphsct.nn.model_file import ModelSource, load_model, load_object

FILE = """
from __future__ import annotations
from dataclasses import dataclass
from naming import NAME
from graphsct.nn import GCN

@dataclass
class Sizes:
    width: int = 3

class Mine(GCN):
    name, title = NAME, "Mine"

def build(data): ...
"""


@pytest.fixture
def file(tmp_path, registry):
    (tmp_path / "naming.py").write_text("NAME = 'mine'\n")
    path = tmp_path / "my_model.py"
    path.write_text(FILE)
    yield path
    sys.modules.pop("naming", None)


def test_a_file_and_a_name():
    for wrong in ("my_model.py", "model.pt:build", ":Net"):
        with pytest.raises(ModelError, match=r"expected a file and a name in it: my_model\.py:Net"):
            load_object(wrong)


def test_the_file_is_executed_as_by_python(file):
    before = list(sys.path)
    model = load_model(f"{file}:Mine")
    assert model is MODELS["mine"]
    assert issubclass(model, GCN)
    assert is_dataclass(load_object(f"{file}:Sizes"))
    assert load_object(f"{file}:build").__name__ == "build"
    assert sys.path == before


def test_a_file_that_changes_is_executed_again(file):
    first = load_model(f"{file}:Mine")
    file.write_text(FILE.replace('"Mine"', '"Ours"'))  # within a second, and of the same size
    assert (first.title, load_model(f"{file}:mine").title) == ("Mine", "Ours")
    assert sorted(path.name for path in file.parent.glob("*.py*")) == ["my_model.py", "naming.py"]


def test_two_files_cannot_share_a_name(file):
    load_model(f"{file}:Mine")
    twin = file.with_name("twin.py")
    twin.write_text(FILE)
    with pytest.raises(ModelError, match=r"'mine' belongs to Mine of .*my_model\.py: give Mine an"):
        load_model(f"{twin}:Mine")


def test_a_file_that_fails_leaves_nothing(file):
    file.write_text("1 / 0\n")
    with pytest.raises(ModelError, match=r"my_model\.py, line 1: ZeroDivisionError: division by"):
        load_model(f"{file}:Mine")
    assert str(file) not in sys.modules


def test_the_source_of_a_model_registers_it_in_another_process(file):
    load_model(f"{file}:Mine")
    sources = [ModelSource.of(name) for name in ("mine", "hops", "gcn")]
    load_model(f"{file}:build")
    sources.append(ModelSource.of("my_model.py:build"))
    own = str(file.resolve())
    assert [s.module for s in sources] == [own, "own_model", "graphsct.nn.gcn", own]
    for source in sources:
        del MODELS[source.name]
        source.load()
        assert MODELS[source.name].name == source.name
    assert MODELS["hops"] is own_model.HopNetwork
    assert ModelSource.of("pyg:GAT") is None


def test_a_function_is_a_model_with_the_space_beside_it(file):
    file.write_text(FILE + 'space = {"heads": [1, 2], "hidden": (8,)}\n')
    made = load_model(f"{file}:build")
    assert made is MODELS["my_model.py:build"]
    assert made.search_space(None) == {"heads": (1, 2), "hidden": (8,)}
    assert load_model(f"{file}:Sizes").name == "my_model.py:Sizes"
    (file.parent / "other").mkdir()
    twin = file.parent / "other" / "my_model.py"
    twin.write_text("def build(data): ...")
    with pytest.raises(
        ModelError, match=r"'my_model\.py:build' belongs to .*my_model\.py: give one"
    ):
        load_model(f"{twin}:build")


@pytest.mark.parametrize(
    ("space", "message"),
    [
        ("[1]", "is a list, expected names and choices"),
        ("{'heads': 3}", "heads is 3, expected several choices"),
        ("{'heads': ()}", r"heads is \(\), expected several choices"),
        ("{'mode': 'cat'}", "mode is 'cat', expected several choices"),
    ],
)
def test_a_wrong_space_is_refused(file, space, message):
    file.write_text(f"{FILE}space = {space}\n")
    with pytest.raises(ModelError, match=rf"space in .*my_model\.py.* {message}"):
        load_model(f"{file}:build")
