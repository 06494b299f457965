"""Delimited text and Parquet as columns that know the line of each row.

pyarrow is fast, but its errors are vague. After an error the file is read again, line by line, to
name the wrong line and the reason.
"""

from __future__ import annotations

import csv
import gzip
import os
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from graphsct.datasets.readers.limits import check_bytes, check_unpacked
from graphsct.errors import DataError

__all__ = ["TEXT", "Columns", "PathLike", "existing", "is_integer", "is_number", "read_columns"]

PathLike = str | os.PathLike[str]

TEXT = {".csv": ",", ".tsv": "\t", ".txt": " ", ".edges": " ", ".edgelist": " "}
_TEXTS = ("string", "large_string", "binary", "large_binary")  # of Parquet
_COMMENTS = (b"#", b"%")
_BLANK = " \t\r"  # Python counts more characters as blank than pyarrow
_BLANKS = re.compile(f"[{_BLANK}]+".encode())
_PARSE: dict[str, Callable[[str], Any]]
_PARSE = {"int64": int, "float": float, "double": float, "string": str}

# Given the names in the header, if any, and the fields of the first row: a type for each column.
Types = Callable[[Sequence[str] | None, Sequence[str]], Sequence[str]]


@dataclass(frozen=True)
class Columns:
    """The columns of a table and its file."""

    path: Path
    names: Sequence[str] | None
    columns: Sequence[Any]
    layout: _Layout | None

    def check_full(self, index: int) -> None:
        """Raise an error that names the first empty field of a column, if there is one."""
        column = self.columns[index]
        if column.null_count:
            row = int(np.argmax(column.is_null().to_numpy()))
            raise DataError(f"{self.where(row)}: field {index + 1} is empty")

    def fill(self, index: int, out: Any) -> None:
        """Copy a column of numbers chunk by chunk into an array; shape of ``out``: ``(rows,)``."""
        self.check_full(index)
        start = 0
        for chunk in self.columns[index].chunks:
            out[start : start + len(chunk)] = chunk.to_numpy()
            start += len(chunk)

    def array(self, index: int) -> Any:
        """A column of finite numbers; an error names the first that is missing or not finite."""
        self.check_full(index)
        values = np.array(self.columns[index].to_numpy())  # pyarrow's own memory is read-only
        bad = np.flatnonzero(~np.isfinite(values))
        if len(bad):
            raise DataError(
                f"{self.where(bad[0])}: field {index + 1} is {values[bad[0]]}; fill it in or drop "
                "the column"
            )
        return values

    def check_first_row(self, known: bool, *usual: str) -> None:
        """Ask whether the first row is a header, if neither its words nor other rows tell.

        Args:
            known: whether it has an entry that other rows have too, unlike a header
            usual: a header for the columns that would tell
        """
        if self.layout is not None and self.layout.unsure and not known:
            row, other = (
                self.layout.delimiter.join(map(str, words))
                for words in ([column[0] for column in self.columns], usual)
            )
            raise DataError(
                f"{self.where(0)}: {row!r} may be a header or the first row; write {other!r} in "
                "its place or above it, or pass header=True or header=False"
            )

    def where(self, row: int) -> str:
        """The file and the line of a row, for an error."""
        if self.layout is None:
            return f"{self.path}, row {row}"
        for index, (number, _) in enumerate(self.layout.rows()):
            if index == row:
                return f"{self.path}, line {number}"
        return f"{self.path}, row {row}"


@dataclass(frozen=True)
class _Layout:
    """The layout of a text file: its delimiter, the line after which its rows begin, the names in
    its header, and whether its first row may be a header after all.
    """

    path: Path
    delimiter: str
    skipped: int
    names: Sequence[str] | None
    unsure: bool = False

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """All lines that are not empty, numbered from 1."""
        opener: Any = gzip.open if self.path.suffix == ".gz" else open
        blank = f"{_BLANK}\n".encode()
        with opener(self.path, "rb") as handle:
            for number, line in enumerate(handle, start=1):
                if line.strip(blank):
                    yield number, line

    def rows(self) -> Iterator[tuple[int, bytes]]:
        """The lines that hold data."""
        return (line for line in self.lines() if line[0] > self.skipped)

    def split(self, line: bytes, number: int) -> list[str]:
        try:
            text = line.decode("utf-8-sig").strip("\r\n")
        except UnicodeDecodeError as error:
            raise DataError(f"{self.path}, line {number}: not UTF-8 text ({error})") from error
        if self.delimiter == " ":
            return re.split(f"[{_BLANK}]+", text.strip(_BLANK))
        try:
            return next(csv.reader([text], delimiter=self.delimiter)) or [""]
        except csv.Error as error:
            raise DataError(f"{self.path}, line {number}: {error}") from error


