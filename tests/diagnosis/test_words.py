from dataclasses import replace
from types import SimpleNamespace

import pytest
from runs import make_run

from graphsct.diagnosis import words
from graphsct.diagnosis.advice import Advice
from graphsct.diagnosis.effect import Effect
from graphsct.training import TrainConfig


@pytest.mark.parametrize(("components", "noun"), [(1, "component"), (1200, "components")])
def test_the_size_is_a_line(components, noun):
    graph = SimpleNamespace(nodes=5000, edges=12345, components=components)
    found = SimpleNamespace(graph=graph, layers=[None] * 3)
    expected = f"5,000 nodes, 12,345 edges, {components:,} connected {noun}; 3 layers"
    assert words.size(found) == expected


def test_training_is_a_line():
    assert words.trained(make_run(0.8125, 0.75, seed=4)) == (
        "trained for 9 epochs, seed 4: test accuracy 81.2 %, validation 75.0 % at epoch 7"
    )


@pytest.mark.parametrize(("seeds", "noun"), [(1, "seed"), (3, "seeds")])
def test_the_comparison_of_remedies_is_a_line(seeds, noun):
    config = TrainConfig(select="val_loss")
    runs = tuple(make_run(0.5, config=config) for _ in range(seeds))
    found = SimpleNamespace(effects=(Effect("as it is", runs, (0.0,) * seeds),))
    expected = (
        f"Remedies tried with {seeds} {noun}, 9 epochs, the epoch selected by validation loss:"
    )
    assert words.tried(found) == expected


def test_the_best_remedy_is_chosen_by_validation_in_the_direction_of_its_metric():
    def effect(name, metric, test, val):
        runs = make_run(test, val, metric=metric), make_run(test + 0.02, val, metric=metric)
        return Effect(name, runs, (0.1, 0.12))

    def found(metric):
        scores = {"as it is": (0.5, 0.5), "pair_norm": (0.6, 0.7), "gcnii": (0.9, 0.6)}
        effects = tuple(effect(name, metric, *both) for name, both in scores.items())
        advice = [Advice(name, f"write {name}", "", "") for name in ("gcnii", "pair_norm")]
        return SimpleNamespace(effects=effects, advice=advice)

    best = words.best(found("accuracy"))
    assert (best.name, best.title, best.line) == ("pair_norm", "PairNorm", "write pair_norm")
    assert best.text == (
        "Test accuracy 61.0 ± 1.4, 51.0 ± 1.4 without it; "
        "the 95 % interval of the difference is -1.7 to +23.7"
    )
    assert words.best(found("mae")).name == "gcnii"
    assert words.best(SimpleNamespace(effects=())) is None


def test_of_remedies_with_equal_scores_that_with_the_smaller_validation_loss_is_best():
    def effect(name, loss):
        return Effect(name, (replace(make_run(0.6, 0.7), val_loss=loss),), (0.1,))

    effects = effect("as it is", 2.0), effect("gcnii", 0.5), effect("pair_norm", 0.4)
    advice = [Advice(name, f"write {name}", "", "") for name in ("gcnii", "pair_norm")]
    best = words.best(SimpleNamespace(effects=effects, advice=advice))
    assert best.name == "pair_norm"
    equal = "GCNII scored equally on validation nodes; the validation loss decides"
    assert best.text.endswith(f". {equal}")
