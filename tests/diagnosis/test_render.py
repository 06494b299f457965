from dataclasses import replace

import pytest

from graphsct import diagnose
from graphsct.diagnosis.effect import Effect
from graphsct.diagnosis.remedies import AS_IS
from graphsct.training import ModelConfig, TrainConfig
from graphsct.training.seeds import run_seeds

pytestmark = pytest.mark.usefixtures("seed")


def test_training_and_effects_are_shown(data):
    model = ModelConfig(hidden=8, depth=3)
    runs = run_seeds(model, data, TrainConfig(epochs=4), range(2)).runs
    effects = (Effect(AS_IS, runs, (0.0, 0.0)), Effect("control", runs, (0.25, 0.35)))
    found = diagnose(model.build(data), data)
    text = str(replace(found, run=runs[0], effects=effects, untried={"identity": "a reason"}))
    assert f"test accuracy {100 * runs[0].test_score:.1f} %" in text
    assert "Remedies tried with 2 seeds, 4 epochs, the epoch selected by validation " in text
    assert "+30.0 ± 7.1" in text
    assert "not tried: identity start: a reason" in text


def test_names_are_no_markup(data):
    named = data.clone()
    named.name = "[bold]cora[/]"
    assert "on [bold]cora[/]: 300 nodes" in str(diagnose(ModelConfig(hidden=8).build(data), named))
