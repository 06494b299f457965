import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from graphsct.distributed.layout import FORMAT, Layout
from graphsct.errors import DataError, ExperimentError, TrainingError
from graphsct.extras import stored_results
from graphsct.files import write_json
from graphsct.paper.cell import Cell
from graphsct.paper.term import Term
from graphsct.paper.times import Times
from graphsct.records import Record, check_types
from graphsct.search import Found
from graphsct.training.run import Epoch, Run

EARLIER = Path(__file__).with_name("earlier")


class Point(NamedTuple):
    x: int
    y: float = 0.0


@dataclass(frozen=True)
class Options(Record, strict=True, noun="setting"):
    patience: int = 3
    rate: float | None = None

    def __post_init__(self):
        check_types(self)


@dataclass(frozen=True)
class Whole(Record, flat=("place",), leave_out=("notes", "options.rate"), error=DataError):
    place: Point
    options: Options
    points: tuple[Point, ...]
    more: dict[str, Any] = field(default_factory=dict)
    notes: str = ""


WHOLE = Whole(Point(1, 2.0), Options(5, 0.5), (Point(3), Point(4, 1.5)), {"a": (1, None)}, "mine")
VALUES = {
    "x": 1,
    "y": 2.0,
    "options": {"patience": 5},
    "points": [{"x": 3, "y": 0.0}, {"x": 4, "y": 1.5}],
    "more": {"a": [1, None]},
}


def test_records_become_plain_values_in_the_order_of_their_fields():
    assert json.dumps(WHOLE.to_dict()) == json.dumps(VALUES)
    assert WHOLE.to_json() == json.dumps(VALUES)


def test_plain_values_become_records():
    found = Whole.from_dict({**VALUES, "unknown": 1})
    expected = Whole(WHOLE.place, Options(5), WHOLE.points, {"a": [1, None]})
    assert found == expected == Whole.from_json(json.dumps(VALUES))
    assert type(Options.from_dict({"rate": 1}).rate) is float


@dataclass(frozen=True)
class Circle(Record, keys=("area", "radius")):
    radius: float

    @property
    def area(self):
        return 3 * self.radius**2


@dataclass(frozen=True)
class Ball(Circle, way_out="; blow it up"):
    pass


def test_properties_can_be_written_and_the_format_is_inherited():
    assert list(Ball(2.0).to_dict().items()) == [("area", 12.0), ("radius", 2.0)]
    assert Ball.from_dict(Ball(2.0).to_dict()) == Ball(2.0)
    with pytest.raises(TrainingError, match=r"^the value 'radius' is missing; blow it up$"):
        Ball.from_dict({})
    with pytest.raises(TrainingError, match=r"^the value 'radius' is missing$"):
        Circle.from_dict({})


@dataclass(frozen=True)
class Spare(Record, sparse=True):
    wheel: int
    spare: int | None = None
    size: int | None = 0


def test_sparse_records_leave_out_what_has_its_default():
    assert Spare(0).to_dict() == {"wheel": 0}
    assert Spare(0, 0, None).to_dict() == {"wheel": 0, "spare": 0, "size": None}
    assert Spare.from_dict({"wheel": 0}) == Spare(0)


@dataclass(frozen=True)
class Trial(Record, flat=("chosen",)):
    number: int
    chosen: dict[str, Any] = field(default_factory=dict)


def test_a_flat_dictionary_has_the_other_keys_in_their_order():
    values = {"number": 1, "width": 2, "alpha": None}
    assert Trial.from_dict(values) == Trial(1, {"width": 2, "alpha": None})
    assert list(Trial.from_dict(values).to_dict()) == list(values)


def test_an_unknown_class_argument_is_a_mistake():
    with pytest.raises(TypeError, match="stict"):
        type("Wrong", (Record,), {}, stict=True)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"options": {"patence": 1}}, "there is no setting 'patence', did you mean 'patience'?"),
        ({"options": {"patience": "1"}}, "options.patience is '1', expected a whole number"),
        ({"options": {"patience": True}}, "options.patience is True, expected a whole number"),
        ({"options": {"rate": []}}, r"options.rate is \[\], expected a number or nothing \(null\)"),
        ({"options": 3}, "options is 3, expected an object"),
        ({"points": "ab"}, "points is 'ab', expected a list"),
        ({"points": [{"x": 1}, {"x": 1.5}]}, r"points\[1\].x is 1.5, expected a whole number"),
        ({"points": [{"x": 1, "z": 1}]}, "there is no value 'z'; choose from x, y"),
        ({"points": [{}]}, r"the value 'points\[0\].x' is missing"),
        ({"points": [7]}, r"points\[0\] is 7, expected an object"),
        ({"more": [1]}, r"more is \[1\], expected an object"),
        ({"x": None}, "x is None, expected a whole number"),
        ({"x": 2**63}, rf"x is {2**63}, expected a whole number between -2\^63 and 2\^63"),
        ({"x": "a" * 99}, r"x is 'a{76}\.\.\., expected"),
    ],
)
def test_wrong_values_are_named_in_our_own_errors(change, message):
    with pytest.raises(DataError, match=f"^{message}"):
        Whole.from_dict({**VALUES, **change})


