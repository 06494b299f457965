from collections import Counter

import pytest

from graphsct.datasets.catalog import CATALOG
from graphsct.errors import ExperimentError
from graphsct.paper.paper import DATASETS, MODELS, find_table, tables

CITATION, HETEROPHILIC = list(DATASETS)[:5], list(DATASETS)[5:]
DEPTHS = (2, 4, 16, 32)


def pick(name, **wanted):
    found = [
        cell
        for cell in tables()[name].cells
        if all(getattr(cell, key) == value for key, value in wanted.items())
    ]
    assert len(found) == 1
    return found[0]


def test_every_table_is_there_in_order_and_whole():
    assert {name: len(table.cells) for name, table in tables().items()} == {
        "depth": 5 * 3 * 2 * 4,
        "heterophilic": 5 * 2 * 2,
        "time-best": 5 * 2 * 2,
        "t-tests": 3 * 3 * 4,
        "statistics": 10 * 5,
        "sizes": 5 * 3 * 2 * 3,
        "grid": 10,
        "srelu": 5 * 2 * 4,
        "activations": 5 * 3 * 2 * 4,
        "heterophilic-std": 5 * 2,
        "time": 5 * 2 * 2,
    }
    assert [table.number for table in tables().values()] == list(range(1, 12))


def test_no_cell_is_there_twice_or_missing():
    for table in tables().values():
        places = Counter(
            (c.dataset, c.model, c.sct, c.depth, c.activation, c.quantity) for c in table.cells
        )
        assert set(places.values()) == {1}, table.name
    assert {(c.dataset, c.model, c.sct, c.depth) for c in tables()["depth"].cells} == {
        (d, m, s, n) for d in CITATION for m in MODELS for s in (False, True) for n in DEPTHS
    }
    assert {(c.dataset, c.model, c.sct) for c in tables()["heterophilic"].cells} == {
        (d, m, s) for d in HETEROPHILIC for m in ("gcn", "gcnii") for s in (False, True)
    }


@pytest.mark.parametrize(
    ("table", "where", "value", "std"),
    [
        ("depth", dict(dataset="cora", model="gcn", sct=True, depth=32), 67.2, None),
        ("depth", dict(dataset="physics", model="gcn", sct=True, depth=16), 50.9, 15.0),
        ("depth", dict(dataset="arxiv", model="egnn", sct=False, depth=32), 72.7, None),
        ("heterophilic", dict(dataset="squirrel", model="gcn", sct=False), 23.96, None),
        ("time-best", dict(dataset="texas", model="gcnii", sct=False), 3.1, None),
        ("t-tests", dict(dataset="citeseer", model="gcn", depth=16), 83.92, None),
        ("statistics", dict(dataset="physics", quantity="edges"), 247962, None),
        ("sizes", dict(dataset="cora", model="gcn", sct=True, quantity="parameters"), 110535, None),
        ("srelu", dict(dataset="arxiv", sct=True, depth=16), 73.0, None),
        (
            "activations",
            dict(dataset="physics", model="gcn", depth=32, activation="leaky_relu"),
            43.6,
            16.0,
        ),
        ("heterophilic-std", dict(dataset="cornell", model="gcn"), 55.95, 8.5),
        ("time", dict(dataset="chameleon", model="gcnii", sct=True), 0.020, None),
    ],
)
def test_spot_values(table, where, value, std):
    cell = pick(table, **where)
    assert (cell.value, cell.std) == (value, std)


def test_the_grid_has_its_values():
    grid = {(cell.model, cell.quantity): cell.values for cell in tables()["grid"].cells}
    assert grid[None, "conv_weight_decay"] == (0, 1e-4, 5e-4, 1e-3, 5e-3, 1e-2)
    assert grid[None, "hidden"] == (16, 32, 64, 128)
    assert grid["egnn", "c_max"] == (0.5, 1.0, 1.5, 2.0)


def test_misprints_are_marked_with_what_is_right():
    marked = {
        (table.number, cell.dataset, cell.model, cell.depth, cell.right)
        for table in tables().values()
        for cell in table.cells
        if cell.right is not None
    }
    assert marked == {
        (1, "cora", "gcnii", 4, 84.8),
        (1, "citeseer", "gcnii", 4, 72.9),
        (1, "citeseer", "gcnii", 32, 73.3),
        (2, "texas", "gcnii", None, 83.24),
        (5, "citeseer", None, None, 3327),
        (5, "texas", None, None, 183),
        (10, "texas", "gcnii", None, 83.24),
    }
    assert all(c.why for t in tables().values() for c in t.cells if c.right or c.printed)


def test_the_main_table_has_the_better_activation_but_for_marked_cells():
    for cell in tables()["depth"].cells:
        if cell.sct:
            better = max(
                pick(
                    "activations",
                    dataset=cell.dataset,
                    model=cell.model,
                    depth=cell.depth,
                    activation=activation,
                ).value
                for activation in ("relu", "leaky_relu")
            )
            assert better == (cell.right or cell.value), cell


def test_rows_that_stand_in_two_tables_agree():
    for cell in tables()["srelu"].cells:
        if not cell.sct:
            twin = pick("depth", dataset=cell.dataset, model="egnn", sct=False, depth=cell.depth)
            assert twin.value == cell.value
    for cell in tables()["heterophilic-std"].cells:
        twin = pick("heterophilic", dataset=cell.dataset, model=cell.model, sct=True)
        assert twin.value == cell.value


def test_statistics_are_those_of_the_catalogue():
    for cell in tables()["statistics"].cells:
        entry = CATALOG[cell.dataset]
        printed = getattr(entry.paper, cell.quantity)
        if isinstance(printed, str):
            assert printed.replace(",", "") == str(cell.value).replace(",", "")
        else:
            assert printed == cell.value
            assert (cell.right is not None) == (cell.quantity in entry.paper.misprints)


@pytest.mark.parametrize("name", ["table4", "4", "T-Tests", "TABLE4"])
def test_a_table_is_found_by_name_or_number(name):
    assert find_table(name).label == "tab:simple-t-test"


@pytest.mark.parametrize("name", ["table12", "0", "dept"])
def test_an_unknown_table_is_refused(name):
    with pytest.raises(ExperimentError, match=rf"no table '{name}'.*depth, .*table1 to table11"):
        find_table(name)
