import gzip
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
import scipy.sparse as sp
import torch
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from graphsct import DataError
from graphsct.datasets import Fractions, PerClass, Split, features, from_files
from graphsct.datasets.readers.edges import read_edges

EDGES = np.array([[0, 1, 1, 2, 2, 3, 3, 0, 4, 5], [1, 0, 2, 1, 3, 2, 0, 3, 5, 4]])
X = np.array([[1, 0, 2], [0, 0, 1], [3, 1, 0], [0.5, 0, 0], [0, 2, 2], [1, 1, 1]], dtype=np.float32)
Y = np.array([0, 1, 0, 1, 0, 1])


def lines(rows, delimiter, header=None):
    rows = [*([header] if header else []), *rows]
    return "".join(delimiter.join(map(str, row)) + "\n" for row in rows)


def write_edges(path, edges=EDGES, header=None):
    name = path.name.removesuffix(".gz")
    if name.endswith(".npy"):
        np.save(path, edges)
    elif name.endswith("matrix.npz"):
        n = edges.max() + 1
        sp.save_npz(path, sp.coo_array((np.ones(edges.shape[1]), edges), shape=(n, n)).tocsr())
    elif name.endswith(".npz"):
        np.savez(path, edge_index=edges)
    elif name.endswith(".parquet"):
        pyarrow.parquet.write_table(pa.table({"source": edges[0], "target": edges[1]}), path)
    else:
        delimiter = {"csv": ",", "tsv": "\t", "txt": "  "}[name.rpartition(".")[2]]
        text = lines(edges.T.tolist(), delimiter, header)
        opener = gzip.open if path.suffix == ".gz" else open
        with opener(path, "wt") as handle:
            handle.write(text)
    return path


FORMATS = ["e.csv", "e.tsv", "e.txt", "e.csv.gz", "e.tsv.gz", "e.txt.gz"]
FORMATS += ["e.npz", "e.npy", "matrix.npz", "e.parquet"]

pairs = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=30)


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pairs=pairs)
def test_every_format_gives_the_same_graph(name, tmp_path, pairs):
    forth = np.array(pairs).T
    edges = np.unique(np.concatenate([forth, forth[::-1]], axis=1), axis=1)
    data = from_files(write_edges(tmp_path / name, edges))
    assert data.edge_index.tolist() == edges.tolist()
    assert data.graph.num_nodes == edges.max() + 1


@pytest.mark.parametrize("name", FORMATS[:6])
def test_header_comments_blank_lines_and_windows_line_ends(name, tmp_path):
    path = write_edges(tmp_path / name, header=("source", "target"))
    expected = from_files(path).edge_index
    assert expected.shape == (2, 10)
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt") as handle:
        text = handle.read()
    with opener(path, "wb") as handle:
        handle.write(b"# made by hand\n% twice\n\n" + text.replace("\n", "\r\n\r\n").encode())
    assert from_files(path).edge_index.equal(expected)


def test_whitespace_text_may_be_ragged_in_its_blanks(tmp_path):
    path = tmp_path / "e.txt"
    path.write_text("  0 \t 1\n1  0   \n\t1 2\n2\t1")
    assert from_files(path).edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]


FEATURES = {
    "x.npy": lambda path: np.save(path, X),
    "x.npz": lambda path: np.savez(path, x=X, other=Y),
    "only.npz": lambda path: np.savez(path, anything=X),
    "sparse.npz": lambda path: sp.save_npz(path, sp.csr_array(X)),
    "coo.npz": lambda path: sp.save_npz(path, sp.coo_matrix(X)),
    "csc.npz": lambda path: sp.save_npz(path, sp.csc_matrix(X)),
    "x.csv": lambda path: path.write_text(lines(X.tolist(), ",")),
    "x.tsv": lambda path: path.write_text(lines(X.tolist(), "\t", ("a", "b", "c"))),
    "x.parquet": lambda path: pyarrow.parquet.write_table(
        pa.table({f"f{i}": X[:, i] for i in range(3)}), path
    ),
}