def test_what_is_missing_or_no_object_is_named():
    with pytest.raises(DataError, match=r"^the value 'x' is missing$"):
        Whole.from_dict({key: VALUES[key] for key in VALUES if key != "x"})
    with pytest.raises(TrainingError, match=r"^the settings are \[1\], expected an object"):
        Options.from_json("[1]")
    with pytest.raises(TrainingError, match=r"^the settings are not valid JSON"):
        Options.from_json("{")


def test_our_own_errors_of_inner_records_come_through():
    @dataclass(frozen=True)
    class Even(Record):
        number: int

        def __post_init__(self):
            if self.number % 2:
                raise ExperimentError(f"{self.number} is odd")

    Outer = dataclass(frozen=True)(
        type("Outer", (Record,), {"__annotations__": {"inner": Even}}, error=DataError)
    )
    with pytest.raises(ExperimentError, match=r"^3 is odd$"):
        Outer.from_dict({"inner": {"number": 3}})


@pytest.mark.parametrize("values", [{"patience": 1.5}, {"rate": "fast"}, {"rate": 10**400}])
def test_types_are_checked_when_a_record_is_made(values):
    with pytest.raises(TrainingError, match=f"^{next(iter(values))} is "):
        Options(**values)


def same(values):
    """The settings of an older file, with those that did not exist yet."""
    model = values["settings"]["model"]
    names = list(model)
    if "negative_slope" not in model:
        names.insert(names.index("activation") + 1, "negative_slope")
    values["settings"]["model"] = {name: model.get(name) for name in names}
    return values


@pytest.mark.parametrize("kind", [Cell, Term])
def test_stored_cells_are_written_as_they_were_read(kind, tmp_path):
    stored = kind.read_all()
    assert len(stored) == len(list((stored_results("paper") / kind.subfolder).glob("*.json"))) > 20
    for key, found in stored.items():
        before = kind.path(stored_results("paper"), key).read_text(encoding="utf-8")
        expected = json.dumps(same(json.loads(before)), indent=2) + "\n"
        assert expected == before or "negative_slope" not in before
        assert found.write(tmp_path).read_bytes() == expected.encode(), key.name


@pytest.mark.parametrize("name", ["time.json", "time-best.json"])
def test_stored_times_are_written_as_they_were_read(name, tmp_path):
    path = stored_results("paper") / "times" / name
    times = Times.from_json(path.read_text(encoding="utf-8"))
    write_json(tmp_path / name, times.to_dict())
    assert (tmp_path / name).read_bytes() == path.read_bytes()


def test_files_of_earlier_versions_are_written_as_they_were_read_by_new_names():
    texts = {name: (EARLIER / f"{name}.json").read_text() for name in ("best", "run", "partition")}
    best, run, partition = (
        json.loads(text.replace("_accuracy", "_score")) for text in texts.values()
    )
    found = Found.from_dict(json.loads(texts["best"]))  # which ignores the versions
    assert json.dumps(found.to_dict() | {"versions": best["versions"]}) == json.dumps(best)
    history = [dict(zip(Epoch._fields, (1, 1.0, 1.0, 0.5, 0.5), strict=True))]
    trained = Run.from_dict({**json.loads(texts["run"]), "history": history})
    assert trained.history == (Epoch(1, 1.0, 1.0, 0.5, 0.5),)
    assert json.dumps(trained.to_dict()) == json.dumps(
        {**run, "backend": None, "metric": "accuracy"}
    )
    assert Layout.read(EARLIER).to_dict() == {**partition, "format": FORMAT}


def test_a_run_takes_no_other_keys():
    run = json.loads((EARLIER / "run.json").read_text())
    with pytest.raises(TrainingError, match="there is no value 'best_epok', did you mean 'best_ep"):
        Run.from_dict({**run, "history": [], "best_epok": 3})
    with pytest.raises(TrainingError, match="there is no value 'epok', did you mean 'epoch'"):
        Run.from_dict({**run, "history": [{"epok": 3}]})
