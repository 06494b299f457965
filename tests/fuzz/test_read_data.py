"""Damaged files of graphs, in every format that is read."""

import gzip

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import scipy.sparse as sp
import torch
from fuzzing import check_all, in_shares
from mutations import damaged, odd_tensor

from graphsct import datasets
from graphsct.datasets.readers.tu import from_tu

NODES = 8
EDGES = b"0,1\n1,0\n1,2\n2,1\n2,3\n3,2\n4,5\n5,4\n6,7\n7,6\n"
NAMED = b"source,target,weight\nann,bob,1.5\nbob,ann,1.5\nbob,eve,2\neve,bob,2\n"
LABELS = b"id,label\nann,ml\nbob,ai\neve,ml\n"


def text(draw, folder):
    """Edge lists, with tables of features and labels beside them."""
    content, name = draw.choice([(EDGES, "e.csv"), (NAMED, "e.csv"), (EDGES, "e.txt")])
    content = content.replace(b",", b" ") if name == "e.txt" else content
    content = damaged(draw, content)
    if draw.random() < 0.3:
        name, content = f"{name}.gz", gzip.compress(content, 1)
        content = damaged(draw, content) if draw.random() < 0.5 else content
    (folder / name).write_bytes(content)
    return datasets.from_files(folder / name, symmetrize=draw.random() < 0.5)


def tables(draw, folder):
    """Features and labels of a right edge list."""
    (folder / "e.csv").write_bytes(NAMED)
    (folder / "y.csv").write_bytes(damaged(draw, LABELS))
    (folder / "x.tsv").write_bytes(damaged(draw, b"id\tf\tg\nann\t1\t2\nbob\t3\t4\neve\t5\t6\n"))
    option = draw.choice(["labels", "targets", "nodes", "features"])
    given = {option: folder / draw.choice(["y.csv", "x.tsv"])}
    return datasets.from_files(folder / "e.csv", **given)


def arrays(draw, folder):
    """NumPy and SciPy files, as edges or as features."""
    (folder / "e.csv").write_bytes(EDGES)
    path = folder / draw.choice(["a.npy", "a.npz", "m.npz"])
    ends = np.array([[0, 1, 6, 7], [1, 0, 7, 6]])
    if path.name == "m.npz":
        sp.save_npz(path, sp.coo_array((np.ones(4), ends), shape=(8, 8)).asformat(_format(draw)))
    elif path.suffix == ".npy":
        np.save(path, draw.choice([ends, np.ones((8, 3)), odd_tensor_array(draw)]))
    else:
        np.savez(path, edge_index=ends, x=odd_tensor_array(draw))
    if draw.random() < 0.8:
        path.write_bytes(damaged(draw, path.read_bytes()))
    option = draw.choice(["edges", "features", "labels", "targets", "split"])
    return datasets.from_files(**{"edges": folder / "e.csv", option: path})


def _format(draw):
    return draw.choice(["csr", "csc", "coo"])


def odd_tensor_array(draw):
    tensor = odd_tensor(draw, NODES)
    if tensor.layout != torch.strided or tensor.is_meta or tensor.dtype == torch.bfloat16:
        return np.zeros((NODES, 2), dtype="U3")
    return tensor.detach().numpy()


def parquet(draw, folder):
    path = folder / "e.parquet"
    table = {
        "source": [0, 1],
        draw.choice(["target", "weight"]): draw.choice([[1, 0], ["a", None]]),
    }
    pyarrow.parquet.write_table(pa.table(table), path)
    path.write_bytes(damaged(draw, path.read_bytes()))
    return datasets.from_files(path)


def whole_npz(draw, folder):
    """A graph in one ``.npz``, of which one array is odd or the file is damaged."""
    parts = dict(edges=np.array([[0, 1], [1, 2], [6, 7]]), node_labels=np.arange(NODES) % 2)
    parts |= dict(node_features=np.ones((NODES, 2)))
    masks = np.arange(NODES) % 3
    parts |= {f"{n}_masks": masks[None] == i for i, n in enumerate(("train", "val", "test"))}
    parts[draw.choice([*parts])] = odd_tensor_array(draw)
    np.savez(folder / "g.npz", **parts)
    if draw.random() < 0.3:
        (folder / "g.npz").write_bytes(damaged(draw, (folder / "g.npz").read_bytes()))
    return datasets.open_data(folder / "g.npz")


def ogb(draw, folder):
    """A folder of the Open Graph Benchmark's layout with one damaged file."""
    files = {
        "raw/num-node-list": b"4\n",
        "raw/num-edge-list": b"3\n",
        "raw/edge": b"0,1\n1,2\n2,3\n",
        "raw/node-feat": b"1,2\n3,4\n5,6\n7,8\n",
        "raw/node-label": b"0\n1\n0\n1\n",
        "split/time/train": b"0\n1\n",
        "split/time/valid": b"2\n",
        "split/time/test": b"3\n",
    }
    wrong = draw.choice([*files])
    for name, content in files.items():
        path = folder / f"{name}.csv.gz"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(damaged(draw, content) if name == wrong else content, 1))
    return datasets.open_data(folder, symmetrize=True)


def tu(draw, folder):
    """A folder of TUDatasets with one damaged file."""
    files = {
        "A": b"1, 2\n2, 1\n3, 4\n4, 3\n",
        "graph_indicator": b"1\n1\n2\n2\n",
        "graph_labels": b"0\n1\n",
        "node_labels": b"0\n1\n0\n2\n",
        "node_attributes": b"0.5\n1\n2\n3\n",
    }
    wrong = draw.choice([*files])
    for name, content in files.items():
        content = damaged(draw, content) if name == wrong else content
        (folder / f"SET_{name}.txt").write_bytes(content)
    return from_tu(folder)


#: Kinds of inputs, with their numbers in a whole run.
KINDS = {
    text: 1000,
    tables: 700,
    arrays: 900,
    parquet: 300,
    whole_npz: 600,
    ogb: 200,
    tu: 300,
}


@in_shares
def test_only_our_errors_escape(tmp_path, capsys, share):
    check_all(KINDS, share, tmp_path, capsys)