@pytest.mark.parametrize("name", FEATURES)
def test_features_by_position(name, tmp_path):
    FEATURES[name](tmp_path / name)
    edges = write_edges(tmp_path / "e.csv")
    data = from_files(edges, tmp_path / name)
    assert data.x.to_dense().numpy().tolist() == X.tolist()
    rows = from_files(edges, tmp_path / name, normalize=True).x.to_dense().sum(1)
    assert rows.tolist() == pytest.approx([1] * 6)


def test_sparse_features_become_dense_below_the_limit(tmp_path, monkeypatch):
    x = sp.random_array((6, 500), density=0.02, rng=0, dtype=np.float32)
    sp.save_npz(tmp_path / "x.npz", x)
    edges = write_edges(tmp_path / "e.csv")
    data = from_files(edges, tmp_path / "x.npz")
    assert np.array_equal(data.x.numpy(), x.toarray())
    monkeypatch.setattr(features, "DENSE_LIMIT", 4 * x.size - 1)
    kept = from_files(edges, tmp_path / "x.npz").x
    assert kept.layout == torch.sparse_csr
    assert kept.to_dense().equal(data.x)


LABELS = {
    "y.npy": lambda path: np.save(path, Y),
    "y.npz": lambda path: np.savez(path, y=Y[:, None].astype(float)),
    "y.csv": lambda path: path.write_text(lines(Y[:, None].tolist(), ",")),
    "y.txt": lambda path: path.write_text("label\n" + lines(Y[:, None].tolist(), ",")),
    "y.parquet": lambda path: pyarrow.parquet.write_table(pa.table({"y": Y}), path),
}


@pytest.mark.parametrize("name", LABELS)
def test_labels_by_position(name, tmp_path):
    LABELS[name](tmp_path / name)
    data = from_files(write_edges(tmp_path / "e.csv"), labels=tmp_path / name)
    assert data.y.tolist() == Y.tolist()
    assert data.num_classes == 2
    assert "class_names" not in data


NAMES = ["zoe", "ann", "bob", "cy", "dan", "eve"]


def write_named(tmp_path):
    """Features name the nodes; labels list them in another order."""
    edges = tmp_path / "e.csv"
    edges.write_text(lines([(NAMES[i], NAMES[j]) for i, j in EDGES.T], ","))
    features = tmp_path / "x.csv"
    rows = [(name, *row) for name, row in zip(NAMES, X.tolist(), strict=True)]
    features.write_text(lines(rows, ",", ("id", "f0", "f1", "f2")))
    labels = tmp_path / "y.tsv"
    rows = [(name, "pq"[y]) for name, y in zip(NAMES, Y, strict=True)]
    labels.write_text(lines(rows[::-1], "\t", ("node", "class")))
    return edges, features, labels


def test_string_ids_are_mapped_and_kept(tmp_path):
    data = from_files(*write_named(tmp_path))
    assert data.node_ids == NAMES
    assert data.edge_index.tolist() == EDGES[:, np.lexsort(EDGES[::-1])].tolist()
    assert data.x.tolist() == X.tolist()
    assert data.y.tolist() == Y.tolist()
    assert data.class_names == ["p", "q"]


def test_string_ids_named_nowhere_come_in_order_of_appearance(tmp_path):
    edges, _, labels = write_named(tmp_path)
    assert from_files(edges).node_ids == NAMES
    assert from_files(edges, labels=labels).node_ids == NAMES[::-1]


def test_nodes_give_the_order_and_the_isolated_ones(tmp_path):
    edges, features, labels = write_named(tmp_path)
    nodes = tmp_path / "nodes.txt"
    nodes.write_text("\n".join(NAMES[::-1]))
    data = from_files(edges, features, labels, nodes=nodes)
    assert data.node_ids == NAMES[::-1]
    assert data.x.tolist() == X[::-1].tolist()
    nodes.write_text("\n".join([*NAMES, "nobody"]))
    assert from_files(edges, nodes=nodes).graph.num_components == 3


