import copy
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch_geometric import transforms as T
from torch_geometric.datasets import WebKB
from torch_geometric.nn import SAGEConv
from torch_geometric.utils import homophily, is_undirected

from graphsct import DataError
from graphsct.datasets import CATALOG, describe, load, verify
from graphsct.datasets.catalog import find
from graphsct.datasets.load import is_here

HERE = [name for name, entry in CATALOG.items() if entry.facts.components and name != "arxiv"]
SPLITS = {
    "cora": (140, 500, 1000),
    "citeseer": (120, 500, 1000),
    "pubmed": (60, 500, 1000),
    "physics": (100, 150, 34243),
    "cornell": (87, 59, 37),
    "texas": (87, 59, 37),
    "wisconsin": (120, 80, 51),
    "chameleon": (1092, 729, 456),
    "squirrel": (2496, 1664, 1041),
    "cornell_as_served": (87, 59, 37),
    "physics_egnn": (100, 150, 34243),
    "minesweeper": (5000, 2500, 2500),
    "chameleon_filtered": (409, 287, 194),
    "squirrel_filtered": (1053, 718, 452),
    "actor": (3648, 2432, 1520),
    "arxiv_graph": (90941, 29799, 48603),
}
TEN = {"minesweeper", "chameleon_filtered", "squirrel_filtered", "actor"}
LOOPS = {"cornell": 3, "texas": 16, "wisconsin": 16, "chameleon": 50, "squirrel": 140}
LOOPS["cornell_as_served"] = 3


@pytest.mark.parametrize("name", HERE)
def test_real_set_is_as_the_catalogue_says(name, warm):
    made = None if CATALOG[name].facts.features else "degree"
    data = load(name, warm, features=made)
    facts = describe(data)
    facts = replace(facts, features=0 if made else facts.features)
    assert replace(facts, homophily=round(facts.homophily, 2)) == CATALOG[name].facts
    assert data.metric == CATALOG[name].metric
    labelled = data.edge_index[:, (data.y[data.edge_index] >= 0).all(0)]
    assert facts.homophily == pytest.approx(homophily(labelled, data.y), abs=1e-6)
    assert data.validate()
    assert data.name == name
    assert is_undirected(data.edge_index)
    assert data.edge_index.unique(dim=1).shape == data.edge_index.shape
    assert int((data.edge_index[0] == data.edge_index[1]).sum()) == LOOPS.get(name, 0)
    assert tuple(int(mask.sum()) for mask in data.splits[0]) == SPLITS[name]
    assert len(data.splits) == (10 if name in {*LOOPS, *TEN} else 1)
    assert (data.x.layout == torch.strided) is (name not in ("physics", "physics_egnn"))
    scaled = load(name, warm, normalize=True, features=made).x
    sums = scaled.abs() @ torch.ones(scaled.shape[1], 1)
    assert ((sums - 1).abs() < 1e-5).logical_or(sums == 0).all()


@pytest.mark.parametrize("name", sorted(LOOPS))
def test_ten_splits_are_48_32_20_and_each_can_be_had(name, warm):
    data = load(name, warm, split=7)
    assert data.train_mask.equal(data.splits[7].train)
    assert not data.train_mask.equal(data.splits[0].train)
    for split in data.splits:
        shares = [float(mask.double().mean()) for mask in split]
        assert shares == pytest.approx([0.48, 0.32, 0.20], abs=0.01)
    with pytest.raises(DataError, match="has 10 splits; split=10"):
        load(name, warm, split=10)


def test_cornell_is_not_texas_and_cornell_as_served_is(warm):
    cornell, texas = load("Cornell", warm), load("texas", warm)
    served = load("cornell_as_served", warm)
    assert not cornell.y.equal(texas.y)
    assert served.y.equal(texas.y)
    assert served.x.equal(texas.x)
    assert served.edge_index.equal(cornell.edge_index)
    assert served.test_mask.equal(cornell.test_mask)


def test_citeseer_nodes_without_a_label_row_have_no_label(warm):
    data = load("citeseer", warm)
    blank = data.y == -1
    assert int(blank.sum()) == 15
    assert int((data.graph.degree == 1).sum()) == 48
    assert not any((blank & mask).any() for mask in data.splits[0])


