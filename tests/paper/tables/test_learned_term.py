from dataclasses import replace

import pytest

from graphsct.paper.cell import Cell, CellSettings, Key
from graphsct.paper.tables import build, experiments
from graphsct.paper.term import Term, TermRun
from graphsct.training import ModelConfig, TrainConfig

CORA = Key("cora", "gcn", "pooled", 2)
TEXAS = Key("texas", "gcnii", "gated", None, "leaky_relu")


def layer(number, size, cosine=None, alive=(0.5, 0.6, 0.7)):
    networks = {
        name: {"dead": 2, "smoothness": s, "effective_rank": 4.0, "distance": 12.5}
        for name, s in zip(("with_term", "removed", "base"), alive, strict=True)
    }
    return {
        "layer": number,
        "size": size,
        "dimensions": 3.0,
        "weights": 0.25,
        "arrives": None if cosine is None else 1.5,
        "cosine": cosine,
        **networks,
    }


def run(seed, accuracy=0.8, removed=0.7, layers=None):
    others = {"frozen": 0.8, "plain": 0.75, "shuffled": 0.5, "base": 0.85}
    values = {
        "seed": seed,
        "split": None,
        "best_epoch": {"with_term": 40, "base": 30},
        "accuracy": {"with_term": accuracy, "removed": removed, **others},
        "changed": {"removed": 0.1, **dict.fromkeys(others, 0.2)},
        "layers": layers or [layer(1, 0.04, -0.5), layer(2, 0.08)],
    }
    return TermRun.from_dict(values)


def term(key, *runs):
    model = ModelConfig(key.model, key.control, 2, hidden=8)
    return Term(key, CellSettings(model, TrainConfig(learning_rate=0.01)), runs, "graphsct", {})


@pytest.fixture
def made(tmp_path):
    def go(*terms):
        for one in terms:
            one.write(tmp_path)
        return build("term", cells=tmp_path)

    return go


def test_changes_come_in_pairs(made):
    table = made(term(TEXAS, run(0)), term(CORA, run(0), run(1, 0.9, 0.6), run(2, 0.7, 0.5)))
    cora, texas = table.rows
    assert (cora.dataset, cora.depth, cora.our_depth, cora.n) == ("cora", 2, 2, 3)
    assert cora.ours == pytest.approx(80)
    assert cora.removed.mean == pytest.approx(-20)
    assert cora.removed.low == pytest.approx(-20 - 4.303 * 10 / 3**0.5, abs=0.01)
    assert cora.removed.changed == pytest.approx(10)
    assert cora.base.mean == pytest.approx(5)
    assert cora.size == pytest.approx(6)
    assert (cora.cosine, cora.weights, cora.reach) == (-0.5, 0.25, pytest.approx(0.4))
    assert (texas.depth, texas.n, texas.removed.low) == (None, 1, None)
    text = table.to_markdown()
    assert (
        "| Cora | GCN-SCT | 2 | 3 | 6.0 | 3.0 of 8 | 0.25 | 0.4 | 80.0 | -20.0 [-44.8, +4.8] |"
        in text
    )
    assert "| 80.0 | -10.0 |" in text


def test_features_and_layers(made):
    features, layers = made(term(CORA, run(0), run(1))).parts
    assert [row.network_title for row in features.rows] == [
        "with the term",
        "term removed",
        "trained without",
    ]
    assert [row.smoothness for row in features.rows] == [0.5, 0.6, 0.7]
    assert features.rows[0].dead == 25
    assert [(row.layer, row.cosine) for row in layers.rows] == [(1, -0.5), (2, None)]
    assert layers.rows[0].removed.smoothness == 0.6


def test_where_all_is_dead_nothing_is_said(made):
    dead = [layer(1, None, alive=(None, None, None))]
    table = made(term(CORA, run(0, layers=dead)))
    assert (table.rows[0].size, table.rows[0].cosine) == (None, None)
    assert "none is left" in table.to_markdown()


def test_settings_that_changed_since_are_told(made, tmp_path):
    one = term(CORA, run(0))
    Cell(CORA, one.settings).write(tmp_path)
    assert not any("have changed" in note for note in made(one).notes)
    Cell(CORA, replace(one.settings, normalize=True)).write(tmp_path)
    assert (
        "The settings of cora-gcn-pooled-2 have changed since its term was measured."
        in made(one).notes
    )


def test_without_terms_it_says_so(tmp_path):
    table = build("term", cells=tmp_path)
    assert table.rows == table.parts == ()
    assert "No term has been measured yet" in table.notes[-1]
    assert "term" in experiments()