def test_other_columns_of_nodes_are_not_passed_over(tmp_path):
    edges, _, _ = write_named(tmp_path)
    nodes = tmp_path / "nodes.csv"
    nodes.write_text("id,label,age\n" + "".join(f"{name},p,3\n" for name in NAMES))
    with pytest.raises(DataError, match=r"nodes.csv has 3 columns, .* labels.csv .* features.csv"):
        from_files(edges, nodes=nodes)


def test_integers_may_be_names(tmp_path):
    edges = tmp_path / "e.csv"
    edges.write_text("70000000000,5\n5,70000000000\n")
    assert from_files(edges, string_ids=True).node_ids == ["70000000000", "5"]
    labels = tmp_path / "y.csv"
    labels.write_text("id,label\n5,1\n70000000000,0\n")
    data = from_files(edges, labels=labels)
    assert data.node_ids == ["5", "70000000000"]
    assert data.y.tolist() == [1, 0]


def test_classes_that_are_not_0_1_are_numbered_and_minus_one_is_none(tmp_path):
    edges = write_edges(tmp_path / "e.csv")
    np.save(tmp_path / "y.npy", np.array([7, 3, -1, 7, 7, 3]))
    data = from_files(edges, labels=tmp_path / "y.npy")
    assert data.y.tolist() == [1, 0, -1, 1, 1, 0]
    assert data.class_names == [3, 7]
    labels = tmp_path / "y.csv"
    labels.write_text("id,label\n0,a\n1,b\n2,\n3,a\n4,a\n5,b\n")
    assert from_files(edges, labels=labels).y.tolist() == [0, 1, -1, 0, 0, 1]


def test_weights(tmp_path):
    path = tmp_path / "e.csv"
    path.write_text("u,v,w\n0,1,2.5\n1,0,2.5\n1,2,4\n2,1,4\n")
    data = from_files(path, weighted=True)
    assert data.edge_weight.tolist() == [2.5, 2.5, 4, 4]
    assert data.graph.degree.tolist() == [3.5, 7.5, 5]
    matrix = sp.csr_array(([2.5, 2.5, 4, 4], ([0, 1, 1, 2], [1, 0, 2, 1])), shape=(4, 4))
    sp.save_npz(tmp_path / "m.npz", matrix)
    assert from_files(tmp_path / "m.npz", weighted=True).graph.degree.tolist() == [3.5, 7.5, 5, 1]


def write_split(tmp_path, kind):
    parts = dict(train=[0, 1], val=[2, 3], test=[4, 5])
    if kind == "npz of numbers":
        np.savez(tmp_path / "s.npz", **{k: np.array(v) for k, v in parts.items()})
        return tmp_path / "s.npz"
    if kind == "npz of masks":
        masks = {f"{k}_mask": np.isin(np.arange(6), v) for k, v in parts.items()}
        np.savez(tmp_path / "s.npz", **masks)
        return tmp_path / "s.npz"
    paths = {}
    for part, nodes in parts.items():
        paths[part] = tmp_path / (f"{part}.npy" if kind == "npy" else f"{part}.txt")
        if kind == "npy":
            np.save(paths[part], np.isin(np.arange(6), nodes))
        else:
            names = [NAMES[i] for i in nodes] if kind == "names" else nodes
            paths[part].write_text("\n".join(map(str, names)))
    return paths


@pytest.mark.parametrize("kind", ["npz of numbers", "npz of masks", "npy", "text", "names"])
def test_masks_from_files(kind, tmp_path):
    if kind == "names":
        source = write_named(tmp_path)
    else:
        np.save(tmp_path / "y.npy", Y)
        source = (write_edges(tmp_path / "e.csv"), None, tmp_path / "y.npy")
    data = from_files(*source, split=write_split(tmp_path, kind))
    assert [mask.nonzero().flatten().tolist() for mask in data.splits[0]] == [
        [0, 1],
        [2, 3],
        [4, 5],
    ]
    assert data.train_mask.equal(data.splits[0].train)


