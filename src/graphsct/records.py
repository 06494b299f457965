"""Records: dataclasses that are written as JSON objects and read back, all by one converter."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields, replace
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, ClassVar, Self, get_args, get_origin, get_type_hints

from cattrs import (
    BaseValidationError,
    ClassValidationError,
    Converter,
    ForbiddenExtraKeysError,
    IterableValidationError,
)
from cattrs.cols import (
    homogenous_tuple_structure_factory,
    is_namedtuple,
    namedtuple_dict_structure_factory,
    namedtuple_dict_unstructure_factory,
)
from cattrs.gen import make_dict_structure_fn

from graphsct.errors import GraphsctError, TrainingError
from graphsct.files import parse_json
from graphsct.names import nearest

__all__ = ["Record", "check_types"]

Hook = Callable[[Any, Any], Any]

#: Keys in files of earlier versions, with their names in this one.
_EARLIER = {f"{part}_accuracy": f"{part}_score" for part in ("train", "val", "test")}


@dataclass(frozen=True)
class _Format:
    keys: tuple[str, ...] = ()
    flat: tuple[str, ...] = ()
    leave_out: tuple[str, ...] = ()
    sparse: bool = False
    strict: bool = False
    noun: str = "value"
    error: type[GraphsctError] = TrainingError
    way_out: str = ""


class Record:
    """Base of the dataclasses that are written as JSON objects.

    A subclass says with class arguments how its object differs from its fields:

    - ``keys``: the attributes to write, properties included, in order; by default all fields
    - ``flat``: fields whose own keys stand beside the others instead of in an object of their own;
      a dictionary has all keys that are no field
    - ``leave_out``: fields that are not written, ``"field"`` or ``"field.key"``
    - ``sparse``: whether fields with their default values are left out
    - ``strict``: whether unknown keys are refused instead of ignored
    - ``noun``, ``error``, ``way_out``: what errors call a key, their class, and how they end

    All of these are inherited. Keys that are missing keep their defaults.

    Example:
        >>> @dataclass(frozen=True)
        ... class Point(Record, strict=True, noun="coordinate"):
        ...     x: float
        ...     y: float = 0.0
        >>> Point.from_dict({"x": 1}).to_dict()
        {'x': 1.0, 'y': 0.0}
        >>> Point.from_dict({"x": "one"})
        Traceback (most recent call last):
        graphsct.errors.TrainingError: x is 'one', expected a number
    """

    _format: ClassVar[_Format] = _Format()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__()
        cls._format = replace(cls._format, **options)

    def to_dict(self) -> dict[str, Any]:
        """The record as plain values: numbers, strings, lists and dictionaries."""
        form, values = self._format, dict[str, Any]()
        defaults = _defaults(type(self)) if form.sparse else {}
        for key in form.keys or _names(type(self)):
            if key not in form.leave_out and getattr(self, key) != defaults.get(key, MISSING):
                value = _CONVERTER.unstructure(getattr(self, key))
                values |= value if key in form.flat else {key: value}
        for outer, dot, inner in (path.partition(".") for path in form.leave_out):
            if dot:
                del values[outer][inner]
        return values

    def to_json(self, *, indent: int | None = None) -> str:
        """The same as JSON text; NaN, which JSON does not know, is refused."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """The record with these plain values, or an error that names the first wrong one."""
        form = cls._format
        if not isinstance(values, Mapping):
            raise form.error(
                f"the {form.noun}s are {values!r}, expected an object with their names"
                f"{form.way_out}"
            )
        try:
            return _CONVERTER.structure(values, cls)
        except BaseValidationError as error:
            cause = _explain(error, cls)
            raise (
                cause if isinstance(cause, GraphsctError) else form.error(f"{cause}{form.way_out}")
            ) from None

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The record in a JSON text."""
        try:
            values = parse_json(text)
        except ValueError as error:
            form = cls._format
            raise form.error(f"the {form.noun}s are not valid JSON: {error}") from error
        return cls.from_dict(values)

    @classmethod
    def from_file(cls, path: Path, refusal: str) -> Self:
        """The record in a JSON file, or an error that names the file.

        Args:
            path: the file
            refusal: what the error says of a wrong file, such as ``is not a cell``
        """
        try:
            return cls.from_json(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise cls._format.error(f"{path} {refusal}: {error}; mend it or delete it") from error


def check_types(record: Record) -> None:
    """Refuse a new record with a value of a wrong type; whole numbers become floats if need be."""
    kind: Any = type(record)  # hashable, which mypy doubts
    for name, hint in _hints(kind).items():
        if get_origin(hint) is not ClassVar:
            try:
                value = _CONVERTER.structure(getattr(record, name), hint)
            except _WrongTypeError as error:
                raise record._format.error(_wrong(name, error, hint)) from None
            object.__setattr__(record, name, value)


@cache
def _hints(kind: type) -> dict[str, Any]:
    """The types of a record's values by name, which take longer to find than to check."""
    return get_type_hints(kind)


class _WrongTypeError(Exception):
    """Carries a value that is not of the type expected, and perhaps what else is expected of it."""


_KINDS: dict[Any, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a string",
    NoneType: "nothing (null)",
    tuple: "a list",
}


def _wrong(path: str, error: _WrongTypeError, hint: Any) -> str:
    kinds = get_args(hint) if isinstance(hint, UnionType) else (hint,)
    wanted = " or ".join(_KINDS.get(get_origin(kind) or kind, "an object") for kind in kinds)
    value, *more = error.args
    shown = repr(value)
    shown = shown if len(shown) <= 80 else f"{shown[:77]}..."
    return " ".join([f"{path} is {shown}, expected {wanted}", *more])


def _names(kind: Any) -> tuple[str, ...]:
    """The fields of a record or of a named tuple."""
    return kind._fields if is_namedtuple(kind) else tuple(field.name for field in fields(kind))


def _defaults(kind: Any) -> dict[str, Any]:
    return {field.name: field.default for field in fields(kind)}


def _explain(error: Any, kind: Any, path: str = "", hint: Any = None) -> GraphsctError | str:
    """Describe the first thing that is wrong; an error of our own is returned as it is."""
    if isinstance(error, GraphsctError):
        return error
    if isinstance(error, _WrongTypeError):
        return _wrong(path, error, hint)
    noun = getattr(kind, "_format", _Format()).noun
    if isinstance(error, ForbiddenExtraKeysError):
        name = min(error.extra_fields)
        return f"there is no {noun} {name!r}{nearest(name, _names(error.cl))}"
    if isinstance(error, KeyError):
        return f"the {noun} {path!r} is missing"
    if isinstance(error, ClassValidationError):
        noted, others = error.group_exceptions()
        unknown = [other for other in others if isinstance(other, ForbiddenExtraKeysError)]
        if unknown or not noted:
            return _explain((unknown or others)[0], error.cl, path)
        cause, note = noted[0]
        flat = note.name in getattr(error.cl, "_format", _Format()).flat
        inner = path if flat else f"{path}.{note.name}".lstrip(".")
        return _explain(cause, error.cl, inner, note.type)
    if isinstance(error, IterableValidationError):
        cause, item = error.group_exceptions()[0][0]
        return _explain(cause, kind, f"{path}[{item.index}]", item.type)
    return f"{path or f'the {noun}'} cannot be read: {error}"


#: Whole numbers as large do not fit into 64 bits, which is what all libraries below have.
_TOO_LARGE = 2**63


def _strict(kind: type, *others: type) -> Hook:
    """A hook that takes values of these very types: no ``True`` for 1, no ``"1"`` for 1."""

    def structure(value: Any, _: Any) -> Any:
        if type(value) not in (kind, *others):
            raise _WrongTypeError(value)
        if type(value) is int and abs(value) >= _TOO_LARGE:
            raise _WrongTypeError(value, "between -2^63 and 2^63")
        return kind(value)

    return structure


def _from(kinds: Any, read: Hook) -> Hook:
    """A hook that refuses values which are not of these kinds."""

    def structure(value: Any, kind: Any) -> Any:
        if not isinstance(value, kinds):
            raise _WrongTypeError(value)
        return read(value, kind)

    return structure


def _current(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values by their names in this version."""
    return {_EARLIER.get(key, key): value for key, value in values.items()}


def _structure_record(kind: type[Record], converter: Converter) -> Hook:
    form = kind._format
    read = make_dict_structure_fn(kind, converter, _cattrs_forbid_extra_keys=form.strict)
    fixed, hints = set(_names(kind)) - set(form.flat), get_type_hints(kind)

    def structure(values: Any, _: Any) -> Any:
        values = _current(values)
        for name in form.flat:
            known = values.keys() - fixed if _is_dict(hints[name]) else _names(hints[name])
            inner = {key: value for key, value in values.items() if key in known}
            values = {k: v for k, v in values.items() if k not in known} | {name: inner}
        return read(values, kind)

    return _from(Mapping, structure)


def _structure_named_tuple(kind: Any, converter: Converter) -> Hook:
    read = namedtuple_dict_structure_factory(kind, converter, "from_converter", True)
    return _from(Mapping, lambda values, _: read(_current(values), kind))


def _structure_tuple(kind: Any, converter: Converter) -> Hook:
    return _from(list | tuple, homogenous_tuple_structure_factory(kind, converter))


def _is_record(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Record)


def _dictionary(converter: Converter) -> Hook:
    """Read a dictionary, and its values by their type."""

    def read(values: Any, kind: Any) -> Any:
        of = get_args(kind)[1]
        return {key: converter.structure(value, of) for key, value in values.items()}

    return read


def _is_dict(kind: Any) -> bool:
    return bool(get_origin(kind) is dict)


def _is_tuple(kind: Any) -> bool:
    return get_origin(kind) is tuple and get_args(kind)[-1] is ...


def _make_converter() -> Converter:
    converter = Converter(unstruct_collection_overrides={tuple: list})
    for kind in (bool, int, str):
        converter.register_structure_hook(kind, _strict(kind))
    converter.register_structure_hook(float, _strict(float, int))
    converter.register_structure_hook_func(_is_dict, _from(Mapping, _dictionary(converter)))
    converter.register_structure_hook_factory(_is_tuple, _structure_tuple)
    converter.register_structure_hook_factory(is_namedtuple, _structure_named_tuple)
    converter.register_unstructure_hook_factory(is_namedtuple, namedtuple_dict_unstructure_factory)
    converter.register_structure_hook_factory(_is_record, _structure_record)
    converter.register_unstructure_hook_func(_is_record, lambda record: record.to_dict())
    return converter


_CONVERTER = _make_converter()
