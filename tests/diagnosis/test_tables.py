from dataclasses import replace

import faulty
import pytest
from runs import make_run

from graphsct import diagnose
from graphsct.diagnosis import tables
from graphsct.diagnosis.effect import Effect
from graphsct.diagnosis.measure import Reach
from graphsct.diagnosis.verdict import Finding
from graphsct.training import ModelConfig, TrainConfig
from graphsct.training.compare import Comparison
from graphsct.training.seeds import Results


@pytest.fixture(scope="module")
def found(data):
    return diagnose(faulty.dead(), data)


def texts(table):
    return [[column.text(row) for column in table.columns] for row in table.rows]


def results(control, *scores, splits=None, **more):
    runs = tuple(make_run(score, seed=seed, **more) for seed, score in enumerate(scores))
    splits = splits or (None,) * len(runs)
    return Results(ModelConfig(control=control), TrainConfig(), runs, splits)


def test_every_layer_is_a_row_with_its_state(found):
    table = tables.layer_table(found, "untrained")
    assert table.title == "Layers, untrained"
    assert [row.number for row in table.rows] == list(range(1, len(found.layers) + 1))
    assert [row.state for row in table.rows] == list(found.states)
    assert table.rows == tables.short_layer_table(found).rows
    dead = texts(table)[-1]
    assert dead[4:6] == ["–", "16 of 16"]


def test_the_short_table_fits_into_80_columns(found):
    """The widest values of every column, and a name of which the end is shown."""
    layer = replace(
        found.layers[0],
        name="model.encoder.convs.100 (2)",
        channels=1024,
        dead=tuple(range(512)),
        contrast_rank=512.5,
    )
    every = tuple(range(1, 101))
    findings = tuple(Finding(kind, every, "") for kind in ("over-smoothed", "vanishing gradient"))
    wide = replace(found, layers=(replace(layer, contrast=0.001),) * 100, findings=findings)
    table = tables.short_layer_table(wide)
    assert set(wide.states) == {"over-smoothed, vanishing gradient"}
    assert texts(table)[0][1] == "…s.100 (2)"
    assert max(map(len, str(table).splitlines()[: -len(table.notes)])) <= 80


def test_a_vanishing_gradient_is_part_of_the_state(found):
    finding = Finding("vanishing gradient", (1,), "no gradient")
    table = tables.layer_table(replace(found, findings=(finding,)))
    state = next(column for column in table.columns if column.title == "state")
    assert state.field(table.rows[0]).text.endswith("vanishing gradient")
    assert state.field(table.rows[0]).kind == "worse"
    assert "vanishing" not in state.field(table.rows[1]).text


def test_dead_dimensions_have_no_part_in_the_reach(found):
    reach = Reach((0.1, 0.2, 0.6), (1.0, 0.5, 0.7), position=0.5)
    layer = replace(found.layers[0], channels=3, dead=(1,), reach=reach)
    assert tables.middle_reach(layer) == pytest.approx((0.35, 0.85, 0.5))
    assert tables.middle_reach(replace(layer, dead=(0, 1, 2))) is None
    assert tables.middle_reach(replace(layer, reach=None)) is None


def test_effects_come_after_the_model_as_it_is(found):
    assert tables.effect_table(found) is None
    runs = make_run(0.5, 0.25), make_run(0.7, 0.25)
    effects = Effect("as it is", runs, (0.0, 0.0)), Effect("sct_pooled", runs, (0.25, 0.35))
    assert texts(tables.effect_table(replace(found, effects=effects))) == [
        ["as it is", "60.0 ± 14.1", "25.0 ± 0.0", ""],
        ["SCT, pooled", "60.0 ± 14.1", "25.0 ± 0.0", "+30.0 ± 7.1"],
    ]


def test_a_comparison_ends_with_the_paired_difference():
    pair = results("pooled", 0.75, 0.85), results(None, 0.5, 0.5)
    assert texts(tables.comparison_table(Comparison("demo", 1, *pair))) == [
        ["pooled", "80.0 ± 7.1", "50.0 ± 0.0", "7", "1.5"],
        ["none", "50.0 ± 0.0", "50.0 ± 0.0", "7", "1.5"],
        ["difference, paired", "+30.0 ± 7.1", "", "", ""],
    ]
    assert len(tables.comparison_table(Comparison("demo", 1, pair[0])).rows) == 1


def test_a_comparison_names_its_seeds_where_they_differ():
    with_control, without = results("pooled", 0.75, 0.85, 0.8), results(None, 0.5, 0.6, 0.7)
    assert tables.comparison_table(Comparison("demo", 1, with_control, without)).notes == ()
    cut = replace(without, runs=(replace(without.runs[0], interrupted=True), *without.runs[1:]))
    table = tables.comparison_table(Comparison("demo", 1, with_control, cut))
    assert texts(table)[-1][:2] == ["difference, paired", "+17.5 ± 10.6"]
    assert table.notes == ("seeds that count: pooled 0 to 2; none 1 to 2; difference 1 to 2",)


def test_seeds_have_a_split_only_where_there_are_several():
    row = ["0", "75.0", "50.0", "0.25", "7", "9", "1.5"]
    assert texts(tables.seed_table(results(None, 0.75))) == [row]
    stopped = results(None, 0.75, splits=(3,), interrupted=True)
    assert texts(tables.seed_table(stopped)) == [["0, interrupted", "3", *row[1:]]]


def test_the_wanted_smoothness_stands_beside_the_range_of_control(found):
    assert found.wanted is not None
    assert tables.layer_table(found).notes == (f"wanted smoothness: {found.wanted}",)
    for make in (tables.long_layer_table, tables.short_layer_table):
        assert found.wanted in make(found).notes[-1]
    blind = tuple(replace(layer, reach=None) for layer in found.layers)
    assert tables.layer_table(replace(found, layers=blind)).notes == ()
    assert len(tables.short_layer_table(replace(found, layers=blind)).notes) == 1
    unknown = replace(found, graph=replace(found.graph, homophily=None))
    assert unknown.wanted is None
    assert tables.layer_table(unknown).notes == ()


def test_a_narrow_table_says_what_control_could_reach(found):
    def note(*reaches):
        layers = tuple(replace(found.layers[0], reach=reach) for reach in reaches)
        return tables.short_layer_table(replace(found, layers=layers)).notes[1]

    one, other = Reach((0.1, 0.2), (1.0, 1.0), 0.5), Reach((0.34, 0.3), (1.0, 1.0), 0.75)
    least = "reach: the least s that control could reach is"
    assert note(one, other) == f"{least} 0.10 to 0.30; the layers stand 50% to 75% of the way to 1"
    assert note(one, None) == f"{least} 0.10; the layers stand 50% of the way to 1"
    assert note(replace(one, position=None)) == f"{least} 0.10"