def test_masks_drawn_or_given(tmp_path):
    np.save(tmp_path / "y.npy", Y)
    source = dict(edges=write_edges(tmp_path / "e.csv"), labels=tmp_path / "y.npy")
    drawn = from_files(**source, split=PerClass(1, 1, seed=3))
    assert [int(mask.sum()) for mask in drawn.splits[0]] == [2, 2, 2]
    shares = from_files(**source, split=Fractions(1 / 3, 1 / 3))
    assert [int(mask.sum()) for mask in shares.splits[0]] == [2, 2, 2]
    assert from_files(**source, split=drawn.splits[0]).val_mask.equal(drawn.val_mask)


BROKEN_EDGES = {
    "line 3: expected 2 fields, found 3: '1,2,3'": "0,1\n1,0\n1,2,3\n2,1\n",
    "line 2: expected 2 fields, found 1: '1'": "0,1\n1\n",
    "line 4: field 2 is 'x', expected an integer": "0,1\n1,0\n\n1,x\n",
    "line 3: field 1 is empty": "0,1\n1,0\n,2\n",
    "line 2: the id -4 is negative; .*string_ids=True": "0,1\n-4,0\n",
    "line 3: the graph is directed: 1 edges have no reverse, the first is 1 -> 2.*symmetrize": (
        "0,1\n1,0\n1,2\n"
    ),
    "e.csv is empty": "",
    "e.csv is empty$": "\n\n# nothing\n",
    "has a header and nothing below": "source,target\n",
    r"line 1: no ',' in '0;1', but ';'; pass delimiter=';'": "0;1\n1;0\n",
    r"line 1: no ',' in '0\\t1', but '\\t'": "0\t1\n1\t0\n",
    "line 1: expected two ids, found 1 fields": "0\n1\n",
    r"line 2: expected two ids, found 3 fields: .*weighted=True": "u,v,w\n0,1,2\n",
    "line 2: not UTF-8": b"0,1\n\xff\xfe,0\n",
    "largest id is 999999999999.*relabel": "0,999999999999\n999999999999,0\n",
    "line 2: 3 fields below a header of 2": "source,target\n0,1,2\n",
}


@pytest.mark.parametrize("message", BROKEN_EDGES)
def test_a_broken_list_of_edges_is_named_with_its_line(message, tmp_path):
    path = tmp_path / "e.csv"
    content = BROKEN_EDGES[message]
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DataError, match=message) as caught:
        from_files(path)
    assert str(path) in str(caught.value)
    with gzip.open(tmp_path / "e.csv.gz", "wb") as handle:
        handle.write(path.read_bytes())
    with pytest.raises(DataError, match=message.replace("e.csv is", "e.csv.gz is")):
        from_files(tmp_path / "e.csv.gz")


def test_the_line_of_a_late_error_is_right(tmp_path):
    path = tmp_path / "e.csv"
    rows = [f"{i},{i + 1}" for i in range(200_000)]
    rows[180_000] = "7,seven"
    path.write_text("# top\nsource,target\n" + "\n".join(rows))
    with pytest.raises(DataError, match=r"line 180003: field 2 is 'seven'"):
        read_edges(path)


def make(tmp_path, **files):
    """A good graph with some files replaced; returns the arguments of from_files."""
    np.save(tmp_path / "y.npy", Y)
    np.save(tmp_path / "x.npy", X)
    good = dict(edges=write_edges(tmp_path / "e.csv"), features=tmp_path / "x.npy")
    good["labels"] = tmp_path / "y.npy"
    for key, (name, content) in files.items():
        path = tmp_path / name
        if isinstance(content, str):
            path.write_text(content)
        elif isinstance(content, dict):
            np.savez(path, **content)
        else:
            np.save(path, content)
        good[key] = path
    return good


