from types import SimpleNamespace

import pytest
from runs import make_run

from graphsct.diagnosis import words
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
