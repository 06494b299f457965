"""Readers of files that cannot be had here, on small files in the same layout."""

import json
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
import torch_geometric.datasets

from graphsct import DataError
from graphsct.datasets import CATALOG, demo, load


@pytest.fixture(scope="module")
def data():
    return demo()


def write_npz(path, data):
    masks = [np.stack([mask.numpy()] * 10) for mask in data.splits[0]]
    masks = dict(zip(("train_masks", "val_masks", "test_masks"), masks, strict=True))
    x, y = data.x.numpy(), data.y.numpy()
    np.savez(path, node_features=x, node_labels=y, edges=data.edge_index.t(), **masks)


def write_gnn_benchmark(path, data):
    n = data.num_nodes
    matrices = {
        "adj": sp.csr_array((np.ones(data.num_edges), data.edge_index.numpy()), shape=(n, n)),
        "attr": sp.csr_array((data.x > 0.3).numpy().astype(np.float32) * 3),
    }
    parts = {"labels": data.y.numpy(), "class_names": np.array([{}])}  # a pickle nobody may read
    for name, matrix in matrices.items():
        for part in ("data", "indices", "indptr", "shape"):
            parts[f"{name}_{part}"] = np.array(getattr(matrix, part))
    np.savez(path, **parts)


def write_wikics(path, data):
    train, val, test = (mask.tolist() for mask in data.splits[0])
    links = [data.edge_index[1][data.edge_index[0] == node].tolist() for node in range(300)]
    content = dict(features=data.x.tolist(), labels=data.y.tolist(), links=links)
    masks = dict(train_masks=[train] * 20, val_masks=[val] * 20, test_mask=test)
    path.write_text(json.dumps(content | masks))


WRITERS = {
    "roman_empire": (write_npz, 10),
    "amazon_ratings": (write_npz, 10),
    "tolokers": (write_npz, 10),
    "questions": (write_npz, 10),
    "amazon_photo": (write_gnn_benchmark, 1),
    "amazon_computers": (write_gnn_benchmark, 1),
    "coauthor_cs": (write_gnn_benchmark, 1),
    "wikics": (write_wikics, 20),
}


def write(name, data, root):
    entry = CATALOG[name]
    path = root / entry.folder / entry.raw[0]
    path.parent.mkdir(parents=True, exist_ok=True)
    WRITERS[name][0](path, data)
    return path


@pytest.mark.parametrize("name", WRITERS)
def test_the_layout_is_read_if_the_counts_are_right(name, data, tmp_path, monkeypatch):
    write(name, data, tmp_path)
    with pytest.raises(DataError, match=rf"not the files of {CATALOG[name].title}.*'nodes': 300"):
        load(name, tmp_path)
    facts = replace(CATALOG[name].facts, nodes=300, features=16, classes=3)
    monkeypatch.setitem(CATALOG, name, replace(CATALOG[name], facts=facts))
    for _ in range(2):  # from the file, then from the cache
        found = load(name, tmp_path)
        assert found.edge_index.equal(data.edge_index)
        assert found.y.equal(data.y)
        assert len(found.splits) == WRITERS[name][1]
    if found.metric == "roc_auc" or len(found.splits) > 1:
        assert found.x.equal(data.x)
        assert found.test_mask.equal(data.test_mask)
    else:
        assert found.x.equal((data.x > 0.3).float())


@pytest.mark.parametrize("name", WRITERS)
def test_another_file_is_named(name, data, tmp_path):
    path = write(name, data, tmp_path)
    path.write_text("{}")
    with pytest.raises(DataError, match=path.name):
        load(name, tmp_path)


@pytest.mark.parametrize("name", ["tolokers", "amazon_photo", "coauthor_cs", "wikics", "actor"])
def test_a_download_that_fails_names_the_files_and_the_place(name, tmp_path, monkeypatch):
    source = getattr(torch_geometric.datasets, CATALOG[name].source)
    monkeypatch.setattr(source, "url", "http://127.0.0.1:9/")  # nobody listens there
    message = rf"could not be downloaded .*put these files into {tmp_path}/.*{CATALOG[name].raw[0]}"
    with pytest.raises(DataError, match=message):
        load(name, tmp_path)
