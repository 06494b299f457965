import sys
from dataclasses import is_dataclass

import own_model
import pytest

from graphsct import ModelError
from graphsct.nn import GCN, MODELS
from graphsct.nn.model_file import ModelSource, call_constructor, load_model, load_object

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
    assert [s.module for s in sources] == [str(file.resolve()), "own_model", "graphsct.nn.gcn"]
    for source in sources:
        del MODELS[source.name]
        source.load()
        assert MODELS[source.name].__name__ == source.class_name
    assert MODELS["hops"] is own_model.HopNetwork


def test_errors_of_a_constructor():
    with pytest.raises(ModelError, match=r"GCN cannot be built: TypeError: .* argument 'heads'"):
        call_constructor(GCN, "GCN", 3, 4, 2, 1, heads=3)
    with pytest.raises(ModelError, match=r"^in_channels is 0, expected"):
        call_constructor(GCN, "GCN", 0, 4, 2, 1)