def read_columns(
    path: Path,
    types: Types,
    *,
    ids: int,
    delimiter: str | None = None,
    header: bool | None = None,
) -> Columns:
    """Read a text file (``.csv``, ``.tsv``, ``.txt``, each with ``.gz`` or without) or Parquet.

    Args:
        path: the file
        types: function that gives the type of each column
        ids: number of columns, from the left, that may hold names of nodes
        delimiter: separator of fields, by default that of the file's extension; ``" "`` is any run
            of blanks
        header: whether the first line names the columns; detected by default
    """
    import pyarrow as pa

    try:
        check_unpacked(path)
        if path.suffix == ".parquet":
            return _read_parquet(path, types)
        return _read_text(path, types, ids, delimiter, header)
    except (pa.ArrowException, OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path} cannot be read: {error}") from error


def _read_parquet(path: Path, types: Types) -> Columns:
    import pyarrow as pa
    import pyarrow.parquet

    content = pyarrow.parquet.read_metadata(path)
    packed = sum(content.row_group(i).total_byte_size for i in range(content.num_row_groups))
    check_bytes(path, max(packed, 8 * content.num_rows * content.num_columns))
    schema = pyarrow.parquet.read_schema(path)
    for field in schema:
        if pa.types.is_nested(field.type):
            raise DataError(
                f"{path}, column {field.name!r} is {field.type}, expected numbers or text"
            )
    texts = [field.name for field in schema if str(field.type) in _TEXTS]
    table = pyarrow.parquet.read_table(path, read_dictionary=texts)  # each text once
    check_bytes(path, sum(map(_text_bytes, table.columns)))
    if not table.num_rows:
        raise DataError(f"{path} is empty")
    first = [str(column[0].as_py()) for column in table.columns]
    try:
        wanted = types([name.lower() for name in table.column_names], first)
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    columns = []
    for name, column, kind in zip(table.column_names, table.columns, wanted, strict=True):
        try:
            coded = pa.types.is_dictionary(column.type)
            columns.append((column.cast(column.type.value_type) if coded else column).cast(kind))
        except pa.ArrowException as error:
            raise DataError(f"{path}, column {name!r}: {error}") from error
    return Columns(path, table.column_names, columns, None)


