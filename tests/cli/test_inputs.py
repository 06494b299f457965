import pytest

from graphsct import DataError, ModelError
from graphsct.cli import inputs

MODEL = """
from graphsct import nn

@nn.register
class Mine(nn.GCN):
    name, title = "mine", "Mine"
"""


@pytest.fixture
def folder(tmp_path):
    """Two triangles with labels and no split."""
    (tmp_path / "edges.csv").write_text("0,1\n1,2\n2,0\n3,4\n4,5\n5,3\n")
    (tmp_path / "labels.csv").write_text("0\n1\n0\n1\n0\n1\n")
    return tmp_path


def test_a_name_is_a_data_set_and_a_folder_the_users_own(folder, capsys):
    assert inputs.load_or_read("demo", None, symmetrize=False).num_nodes == 300
    assert capsys.readouterr().err == ""
    data = inputs.load_or_read(str(folder), None, symmetrize=True)
    assert data.graph.num_edges == 6
    assert data.train_mask.any()
    assert (
        "has no split: drawing 48% of each class for training, 32% for" in capsys.readouterr().err
    )
    with pytest.raises(DataError, match="symmetrize=True"):
        inputs.load_or_read(str(folder), None, symmetrize=False)
    with pytest.raises(DataError, match="is a folder, whose features cannot be normalized"):
        inputs.load_or_read(str(folder), None, symmetrize=True, normalize=True)


def test_values_of_options_are_json_words_or_strings():
    given = ["a=1", "b=0.5", "c=true", "d=False", "e=None", "f-g=null", "h=[1, 2]", "i=x=y"]
    found = inputs.read_options(given)
    expected = dict(a=1, b=0.5, c=True, d=False, e=None, f_g=None, h=[1, 2], i="x=y")
    assert found == expected and list(map(type, found.values())) == list(
        map(type, expected.values())
    )
    for wrong in ("residual", "=1"):
        with pytest.raises(ModelError, match=f"--option {wrong} is not NAME=VALUE"):
            inputs.read_options([wrong])


def test_settings_are_those_that_were_given():
    given = {"depth": 3, "hidden": None, "control": "none", "out": "x", "more": ["beta=2", "k=1"]}
    names = ("depth", "hidden", "control", "beta")
    assert inputs.settings(given, names) == {
        "depth": 3,
        "control": None,
        "beta": 2,
        "options": {"k": 1},
    }


def test_a_file_is_executed_and_says_so(tmp_path, capsys, registry):
    path = tmp_path / "my_model.py"
    path.write_text(MODEL)
    assert inputs.settings({"model": f"{path}:Mine"}, ["model"]) == {"model": "mine"}
    assert capsys.readouterr().err == f"executing {path}\n"
    assert inputs.model_name("gcn") == "gcn"
    assert capsys.readouterr().err == ""
