import json
from dataclasses import replace

import pytest

from graphsct import ModelError, TrainingError
from graphsct.search import Found, Task
from graphsct.training import ModelConfig, TrainConfig

TASK = Task("cora", "gcnii", "gated", 16)
FOUND = Found(
    task=TASK,
    model=ModelConfig(model="gcnii", control="gated", depth=16, alpha=0.1),
    train=TrainConfig(select="val_score"),
    normalize=True,
    score=0.8,
    trials=20,
    pruned=7,
    failed=1,
    seed=0,
    seeds_per_trial=2,
    seconds=12.5,
)


def test_both_go_through_json():
    assert Task.from_json(TASK.to_json()) == TASK
    values = json.loads(json.dumps(FOUND.to_dict()))
    assert Found.from_dict({**values, "versions": {}}) == FOUND
    assert set(values["train"]) == set(FOUND.train.to_dict())
    assert "options" not in values["task"]  # as before there were any
    fixed = replace(TASK, options={"residual": True})
    assert Task.from_json(fixed.to_json()) == fixed


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"model": "gnc"}, ModelError, "did you mean 'gcn'"),
        ({"select": "test"}, TrainingError, "select is 'test'"),
        ({"depth": 0}, TrainingError, "depth is 0, expected at least 1"),
        ({"max_hidden": 8}, TrainingError, "max_hidden is 8, expected at least 16"),
        ({"normalize": 1}, TrainingError, "normalize is 1, expected true or false"),
        ({"control": "poled"}, ModelError, "did you mean 'pooled'"),
        ({"activation": "relo"}, ModelError, "did you mean 'relu'"),
        ({"options": {"residul": True}}, ModelError, "did you mean 'residual'"),
        ({"options": {"alpha": 0.1}}, ModelError, "alpha is not for gcn, only for appnp and gcnii"),
    ],
)
def test_wrong_tasks_are_refused(settings, error, message):
    with pytest.raises(error, match=message):
        Task(**{"data": "demo", "model": "gcn", "control": None, "depth": 2, **settings})


def test_what_was_found_must_be_whole():
    values = FOUND.to_dict()
    del values["score"]
    with pytest.raises(TrainingError, match=r"'score' is missing; take a search's best\.json"):
        Found.from_dict(values)
