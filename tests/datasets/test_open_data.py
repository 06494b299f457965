import json

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from graphsct import DataError
from graphsct.datasets import Fractions, GraphList, PerClass, demo, open_data

FILE = """
from graphsct.datasets import demo

graphs = [demo(seed) for seed in range(8)]
for number, graph in enumerate(graphs):
    graph.y = number % 2


def load():
    return demo()


def broken():
    raise RuntimeError("no luck")
"""


@pytest.fixture(scope="module")
def data():
    return demo()


@pytest.fixture
def here(tmp_path, data, monkeypatch, registry):
    """A folder with the same graph in every form; it is the working directory."""
    monkeypatch.chdir(tmp_path)
    parts = {"edges": data.edge_index, "features": data.x, "labels": data.y}
    for folder in ("mine", "cora", "demo"):
        (tmp_path / folder).mkdir()
        for name, part in parts.items():
            np.save(tmp_path / folder / f"{name}.npy", part.numpy())
    masks = [mask.numpy()[None] for mask in data.splits[0]]
    masks = dict(zip(("train_masks", "val_masks", "test_masks"), masks, strict=True))
    graph = dict(edges=data.edge_index.t(), node_features=data.x, node_labels=data.y)
    np.savez(tmp_path / "whole.npz", **graph, **masks)
    (tmp_path / "my_data.py").write_text(FILE)
    return tmp_path


@pytest.mark.parametrize("source", ["mine", "./cora", "whole.npz", "my_data.py:load"])
def test_the_same_graph_from_every_form(source, here, data):
    found = open_data(source)
    assert found.x.equal(data.x)
    assert found.edge_index.equal(data.edge_index)
    assert found.source["path"] == str(here / source)
    assert json.loads(json.dumps(found.source)) == found.source
    again = open_data(found.source["path"])
    assert again.train_mask.equal(found.train_mask)


def test_a_name_of_the_catalogue_is_the_data_set_and_not_a_folder(here, data):
    assert open_data("Demo").name == "demo (generated)"
    assert open_data("Demo").source == {"name": "demo", "normalize": False}
    assert open_data("./demo").name == open_data(here / "demo").name == "demo"


def test_a_split_is_drawn_if_asked_for_or_if_there_is_none(here, data):
    assert "split" not in open_data("whole.npz").source
    assert open_data("whole.npz").train_mask.equal(data.train_mask)
    drawn = open_data("whole.npz", split=PerClass(5, 6, seed=1))
    assert int(drawn.train_mask.sum()) == 15
    assert drawn.source["split"] == {"kind": "PerClass", "train": 5, "val": 6, "seed": 1}
    assert open_data("mine").source["split"]["kind"] == "Fractions"
    assert open_data("demo", split=Fractions(0.5, 0.25)).train_mask.sum() == 150
    np.save(here / "mine/labels.npy", np.full(300, -1))
    with pytest.raises(DataError, match="has no label at all"):
        open_data("mine")
    (here / "mine/labels.npy").unlink()
    assert not hasattr(open_data("mine"), "train_mask")
    with pytest.raises(DataError, match="mine has no labels and no targets"):
        open_data("mine", split=Fractions())


def test_objects_and_lists(here, data):
    assert open_data(data).train_mask.equal(data.train_mask)
    assert open_data([data]).source == {"name": "data", "normalize": False}
    graphs = open_data("my_data.py:graphs", split=Fractions(0.4, 0.3))
    assert isinstance(graphs, GraphList)
    assert (len(graphs), graphs.name) == (8, "my_data")
    assert graphs.source["path"].endswith("my_data.py:graphs")
    assert open_data(graphs) is graphs


def test_options_reach_every_form(here):
    for source in ("mine", "whole.npz", "my_data.py:load", "demo"):
        sums = open_data(source, normalize=True).x.abs().sum(1)
        torch.testing.assert_close(sums, torch.ones(300))
    once = Data(edge_index=torch.tensor([[0, 1], [1, 2]]), num_nodes=3)
    made = open_data(once, symmetrize=True, features="one_hot")
    assert made.x.equal(torch.eye(3))
    assert made.source == {
        "name": "data",
        "normalize": False,
        "symmetrize": True,
        "features": "one_hot",
    }
    with pytest.raises(DataError, match=r"data has no features; make some.*features='degree'"):
        open_data(once, symmetrize=True)
    with pytest.raises(DataError, match="there is no features 'dgree', did you mean 'degree'"):
        open_data(once, symmetrize=True, features="dgree")


WRONG = {
    "corra": r"no data set, file or folder 'corra', did you mean 'cora'\?",
    "my_data.py": r"'my_data.py' names a file, but nothing in it; expected my_data.py:NAME",
    "my_data.py:lod": r"my_data.py does not define 'lod', did you mean 'load'\?",
    "my_data.py:broken": r"broken\(\) in my_data.py failed: RuntimeError: no luck",
    "nowhere.py:load": "there is no file nowhere.py",
    "mine/edges.npy": r"edges.npy is not a .npz with a whole graph; put it into a folder",
}


@pytest.mark.parametrize("source", WRONG)
def test_what_cannot_be_opened_is_named_with_the_way_out(source, here):
    with pytest.raises(DataError, match=WRONG[source]):
        open_data(source)