def _text_bytes(column: Any) -> int:
    """The bytes that a column of a few different texts takes if each row has its own."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not (pa.types.is_dictionary(column.type) and str(column.type.value_type) in _TEXTS):
        return 0
    chunks = column.chunks
    lengths = (
        pc.binary_length(chunk.dictionary).cast(pa.int64()).take(chunk.indices) for chunk in chunks
    )
    return sum(pc.sum(each).as_py() or 0 for each in lengths)


def _read_text(
    path: Path, types: Types, ids: int, delimiter: str | None, header: bool | None
) -> Columns:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.csv

    layout, first, number = _look(path, ids, delimiter, header)
    try:
        kinds = types(layout.names, first)
    except DataError as error:
        raise DataError(f"{path}, line {number}: {error}") from None
    names = [f"f{i}" for i in range(len(first))]
    options = dict(
        read_options=pyarrow.csv.ReadOptions(column_names=names, skip_rows=layout.skipped),
        parse_options=pyarrow.csv.ParseOptions(
            delimiter=layout.delimiter, quote_char=False if layout.delimiter == " " else '"'
        ),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types=dict(zip(names, map(pa.type_for_alias, kinds), strict=True)),
            null_values=[""],
            strings_can_be_null=True,
        ),
    )
    try:
        table = pyarrow.csv.read_csv(_open(path, layout.delimiter), **options)
    except pa.ArrowInvalid as error:
        _explain(layout, kinds)
        raise DataError(f"{path} cannot be parsed: {error}") from error
    columns = [
        pc.utf8_trim_whitespace(column) if kind == "string" else column
        for column, kind in zip(table.columns, kinds, strict=True)
    ]
    return Columns(path, layout.names, columns, layout)


def _open(path: Path, delimiter: str) -> Any:
    import pyarrow as pa

    stream = pa.input_stream(str(path), compression="gzip" if path.suffix == ".gz" else None)
    if delimiter != " ":
        return stream
    with stream:  # pyarrow knows no runs of blanks: make each one blank
        content = _BLANKS.sub(b" ", stream.read())
    content = content.replace(b"\n ", b"\n").replace(b" \n", b"\n").strip(b" ")
    return pa.BufferReader(content)


def _look(
    path: Path, ids: int, delimiter: str | None, header: bool | None
) -> tuple[_Layout, list[str], int]:
    """Detect the delimiter, comments and header; return the layout, the first row and its line."""
    name = path.name.removesuffix(".gz")
    delimiter = delimiter or TEXT.get(Path(name).suffix)
    if delimiter is None:
        raise DataError(
            f"{path}: {Path(name).suffix or 'no extension'} is not a known format; the extensions "
            f"are {', '.join(TEXT)} (each with .gz or without), .parquet, .npy and .npz"
        )
    skipped, top = _top(_Layout(path, delimiter, 0, None))
    if not top:
        raise DataError(f"{path} is empty")
    _check_delimiter(path, delimiter, top[0])
    (above, first), (below, second) = top[0], top[-1]
    over_numbers = any(
        is_number(b) and not is_number(a) for a, b in zip(first[:ids], second, strict=False)
    )
    unsure = header is None and (over_numbers or not any(map(is_number, first)))
    if header is None:
        header = _is_header(first, second if len(top) == 2 else [], ids)
    if not header:
        return _Layout(path, delimiter, skipped, None, unsure), first, above
    if len(top) == 1:
        raise DataError(f"{path} has a header and nothing below it")
    if len(second) != len(first):
        raise DataError(
            f"{path}, line {below}: {len(second)} fields below a header of {len(first)}"
        )
    names = [field.strip().lower() for field in first]
    return _Layout(path, delimiter, above, names), second, below


def _top(layout: _Layout) -> tuple[int, list[tuple[int, list[str]]]]:
    """The number of lines of comments, and the first two rows with the numbers of their lines."""
    skipped, rows = 0, list[tuple[int, list[str]]]()
    for number, line in layout.lines():
        if not rows and line.lstrip().startswith(_COMMENTS):
            skipped = number
            continue
        rows.append((number, layout.split(line, number)))
        if len(rows) == 2:
            break
    return skipped, rows


def _check_delimiter(path: Path, delimiter: str, top: tuple[int, list[str]]) -> None:
    number, fields = top
    if len(fields) > 1:
        return
    for other in ("\t", ";", ",", " ", "|"):
        if other != delimiter and other in fields[0].strip():
            raise DataError(
                f"{path}, line {number}: no {delimiter!r} in {fields[0]!r}, but {other!r}; pass "
                f"delimiter={other!r}"
            )


def _is_header(first: Sequence[str], second: Sequence[str], ids: int) -> bool:
    """Whether the first row is a header: it has no numbers, and usual names or numbers below it.
    A single numeric id proves nothing, since it may be a name.
    """
    if any(is_number(field) for field in first):
        return False
    if all(field.strip().lower() in _USUAL for field in first):
        return True
    if len(second) > ids:
        return any(is_number(field) for field in second[ids:])
    return bool(second) and all(is_number(field) for field in second)


_USUAL = {"source", "target", "src", "dst", "from", "to", "u", "v", "i", "j", "head", "tail"}
_USUAL |= {"id", "node", "node_id", "id1", "id2", "node1", "node2", "name", "label", "class", "y"}
_USUAL |= {"weight", "w", "split"}


def is_number(field: str) -> bool:
    """Whether a field is a number."""
    try:
        float(field)
    except ValueError:
        return False
    return True


def _explain(layout: _Layout, kinds: Sequence[str]) -> None:
    """Read line by line and raise an error that names the first wrong line."""
    for number, line in layout.rows():
        where = f"{layout.path}, line {number}"
        fields = layout.split(line, number)
        if len(fields) != len(kinds):
            shown = line.decode().strip()[:60]
            raise DataError(
                f"{where}: expected {len(kinds)} fields, found {len(fields)}: {shown!r}"
            )
        for place, (field, kind) in enumerate(zip(fields, kinds, strict=True), start=1):
            try:
                if field:
                    _PARSE[kind](field)
            except ValueError:
                raise DataError(
                    f"{where}: field {place} is {field!r}, expected "
                    f"{'an integer' if kind == 'int64' else 'a number'} as in the first row"
                ) from None


def existing(path: PathLike) -> Path:
    """The path of an existing file."""
    found = Path(path).expanduser()
    if not found.is_file():
        raise DataError(f"{found} is not a file")
    return found


def is_integer(field: str) -> bool:
    """Whether a field is a decimal integer that fits into 64 bits."""
    return re.fullmatch(r"[+-]?[0-9]{1,18}", field.strip()) is not None
