import gzip
import shutil
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

from graphsct import DataError
from graphsct.datasets import CATALOG, Fractions, csbm, from_ogb, load, raw
from graphsct.datasets.readers.ogb import read_folder


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def write(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt") as handle:
        handle.writelines(",".join(map(str, row)) + "\n" for row in rows)


@pytest.fixture
def small(tmp_path):
    """A small graph in the raw layout of the Open Graph Benchmark, its edges one way."""
    data = csbm(40, 90, num_classes=3, num_features=4)
    folder = tmp_path / "ogbn_arxiv"
    edges = data.edge_index[:, data.edge_index[0] < data.edge_index[1]]
    write(folder / "raw/edge.csv.gz", edges.t().tolist())
    write(folder / "raw/node-feat.csv.gz", data.x.tolist())
    write(folder / "raw/node-label.csv.gz", data.y[:, None].tolist())
    write(folder / "raw/num-node-list.csv.gz", [[40]])
    write(folder / "raw/num-edge-list.csv.gz", [[90]])
    for name, mask in zip(("train", "valid", "test"), data.splits[0], strict=True):
        write(folder / f"split/time/{name}.csv.gz", mask.nonzero().tolist())
    return data, folder


def test_reads_what_was_written(small):
    data, folder = small
    table = read_folder(folder)
    assert table.masks.shape == (3, 1, 40)
    assert table.x.tolist() == data.x.tolist()
    assert table.y.tolist() == data.y.tolist()
    assert table.masks[2, 0].tolist() == data.test_mask.tolist()


def test_load_takes_it_if_the_counts_are_right(small, monkeypatch):
    data, folder = small
    with pytest.raises(DataError, match=r"not the files of Ogbn-arxiv.*'nodes': 40"):
        load("arxiv", folder.parent)
    sizes = "/".join(str(int(mask.sum())) for mask in data.splits[0])
    paper = replace(CATALOG["arxiv"].paper, edges=90, split=sizes)
    facts = replace(CATALOG["arxiv"].facts, nodes=40, features=4, classes=3)
    monkeypatch.setitem(CATALOG, "arxiv", replace(CATALOG["arxiv"], paper=paper, facts=facts))
    for _ in range(2):  # from the files, then from the cache
        loaded = load("arxiv", folder.parent)
        assert loaded.edge_index.equal(data.edge_index)
        assert loaded.x.equal(data.x)  # embeddings are not normalised
        assert loaded.test_mask.equal(data.test_mask)
    write(folder / "raw/node-label.csv.gz", [[0], [1], [2], *[[0]] * 37])
    assert not load("arxiv", folder.parent).y.equal(data.y)  # other files, other cache


def test_the_archive_is_downloaded_and_unpacked(small, tmp_path, monkeypatch):
    _, folder = small
    served = tmp_path / "served"
    served.mkdir()
    folder.rename(tmp_path / "arxiv")
    shutil.make_archive(str(served / "arxiv"), "zip", tmp_path, "arxiv")
    handler = partial(QuietHandler, directory=str(served))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        monkeypatch.setattr(raw, "_OGB_URL", f"http://127.0.0.1:{server.server_port}")
        found = raw.download(CATALOG["arxiv"], tmp_path / "root")
        server.shutdown()
        thread.join()
    assert {file.state for file in found} == {"unchecked"}
    assert len(read_folder(tmp_path / "root/ogbn_arxiv").y) == 40
    assert not list((tmp_path / "root").glob(".*.tmp"))


def test_a_missing_label_is_minus_one(small):
    _, folder = small
    write(folder / "raw/node-label.csv.gz", [["nan"], *[[1]] * 39])
    assert read_folder(folder).y.tolist() == [-1] + [1] * 39


def test_the_split_is_named_if_there_are_several(small):
    _, folder = small
    write(folder / "split/random/train.csv.gz", [[0]])
    with pytest.raises(DataError, match=r"holds \['random', 'time'\]; name one with scheme="):
        read_folder(folder)
    assert read_folder(folder, "time").masks.any()


def test_features_may_be_missing_and_years_are_kept(small):
    _, folder = small
    (folder / "raw/node-feat.csv.gz").unlink()
    write(folder / "raw/node_year.csv.gz", [[2000 + node] for node in range(40)])
    data = from_ogb(folder, symmetrize=True, features="degree", split=Fractions(0.5, 0.25))
    assert data.x.argmax(1).tolist() == (data.graph.adjacency.starts.diff() - 1).tolist()
    assert data.node_year[3] == 2003
    assert data.train_mask.equal(Fractions(0.5, 0.25).draw(data.y).train)
    write(folder / "raw/node_year.csv.gz", [[2000]])
    with pytest.raises(DataError, match=r"node_year.csv.gz has 1 lines"):
        from_ogb(folder)


BROKEN = {
    r"edge.csv.gz is missing": ("raw/edge.csv.gz", None),
    r"edge.csv.gz has 1 lines, but the count beside it says 90": ("raw/edge.csv.gz", [[0, 1]]),
    r"edge.csv.gz, line 3: \[2, 40\] is not in 0 .. 39": (
        "raw/edge.csv.gz",
        [[0, 1], [1, 0], [2, 40], *[[0, 1]] * 87],
    ),
    r"edge.csv.gz holds a table of shape \(90, 3\), expected 2": (
        "raw/edge.csv.gz",
        [[0] * 3] * 90,
    ),
    r"edge.csv.gz cannot be read: .*row 2": ("raw/edge.csv.gz", [[0, 1], [0, 1, 2]]),
    r"node-feat.csv.gz has 1 lines": ("raw/node-feat.csv.gz", [[1.0]]),
    r"node-feat.csv.gz cannot be read: could not convert": ("raw/node-feat.csv.gz", [["x"]]),
    r"node-label.csv.gz, line 2: 0.5 is not a class": ("raw/node-label.csv.gz", [[0], [0.5]] * 20),
    r"num-node-list.csv.gz lists 2 graphs": ("raw/num-node-list.csv.gz", [[40], [40]]),
    r"train.csv.gz, line 2: \[-1\] is not in": ("split/time/train.csv.gz", [[0], [-1]]),
    r"valid.csv.gz is missing": ("split/time/valid.csv.gz", None),
}


@pytest.mark.parametrize("message", BROKEN)
def test_broken_files_are_named(message, small):
    _, folder = small
    name, rows = BROKEN[message]
    if rows is None:
        (folder / name).unlink()
    else:
        write(folder / name, rows)
    with pytest.raises(DataError, match=message):
        read_folder(folder)


def test_damaged_and_empty_archives_are_named(small):
    _, folder = small
    path: Path = folder / "raw/node-feat.csv.gz"
    content = path.read_bytes()
    for damage in (content[:-20], b"", b"plain text", np.random.default_rng(0).bytes(100)):
        path.write_bytes(damage)
        with pytest.raises(DataError, match=r"node-feat.csv.gz"):
            read_folder(folder)


def test_a_folder_as_a_data_set(tmp_path):
    folder = tmp_path / "mine"
    write(folder / "raw/edge.csv.gz", [[0, 1], [1, 2], [2, 3]])
    write(folder / "raw/node-feat.csv.gz", [[1, 0], [0, 1], [2, 2], [1, 1]])
    write(folder / "raw/node-label.csv.gz", [[0], [1], [0], [1]])
    write(folder / "raw/num-node-list.csv.gz", [[4]])
    write(folder / "raw/num-edge-list.csv.gz", [[3]])
    for name, nodes in (("train", [0, 1]), ("valid", [2]), ("test", [3])):
        write(folder / f"split/random/{name}.csv.gz", [[node] for node in nodes])
    with pytest.raises(DataError, match=r"edge.csv.gz, edge 0: the graph is directed"):
        from_ogb(folder)
    data = from_ogb(folder, symmetrize=True, normalize=True)
    assert data.name == "mine"
    assert data.graph.num_edges == 3
    assert data.x.tolist() == [[1, 0], [0, 1], [0.5, 0.5], [0.5, 0.5]]
    assert data.train_mask.tolist() == [True, True, False, False]