NAN = X.copy()
NAN[4, 1] = np.nan
SPLIT = dict(train=np.array([0, 1]), val=np.array([2, 3]), test=np.array([4, 5]))
BROKEN = {
    r"holds nan in row 4, column 1": dict(features=("bad.npy", NAN)),
    r"bad.csv, line 2: field 2 is nan": dict(features=("bad.csv", "1,2\n3,nan\n" + "1,1\n" * 4)),
    r"bad.csv, line 3: field 1 is inf": dict(
        features=("bad.csv", "1,2\n3,3\ninf,1\n" + "1,1\n" * 3)
    ),
    r"bad.csv, line 2: field 2 is empty": dict(features=("bad.csv", "1,2\n3,\n" + "1,1\n" * 4)),
    r"bad.csv, line 2: field 2 is 'much', expected a number": dict(
        features=("bad.csv", "1,2\n3,much\n" + "1,1\n" * 4)
    ),
    r"has shape \(5, 3\), expected \(6, d\)": dict(features=("bad.npy", X[:5])),
    r"holds <U1, expected numbers": dict(features=("bad.npy", np.full((6, 2), "a"))),
    r"bad.npz holds the arrays a, b; expected one, or one called x or features": dict(
        features=("bad.npz", dict(a=X, b=X))
    ),
    r"bad.npy cannot be read: ValueError: Object arrays cannot be loaded": dict(
        features=("bad.npy", np.array([[object()]], dtype=object))
    ),
    r"bad.npy has 5 labels of shape \(5,\), but there are 6 nodes": dict(labels=("bad.npy", Y[:5])),
    r"bad.npy, node 2: the label nan is not a class": dict(
        labels=("bad.npy", np.array([0, 1, np.nan, 1, 0, 1]))
    ),
    r"bad.npy does not hold one class per node": dict(labels=("bad.npy", np.array(3))),
    r"bad.npy, node 1: the label inf is not a class": dict(
        labels=("bad.npy", np.array([0, np.inf, 1, 1, 0, 1]))
    ),
    r"bad.npy has no label at all": dict(labels=("bad.npy", np.full(6, -1))),
    r"bad.npy holds complex128": dict(labels=("bad.npy", np.ones(6) * 1j)),
    r"bad.csv: label 2 of row 0 is 2; several labels are 0 or 1 each.*targets=": dict(
        labels=("bad.csv", "0,1,2\n")
    ),
    r"bad.npy: label 1 of row 0 is 3; several": dict(labels=("bad.npy", np.full((6, 2), [0, 3]))),
    r"bad.npy has 2 rows, expected 6": dict(labels=("bad.npy", np.ones((2, 2)))),
    r"bad.csv, line 4: the node '1' is listed twice": dict(
        labels=("bad.csv", "id,label\n0,1\n1,1\n1,1\n")
    ),
    r"e.csv, line 5: the node 3 is not in .*bad.csv": dict(
        labels=("bad.csv", "id,label\n0,1\n1,1\n2,1\n4,0\n5,0\n")
    ),
    r"node 1 is in train and in val": dict(split=("s.npz", SPLIT | dict(val=np.array([1, 2])))),
    r"class 1 has no training node": dict(
        split=("s.npz", dict(train=np.array([0]), val=np.array([1]), test=np.array([2])))
    ),
    r"s.npz, test, index 1: the node 6 is not in 0 .. 5": dict(
        split=("s.npz", SPLIT | dict(test=np.array([4, 6])))
    ),
    r"s.npz holds test, train, but no val": dict(
        split=("s.npz", {k: v for k, v in SPLIT.items() if k != "val"})
    ),
    r"s.npz, train: an array of float64": dict(split=("s.npz", SPLIT | dict(train=np.ones(2)))),
    r"s.npz, train: the mask has 5 entries, expected 6": dict(
        split=("s.npz", SPLIT | dict(train=np.ones(5, dtype=bool)))
    ),
    r"no node is in val": dict(split=("s.npz", SPLIT | dict(val=np.array([], dtype=int)))),
    r"a split in one file is a .npz": dict(split=("s.txt", "1\n")),
    r"edge 1: \[0, -1\] holds a negative id": dict(edges=("bad.npy", np.array([[1, 0], [0, -1]]))),
    r"bad.npy holds float64, expected integers": dict(edges=("bad.npy", np.ones((2, 3)))),
    r"shape \(3, 3\), expected \(2, num_edges\)": dict(edges=("bad.npy", np.ones((3, 3), int))),
    r"edge 0: the node 6 is unknown, there are 6 nodes": dict(
        edges=("bad.npy", np.array([[6, 0], [0, 6]]))
    ),
    r"bad.xyz: .xyz is not a known format; the extensions are .csv": dict(
        edges=("bad.xyz", "0 1\n")
    ),
    r"bad.parquet cannot be read": dict(edges=("bad.parquet", "not parquet")),
    r"bad.npz cannot be read": dict(edges=("bad.npz", "PK not a zip")),
}


