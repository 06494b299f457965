import pytest
from runs import make_run

from graphsct.training import ModelConfig, TrainConfig
from graphsct.training.compare import Comparison
from graphsct.training.seeds import Results
from graphsct.training.words import describe


def training(control, seeds, num_splits=1, select="val_loss"):
    model = ModelConfig("gcn", control, depth=3, hidden=16)
    runs = tuple(make_run(0.5, seed=seed) for seed in seeds)
    results = Results(model, TrainConfig(select=select), runs, (None,) * len(runs))
    return Comparison("demo", num_splits, results)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (
            training("pooled", range(4), num_splits=10, select="val_score"),
            "control pooled; seeds 0 to 3, seed i on split i mod 10; the epoch chosen by "
            "validation accuracy",
        ),
        (
            training("gated", [2, 0, 5]),
            "control gated; seeds 0, 2 and 5; the epoch chosen by validation loss",
        ),
        (training(None, [7]), "control none; seed 7; the epoch chosen by validation loss"),
    ],
)
def test_training_is_described_in_a_line(found, expected):
    assert describe(found) == f"GCN, 3 layers of width 16, {expected}"
