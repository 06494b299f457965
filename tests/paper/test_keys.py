import pytest

from graphsct.errors import ExperimentError
from graphsct.paper.cell import Key
from graphsct.paper.keys import Choice, base_of, key_of, keys_of
from graphsct.paper.paper import PaperCell, tables
from graphsct.paper.tables import experiments
from graphsct.paper.tables.experiment import TrainedExperiment
from graphsct.training import ModelConfig


@pytest.mark.parametrize(
    ("cell", "key"),
    [
        (("cora", "gcn", True, 2), ("cora", "gcn", "pooled", 2)),
        (("cora", "gcnii", True, 2), ("cora", "gcnii", "gated", 2)),
        (("cora", "egnn", True, 2), ("cora", "egnn", "gated", 2)),
        (("cora", "egnn", False, 2), ("cora", "egnn", None, 2, "srelu")),
        (("arxiv", "gcnii", True, 2), ("arxiv", "gcnii", "pooled", 2)),
        (("cora", "gcnii", False, 2), ("cora", "gcnii", None, 2)),
    ],
)
def test_the_control_is_that_of_the_table_of_sizes(cell, key):
    assert key_of(PaperCell(80.0, *cell)) == Key(*key)


def test_a_printed_activation_is_kept_and_its_base_is_that_of_the_main_table():
    key = key_of(PaperCell(80.0, "cora", "gcn", True, 2, activation="relu"))
    assert key == Key("cora", "gcn", "pooled", 2, "relu")
    assert base_of(key) == Key("cora", "gcn", None, 2)
    texas = key_of(PaperCell(80.0, "texas", "gcn", True, activation="leaky_relu"))
    assert base_of(texas) == Key("texas", "gcn", None, None, "leaky_relu")


def test_every_cell_comes_after_its_base_and_can_be_built():
    trained = [one for one in experiments().values() if isinstance(one, TrainedExperiment)]
    assert len(trained) == 6
    for experiment in trained:
        keys = keys_of(experiment.printed)
        assert len(set(keys)) == len(keys)
        for place, key in enumerate(keys):
            assert base_of(key) in keys[: place + 1]
            ModelConfig(key.model, key.control, key.depth or 2, activation=key.activation)
    assert len(keys_of(tables()["depth"])) == 120
    assert len(keys_of(tables()["heterophilic"])) == 20
    assert len(keys_of(tables()["srelu"])) == 40


def test_a_choice_leaves_what_is_named():
    keys = Choice.parse("cora, PubMed", "gcn", "2,16", "sct").keys(tables()["depth"])
    assert keys == [
        Key("cora", "gcn", "pooled", 2),
        Key("cora", "gcn", "pooled", 16),
        Key("pubmed", "gcn", "pooled", 2),
        Key("pubmed", "gcn", "pooled", 16),
    ]
    assert Choice.parse().keys(tables()["depth"]) == keys_of(tables()["depth"])


def test_what_a_cell_does_not_tell_is_never_left_out():
    assert Choice(depths=(2,), controls=("sct",)).takes("cora", None, None, None)
    assert not Choice(depths=(2,)).takes("cora", None, None, 4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("core",), "no data set 'core', did you mean 'cora'"),
        ((None, "gnc"), "no model 'gnc'"),
        ((None, None, "two"), "the depth is 'two'"),
        ((None, None, None, "pooled"), "no choice of control 'pooled'; choose from none, sct"),
    ],
)
def test_wrong_names_are_refused(arguments, message):
    with pytest.raises(ExperimentError, match=message):
        Choice.parse(*arguments)


def test_an_empty_choice_is_refused():
    with pytest.raises(ExperimentError, match=r"leave no cell of table 1 \(depth\)"):
        Choice.parse("texas").keys(tables()["depth"])
