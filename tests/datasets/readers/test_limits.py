import gzip
import struct
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
import scipy.sparse as sp

from graphsct import DataError
from graphsct.datasets import from_files, from_ogb
from graphsct.datasets.readers.limits import MAX_BYTES, check_bytes, check_unpacked, max_bytes

ROWS = 200_000


def npy(shape):
    """The file of an array that claims a shape, and has a hundred bytes."""
    header = f"{{'descr': '<i8', 'fortran_order': False, 'shape': {shape}}}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + bytes(100)


def zipped(path, content):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("edge_index.npy", content)


def bombs(folder):
    """Small files that unpack to more than a megabyte."""
    text, array = b"0,1\n1,0\n" * ROWS, np.zeros((2, ROWS), dtype=np.int64)
    (folder / "lines.csv.gz").write_bytes(gzip.compress(text))
    (folder / "one_line.txt.gz").write_bytes(gzip.compress(b"7" * 10 * ROWS))
    np.savez_compressed(folder / "array.npz", edge_index=array)
    pyarrow.parquet.write_table(pa.table({"a": array[0], "b": array[1]}), folder / "t.parquet")
    texts = {"source": ["a" * 50_000] * 100, "target": ["b"] * 100}
    for kind in ("string", "large_string", "binary"):
        columns = {name: pa.array(column).cast(kind) for name, column in texts.items()}
        pyarrow.parquet.write_table(pa.table(columns), folder / f"{kind}s.parquet")
    pyarrow.parquet.write_table(
        pa.table({"source": ["a" * 10**6], "target": ["b"]}), folder / "one_text.parquet"
    )
    matrix = sp.coo_array(([1.0], ([0], [0])), shape=(2**40, 2**40))
    sp.save_npz(folder / "coo.npz", matrix)
    sp.save_npz(folder / "csc.npz", sp.csc_array(([1.0], [0], [0, 1]), shape=(2**40, 1)))
    return sorted(folder.iterdir())


def test_a_file_that_unpacks_to_more_than_the_limit_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("GRAPHSCT_MAX_BYTES", str(10**6))
    found = bombs(tmp_path)
    assert len(found) == 10
    for path in found:
        assert path.stat().st_size < 10**6 / 8
        with pytest.raises(
            DataError, match=rf"{path.name} takes more than 1000000 bytes.*set GRAPH"
        ):
            from_files(path)
    monkeypatch.setenv("GRAPHSCT_MAX_BYTES", str(10**8))
    assert from_files(tmp_path / "lines.csv.gz").graph.num_edges == 1


def test_a_matrix_of_2_to_the_40_rows_is_refused_by_the_limit_of_every_day(tmp_path):
    bombs(tmp_path)
    for name in ("coo.npz", "csc.npz"):
        with pytest.raises(DataError, match=f"{name} takes more than {MAX_BYTES} bytes"):
            from_files(tmp_path / name)


@pytest.mark.parametrize("shape", [(2**40, 2), (2, 2**40), (2**62, 2**62)])
def test_an_array_that_claims_too_much_is_refused(tmp_path, shape):
    (tmp_path / "e.npy").write_bytes(npy(shape))
    zipped(tmp_path / "e.npz", npy(shape))
    for name in ("e.npy", "e.npz"):
        with pytest.raises(DataError, match=f"{name} cannot be read") as caught:
            from_files(tmp_path / name)
        assert "\n" not in str(caught.value)


def test_a_matrix_of_nearly_no_edges_is_refused(tmp_path):
    sp.save_npz(tmp_path / "m.npz", sp.coo_array(([1.0], ([0], [0])), shape=(2**25, 2**25)))
    with pytest.raises(
        DataError, match=r"33554432 rows but only 1 entries.*without the empty rows"
    ):
        from_files(tmp_path / "m.npz")


def test_files_of_ogb_are_limited_too(tmp_path, monkeypatch):
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw/num-node-list.csv.gz").write_bytes(gzip.compress(b"1\n" * ROWS))
    monkeypatch.setenv("GRAPHSCT_MAX_BYTES", "1000")
    with pytest.raises(DataError, match=r"num-node-list.csv.gz takes more than 1000 bytes"):
        from_ogb(tmp_path)


def test_the_limit_is_a_number(tmp_path, monkeypatch):
    assert max_bytes() == MAX_BYTES
    check_bytes(tmp_path, MAX_BYTES)
    (tmp_path / "plain.csv").write_text("0,1\n")
    monkeypatch.setenv("GRAPHSCT_MAX_BYTES", "1")
    check_unpacked(tmp_path / "plain.csv")  # it has the size that everybody sees
    monkeypatch.setenv("GRAPHSCT_MAX_BYTES", "much")
    with pytest.raises(DataError, match="GRAPHSCT_MAX_BYTES is 'much', expected a number"):
        check_bytes(tmp_path, 1)


def test_columns_of_lists_are_refused_before_they_are_read(tmp_path):
    path = tmp_path / "e.parquet"
    pyarrow.parquet.write_table(pa.table({"source": [0], "target": [[1, 2]]}), path)
    with pytest.raises(DataError, match=r"column 'target' is list<.*>, expected numbers or text"):
        from_files(path)


def test_texts_of_every_kind_are_names(tmp_path):
    plain, coded = pa.array(["a", "b"]), pa.array(["b", "a"]).dictionary_encode()
    for kind in ("large_string", "binary"):
        columns = {"source": plain.cast(kind), "target": coded}
        pyarrow.parquet.write_table(pa.table(columns), tmp_path / "e.parquet")
        assert from_files(tmp_path / "e.parquet").node_ids == ["a", "b"]
