import pytest

from graphsct.nn import EnergeticGNN
from graphsct.paper.author_settings import (
    author_cells,
    author_settings,
    published_score,
    repeated_score,
)
from graphsct.paper.cell import Key


def test_each_base_comes_with_sct_and_with_a_bias():
    keys = list(author_cells())
    for base, sct, bias in zip(keys[::3], keys[1::3], keys[2::3], strict=True):
        assert (base.control, sct.control, bias.control) == (None, "gated", "bias")
        assert base == sct._replace(control=None) == bias._replace(control=None)


def test_sides_differ_in_the_control_alone():
    cells = author_cells()
    for key, cell in cells.items():
        base = cells[key._replace(control=None)]
        assert cell.settings.train == base.settings.train
        own, other = (one.settings.model.to_dict() for one in (cell, base))
        assert {name for name in own if own[name] != other[name]} <= {"control"}
        assert cell.settings.rules == ("val_loss", "val_score")


#: Width, rate, dropout, decay of convolutions and of dense layers, alpha and theta, by depth.
GCNII = {
    ("cora", 64): (64, 0.01, 0.6, 0.01, 5e-4, 0.1, 0.5),
    ("cora", 2): (64, 0.01, 0.6, 0.01, 5e-4, 0.1, 0.5),
    ("citeseer", 32): (256, 0.01, 0.7, 0.01, 5e-4, 0.1, 0.6),
    ("pubmed", 16): (256, 0.01, 0.5, 5e-4, 5e-4, 0.1, 0.4),
    ("chameleon", 8): (64, 0.01, 0.5, 5e-4, 5e-4, 0.2, 1.5),
    ("cornell", 16): (64, 0.01, 0.5, 1e-3, 1e-3, 0.5, 1.0),
    ("texas", 32): (64, 0.01, 0.5, 1e-4, 1e-4, 0.5, 1.5),
    ("wisconsin", 16): (64, 0.01, 0.5, 5e-4, 5e-4, 0.5, 1.0),
    ("physics_egnn", 32): (64, 0.01, 0.8, 5e-4, 5e-4, 0.1, 0.5),
}
#: Rate, dropout before the output layer, decay of dense layers, c_min, beta and the offset.
EGNN = {
    ("cora", 16): (0.005, 0.6, 5e-4, 0.2, 0.1, -10.0),
    ("cora", 32): (0.005, 0.6, 5e-4, 0.15, 0.1, -10.0),
    ("pubmed", 16): (0.01, 0.0, 5e-4, 0.12, 0.12, -10.0),
    ("pubmed", 32): (0.01, 0.0, 5e-4, 0.11, 0.11, -10.0),
    ("physics_egnn", 16): (0.005, 0.6, 5e-5, 0.12, 0.1, -5.0),
}


def test_every_published_row_has_a_cell():
    keys = {(key.model, key.dataset, key.depth) for key in author_cells()}
    assert {("gcnii", *row) for row in GCNII} | {("egnn", *row) for row in EGNN} <= keys
    assert {model_set[0] for model_set in GCNII} == {k[1] for k in keys if k[0] == "gcnii"}
    assert {model_set[0] for model_set in EGNN} == {k[1] for k in keys if k[0] == "egnn"}


@pytest.mark.parametrize(("dataset", "depth"), GCNII)
def test_gcnii_has_the_settings_of_its_authors(dataset, depth):
    found = author_settings(Key(dataset, "gcnii", "gated", depth))
    model, train = found.model, found.train
    decays = train.conv_weight_decay, train.dense_weight_decay
    own = (model.hidden, train.learning_rate, model.dropout, *decays, model.alpha, model.theta)
    assert own == GCNII[dataset, depth]
    assert (model.conv_dropout, model.depth, found.normalize) == (model.dropout, depth, True)
    assert (train.epochs, train.patience, train.select) == (1500, 100, "val_loss")
    assert train.offset_weight_decay == 0


@pytest.mark.parametrize(("dataset", "depth"), EGNN)
def test_egnn_has_the_settings_of_its_authors(dataset, depth):
    found = author_settings(Key(dataset, "egnn", None, depth, "srelu"))
    model, train = found.model, found.train
    output = model.options.get("output_dropout", model.dropout)
    bounds = model.c_min, model.beta, model.offset
    assert (train.learning_rate, output, train.dense_weight_decay, *bounds) == EGNN[dataset, depth]
    assert model.dropout == (0.5 if dataset == "pubmed" else 0.6)
    assert (model.hidden, model.c_max, found.normalize) == (64, 1.0, True)
    assert (train.conv_weight_decay, train.offset_weight_decay) == (0, 1e-4)
    assert EnergeticGNN(5, 8, 3, num_layers=2).penalty_weight == 20


def test_gcnii_on_citeseer_is_as_published():
    found = author_settings(Key("citeseer", "gcnii", None, 32))
    model, train = found.model, found.train
    assert (model.hidden, model.depth, model.theta, model.alpha) == (256, 32, 0.6, 0.1)
    assert (model.dropout, model.conv_dropout) == (0.7, 0.7)
    assert (train.conv_weight_decay, train.dense_weight_decay) == (0.01, 5e-4)
    assert (train.learning_rate, train.patience, found.normalize) == (0.01, 100, True)


@pytest.mark.parametrize(("depth", "c_min"), [(16, 0.12), (32, 0.11)])
def test_egnn_on_pubmed_has_its_own_bound_where_it_is_deep(depth, c_min):
    model = author_settings(Key("pubmed", "egnn", None, depth, "srelu")).model
    assert model.c_min == model.beta == c_min
    assert model.options == {"output_dropout": 0.0}


def test_scores_of_others_are_known_for_their_own_depth_only():
    assert repeated_score(Key("cora", "gcnii", None, 64)) == 85.2
    assert repeated_score(Key("cora", "gcnii", None, 16)) is None


def test_published_scores_are_those_that_the_paper_copied():
    assert published_score(Key("cora", "gcnii", None, 32)) == 85.4
    assert published_score(Key("cora", "gcnii", None, 64)) == 85.5
    assert published_score(Key("pubmed", "egnn", None, 16, "srelu")) == 80.1
    assert published_score(Key("physics_egnn", "gcnii", None, 2)) == 92.5
    assert published_score(Key("texas", "gcnii", None, 32)) == 69.46
    assert published_score(Key("cora", "gcnii", None, 8)) is None
