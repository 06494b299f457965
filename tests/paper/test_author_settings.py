import pytest

from graphsct.paper.author_settings import author_cells, author_settings, published_score
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
    assert published_score(Key("cora", "gcnii", None, 64)) == 85.2
    assert published_score(Key("cora", "gcnii", None, 32)) is None