@pytest.mark.parametrize("message", BROKEN)
def test_each_broken_input_is_named(message, tmp_path):
    with pytest.raises(DataError, match=message):
        from_files(**make(tmp_path, **BROKEN[message]))


def test_the_good_graph_under_the_broken_ones_is_good(tmp_path):
    assert from_files(**make(tmp_path, split=("s.npz", SPLIT))).graph.num_nodes == 6


def test_what_belongs_together_is_asked_for(tmp_path):
    edges, features, labels = write_named(tmp_path)
    np.save(tmp_path / "x.npy", X)
    with pytest.raises(DataError, match=r"names its nodes, but .*x.npy does not say.*pass nodes="):
        from_files(edges, tmp_path / "x.npy")
    with pytest.raises(DataError, match=r"y.tsv, line 2: the node 'eve' is not in .*x.csv"):
        features.write_text("".join(features.read_text().splitlines(keepends=True)[:-1]))
        edges.write_text("zoe,ann\nann,zoe\n")
        from_files(edges, features, labels)
    with pytest.raises(DataError, match="draws by class, but there are no labels"):
        from_files(edges, split=PerClass())
    with pytest.raises(DataError, match="has a split but no labels"):
        from_files(edges, split=Split(*torch.eye(3, 2, dtype=torch.bool)))
    with pytest.raises(DataError, match="has no weights"):
        np.save(tmp_path / "e.npy", EDGES)
        from_files(tmp_path / "e.npy", weighted=True)
    with pytest.raises(DataError, match=r"split has the parts \['train'\]"):
        from_files(edges, labels=labels, split={"train": edges})
    with pytest.raises(DataError, match=r"nowhere.csv is not a file"):
        from_files(tmp_path / "nowhere.csv")


def test_unknown_nodes_in_mask_files_are_named_with_their_line(tmp_path):
    source = make(tmp_path)
    paths = write_split(tmp_path, "text")
    paths["val"].write_text("2\n9\n")
    with pytest.raises(DataError, match=r"val.txt, line 2: the node 9 is not in 0 .. 5"):
        from_files(**source, split=paths)
    paths = write_split(tmp_path, "names")
    paths["test"].write_text("dan\nnobody\n")
    with pytest.raises(DataError, match=r"test.txt, line 2: the node 'nobody' is not in"):
        from_files(*write_named(tmp_path), split=paths)


