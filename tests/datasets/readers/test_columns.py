import pytest

from graphsct import DataError
from graphsct.datasets.readers.columns import read_columns


def read(path, content, **options):
    path.write_bytes(content)
    return read_columns(path, lambda names, first: ["string"] * len(first), ids=2, **options)


@pytest.mark.parametrize("blank", [b"\x1c", b"\x0b", b"\x0c", b"\xc2\x85", b"\xc2\xa0"])
def test_only_blanks_and_tabs_divide_fields(tmp_path, blank):
    found = read(tmp_path / "e.txt", b"a" + blank + b"b  c\n d\te \r\n")
    assert [column.to_pylist() for column in found.columns] == [
        [(b"a" + blank + b"b").decode(), "d"],
        ["c", "e"],
    ]
    alone = read(tmp_path / "e.txt", blank)
    assert len(alone.columns) == 1


@pytest.mark.parametrize("name", ["e.txt", "e.csv"])
def test_a_byte_order_mark_alone_is_an_empty_field(tmp_path, name):
    with pytest.raises(DataError, match=name):
        read(tmp_path / name, b"\xef\xbb\xbf\n1 2,3\n")