def test_physics_has_the_features_of_the_file_and_a_split_from_the_seed(warm):
    data = load("physics", warm)
    with np.load(warm / "Coauthor/Physics/raw/ms_academic_phy.npz") as file:
        assert data.x.crow_indices().numpy().tolist() == file["attr_indptr"].tolist()
        columns = np.sort(file["attr_indices"][: file["attr_indptr"][1]])
        assert data.x.col_indices()[: len(columns)].tolist() == columns.tolist()
        assert data.y.tolist() == file["labels"].tolist()
    assert bool((data.x.values() == 1).all())
    for mask, count in ((data.train_mask, 20), (data.val_mask, 30)):
        assert torch.bincount(data.y[mask]).tolist() == [count] * 5
    assert load("physics", warm).train_mask.equal(data.train_mask)
    assert not load("physics", warm, seed=1).train_mask.equal(data.train_mask)


def test_egnns_split_of_physics_is_the_one_its_code_draws(warm):
    data = load("physics_egnn", warm, seed=7)
    assert data.name == "physics_egnn"
    torch.manual_seed(100)
    for label in range(5):
        nodes = (data.y == label).nonzero()[:, 0]
        nodes = nodes[torch.randperm(len(nodes))]
        for mask, own in zip(data.splits[0], (nodes[:20], nodes[20:50], nodes[50:]), strict=True):
            assert bool(mask[own].all())
    assert data.train_mask.nonzero()[:5, 0].tolist() == [100, 481, 580, 729, 755]


def test_features_as_they_are(warm):
    data = load("texas", warm)
    assert set(data.x.unique().tolist()) == {0.0, 1.0}


def test_root_from_the_environment_and_processed_files_in_the_cache(real, cache, monkeypatch):
    monkeypatch.setenv("GRAPHSCT_DATA", str(real))
    first = load("texas")
    (processed,) = (cache / "processed").glob("*.npz")
    written = processed.stat().st_mtime_ns
    assert load("texas").x.equal(first.x)
    assert processed.stat().st_mtime_ns == written
    assert not list(real.rglob("processed"))
    monkeypatch.delenv("GRAPHSCT_DATA")
    assert load("texas").y.equal(first.y)  # processed before: no raw file, no network needed


def test_what_is_here_needs_no_download(real, tmp_path):
    assert not is_here("texas", tmp_path / "nowhere")
    assert is_here("texas", real) and not is_here("arxiv", real)
    load("texas", real)
    assert is_here("texas", tmp_path / "nowhere")  # processed before