def test_no_file_is_ever_unpickled(tmp_path):
    class Trap:
        def __reduce__(self):
            return (pytest.fail, ("unpickled",))

    trap = np.array([Trap()], dtype=object)
    np.save(tmp_path / "trap.npy", trap, allow_pickle=True)
    np.savez(tmp_path / "trap.npz", x=trap, format=trap, shape=trap)
    edges = write_edges(tmp_path / "e.csv")
    for name in ("trap.npy", "trap.npz"):
        for source in (dict(edges=tmp_path / name), dict(edges=edges, features=tmp_path / name)):
            with pytest.raises(DataError, match="cannot be read: ValueError: Object arrays"):
                from_files(**source)


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    name=st.sampled_from(["e.npy", "e.npz", "matrix.npz", "e.parquet", "e.csv.gz"]), data=st.data()
)
def test_a_damaged_file_is_refused_or_read_but_never_crashes(tmp_path, name, data):
    good = write_edges(tmp_path / name).read_bytes()
    place = data.draw(st.integers(0, len(good) - 1))
    damage = data.draw(st.binary(max_size=4))
    (tmp_path / name).write_bytes(
        good[:place] + damage + good[place + data.draw(st.integers(0, 9)) :]
    )
    for role in ("edges", "features", "labels"):
        source = dict(edges=write_edges(tmp_path / "good.csv")) | {role: tmp_path / name}
        try:
            from_files(**source)
        except DataError as error:
            assert len(str(error)) > 20


def test_damaged_scipy_matrices_are_refused(tmp_path):
    good = sp.csr_array(([1.0, 1.0], ([0, 1], [1, 0])), shape=(2, 2))
    pieces = dict(data=good.data, indices=good.indices, indptr=good.indptr)
    pieces |= dict(shape=np.array([2, 2]), format=np.array(b"csr"))
    path = tmp_path / "m.npz"
    for change in (
        dict(indices=np.array([1, 7])),
        dict(indptr=np.array([0, 2, 1])),
        dict(indptr=np.array([0])),
        dict(shape=np.array([2])),
        dict(shape=np.array(["a", "b"])),
        dict(format=np.array(b"xyz")),
        dict(format=np.array([b"csr", b"csr"])),
    ):
        np.savez(path, **(pieces | change))
        with pytest.raises(DataError, match="is not a matrix saved by SciPy"):
            from_files(path)
    np.savez(path, **pieces)
    assert from_files(path).graph.num_edges == 1
    sp.save_npz(path, sp.csr_array((2, 3)))
    with pytest.raises(DataError, match=r"shape \(2, 3\), expected \(n, n\)"):
        from_files(path)


PARQUET = {
    r"e.parquet is empty": {"a": pa.array([], pa.int64()), "b": pa.array([], pa.int64())},
    r"e.parquet, row 1: field 2 is empty": {"a": [0, 1], "b": [1, None]},
    r"e.parquet, column 'b': .*'x'": {"a": [0, 1], "b": ["1", "x"]},
    r"e.parquet: expected two ids, found 1 fields": {"a": [0, 1]},
}


@pytest.mark.parametrize("message", PARQUET)
def test_broken_parquet_is_named_with_its_row(message, tmp_path):
    pyarrow.parquet.write_table(pa.table(PARQUET[message]), tmp_path / "e.parquet")
    with pytest.raises(DataError, match=message):
        from_files(tmp_path / "e.parquet")


def test_integer_edges_and_nodes_with_other_names(tmp_path):
    edges = write_edges(tmp_path / "e.csv")
    nodes = tmp_path / "nodes.txt"
    nodes.write_text("0\n1\n2\n3\n4\nfive\n")
    with pytest.raises(
        DataError, match=r"nodes.txt has names of nodes that are not integers.*string_ids"
    ):
        from_files(edges, nodes=nodes)
    with pytest.raises(DataError, match=r"e.csv, line 9: the node '5' is not in .*nodes.txt"):
        from_files(edges, nodes=nodes, string_ids=True)


def test_a_name_that_is_a_number_does_not_make_a_header_of_the_row_above(tmp_path):
    path = tmp_path / "e.csv"
    path.write_text("ann,bob\nbob,42\nbob,ann\n42,bob\n")
    assert from_files(path).node_ids == ["ann", "bob", "42"]
    path.write_text("left,right\n0,1\n1,0\n")
    assert from_files(path).graph.num_edges == 1