def test_a_damaged_cache_is_made_anew(real, cache):
    expected = load("texas", real)
    (processed,) = (cache / "processed").glob("*.npz")
    content = bytearray(processed.read_bytes())
    for damage in (content[: len(content) // 2], b"", content[:200] + b"X" + content[201:]):
        processed.write_bytes(damage)
        data = load("texas", real)
        assert data.x.equal(expected.x)
        assert data.edge_index.equal(expected.edge_index)


def copy_raw(real, root, name):
    folder = find(name).folder
    shutil.copytree(real / folder, root / folder)
    for path in (root / folder).iterdir():
        path.chmod(0o644)
    return root / folder


def test_a_wrong_file_is_refused_before_it_is_read(real, tmp_path):
    folder = copy_raw(real, tmp_path, "cora")
    (folder / "ind.cora.allx").write_bytes(b"cos\nsystem\n(S'touch pwned'\ntR.")
    with pytest.raises(
        DataError, match=r"ind.cora.allx is not Cora's file: its SHA256 is [0-9a-f]"
    ):
        load("cora", tmp_path)
    states = {file.name: file.state for file in verify("cora", tmp_path)}
    assert states.pop("ind.cora.allx") == "wrong"
    assert set(states.values()) == {"ok"}


def test_texas_under_cornells_name_is_refused_unless_asked_for(real, tmp_path):
    folder = copy_raw(real, tmp_path, "cornell")
    name = "out1_node_feature_label.txt"
    shutil.copyfile(real / CATALOG["texas"].folder / name, folder / name)
    with pytest.raises(DataError, match=r"is Texas's file under Cornell's name.*'cornell_as_serv"):
        load("cornell", tmp_path)
    assert load("cornell_as_served", tmp_path).y.equal(load("texas", real).y)


def test_a_root_with_the_wrong_file_is_refused_though_the_cache_has_the_right_one(real, tmp_path):
    load("texas", real)
    folder = copy_raw(real, tmp_path, "texas")
    (folder / "out1_graph_edges.txt").write_text("nothing")
    with pytest.raises(DataError, match="is not Texas's file"):
        load("texas", tmp_path)


def test_drop_duplicates_only_where_there_are_some(warm):
    with pytest.raises(DataError, match="Texas has no known duplicates"):
        load("texas", warm, drop_duplicates=True)


def test_made_up_sets_by_name():
    assert load("Demo").graph.num_nodes == 300
    assert not load("demo", seed=1).x.equal(load("demo").x)
    with pytest.raises(DataError, match="demo is generated, with one split"):
        load("demo", split=1)
    rows = load("demo", normalize=True).x.abs().sum(1)
    torch.testing.assert_close(rows, torch.ones(300))


def test_a_loaded_set_moves_and_clones_as_a_whole(warm):
    data = load("texas", warm)
    for other in (data.clone(), data.to("cpu")):
        assert other.x.equal(data.x)
    moved = data.to("meta")
    assert moved.splits[3].test.device.type == moved.graph.device.type == "meta"


LOAD = "import sys, graphsct.datasets as d; print(d.load(*sys.argv[1:]).graph)"


def start(*args):
    command = [sys.executable, "-W", "ignore", "-c", LOAD, *map(str, args)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_two_processes_at_once_into_an_empty_cache_both_succeed(real, cache):
    both = [start("wisconsin", real) for _ in range(2)]
    for process in both:
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        assert out == "Graph(num_nodes=251, num_edges=450, num_components=1)\n"
    left = [path for path in (cache / "processed").iterdir() if path.suffix != ".lock"]
    assert len(left) == 1


def test_a_process_killed_in_the_middle_leaves_nothing_broken(real, cache):
    process = start("chameleon", real)
    folder = cache / "processed"
    deadline = time.monotonic() + 60
    while not list(folder.glob(".chameleon-*.tmp/*")):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert list(folder.glob(".chameleon-*.tmp"))
    assert not list(folder.glob("*.npz"))
    assert load("chameleon", real).graph.num_edges == 31371
    assert not list(folder.glob(".chameleon-*.tmp"))


def test_a_cache_that_cannot_be_written_is_named(real, tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("GRAPHSCT_CACHE", str(blocked / "cache"))
    with pytest.raises(DataError, match=r"cannot write to .*set GRAPHSCT_CACHE"):
        load("texas", real)


def test_a_graph_without_features_asks_for_some(warm):
    with pytest.raises(DataError, match=r"arxiv_graph has no features.*features='degree'"):
        load("arxiv_graph", warm)
    data = load("arxiv_graph", warm, features="degree")
    assert int(data.node_year[data.test_mask].min()) > int(data.node_year[data.val_mask].max())
    with pytest.raises(DataError, match="texas has features; leave features='degree' out"):
        load("texas", warm, features="degree")


def sage(data):
    return SAGEConv(data.num_features, 4)(data.x, data.edge_index)


PYG = {
    "a convolution": lambda data: sage(data).shape == (183, 4),
    "rows": lambda data: data.x[:5].shape == (5, 1703),
    "mean": lambda data: 0 < float(data.x.mean()) < 1,
    "NormalizeFeatures": lambda data: T.NormalizeFeatures()(data).x.sum(1).allclose(torch.ones(1)),
    "LargestConnectedComponents": lambda data: (
        T.LargestConnectedComponents()(data).num_nodes == 183
    ),
    "subgraph": lambda data: data.subgraph(torch.arange(9)).x.shape == (9, 1703),
    "deepcopy": lambda data: copy.deepcopy(data).x.equal(data.x),
}


@pytest.mark.parametrize("use", PYG)
def test_what_users_of_pytorch_geometric_do_works(use, warm):
    assert PYG[use](load("texas", warm))


def test_a_set_that_nobody_serves_names_the_one_to_load(tmp_path):
    with pytest.raises(DataError, match="nobody serves these files; load 'arxiv' instead"):
        load("arxiv_graph", tmp_path)


def test_offline_with_nothing_there_names_the_files_and_the_place(tmp_path, monkeypatch):
    monkeypatch.setattr(WebKB, "url", "http://127.0.0.1:9")  # nobody listens there
    root = tmp_path / "root"
    message = rf"put these files into {root}/WebKB/texas/raw: out1_node.*_9.npz; or point GRAPHSCT"
    with pytest.raises(DataError, match=message):
        load("texas", root)
    assert not list(root.rglob("*.txt"))