#: Files whose first row may be a header: neither its words nor the rest of the files tell.
UNSURE = {
    "e.csv, line 1: 'citing,cited'.*'source,target'": ("citing,cited\nann,bob\nbob,ann\n",),
    "e.csv, line 1: 'citing,1'.*'source,target'": ("citing,1\n10,20\n20,30\n30,1\n",),
    "y.csv, line 2: 'paper,topic'.*'id,label'": (
        "ann,bob\nbob,ann\n",
        "# by hand\npaper,topic\nann,ml\nbob,ai\n",
    ),
    "y.csv, line 1: 'topic'.*'label'": ("0,1\n1,0\n", "topic\nml\nml\n"),
}


@pytest.mark.parametrize("message", UNSURE)
def test_a_first_row_that_may_be_a_header_is_asked_about(tmp_path, message):
    paths = [tmp_path / "e.csv", tmp_path / "y.csv"]
    for path, text in zip(paths, UNSURE[message], strict=False):
        path.write_text(text)
    labels = paths[1] if paths[1].exists() else None
    with pytest.raises(DataError, match=f"{message} in its place or above it"):
        from_files(paths[0], labels=labels)


def test_an_edge_between_known_nodes_is_not_a_header(tmp_path):
    path = tmp_path / "e.csv"
    path.write_text("citing,cited\nann,bob\nbob,ann\n")
    assert from_files(path, header=True).node_ids == ["ann", "bob"]
    assert from_files(path, header=False, symmetrize=True).graph.num_edges == 2
    for ids in (["ann", "17", "42"], ["1a", "2", "3"], ["ann", "bob", "eve"]):
        path.write_text("{0},{1}\n{1},{2}\n{2},{0}\n".format(*ids))
        assert set(from_files(path, symmetrize=True).node_ids) == set(ids)
    labels = tmp_path / "y.csv"
    labels.write_text("ann,ml\nbob,ai\neve,ai\n")
    assert from_files(path, labels=labels, symmetrize=True).y.tolist() == [1, 0, 0]


def test_blanks_around_fields_and_a_byte_order_mark_do_not_matter(tmp_path):
    path = tmp_path / "e.csv"
    path.write_text("ann, bob\nbob ,ann\n")
    assert from_files(path).node_ids == ["ann", "bob"]
    path.write_bytes(b"\xef\xbb\xbf0, 1\n 1,0\n")
    assert "node_ids" not in from_files(path)


def test_ids_too_long_for_64_bits_are_names(tmp_path):
    path = tmp_path / "e.csv"
    path.write_text("99999999999999999999,1\n1,99999999999999999999\n")
    assert from_files(path).node_ids == ["99999999999999999999", "1"]
    with pytest.raises(DataError, match="num_nodes is 5, but the files name 2 nodes"):
        from_files(path, num_nodes=5)


def test_one_or_the_other_delimiter(tmp_path):
    path = tmp_path / "e.csv"
    path.write_text("0;1\n1;0\n")
    assert from_files(path, delimiter=";").graph.num_edges == 1


bytes_of_text = st.one_of(
    st.binary(max_size=60),
    st.lists(
        st.sampled_from(
            [b"0", b"1", b",", b"\n", b" ", b'"', b"\t", b"a", b"-", b".", b"\r", b"#", b"\xff"]
        ),
        max_size=40,
    ).map(b"".join),
)
names = st.sampled_from([*FORMATS, "e.xyz"])


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    name=names,
    content=bytes_of_text,
    zipped=st.booleans(),
    weighted=st.booleans(),
    good=st.booleans(),
)
@example(name="e.txt", content=b"\x1c", zipped=False, weighted=False, good=False)
def test_nothing_but_data_error_escapes(tmp_path, name, content, zipped, weighted, good):
    path = tmp_path / name
    path.write_bytes(gzip.compress(content) if zipped and name.endswith(".gz") else content)
    edges = write_edges(tmp_path / "good.csv") if good else path
    source = dict(features=path) if good else {}
    for labels in (None, path):
        try:
            data = from_files(edges, **source, labels=labels, weighted=weighted and not good)
        except DataError as error:
            assert re.search(r"e\.|matrix|good", str(error))
        else:
            assert data.graph.num_nodes >= 1
