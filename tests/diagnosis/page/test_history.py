import pytest

from graphsct import fit
from graphsct.diagnosis.page.history import history
from graphsct.training import ModelConfig, TrainConfig

pytestmark = pytest.mark.usefixtures("seed")


def test_history_has_a_line_a_seed_and_a_star_at_the_chosen_epoch(data):
    runs = [
        fit(ModelConfig(hidden=8).build(data), data, TrainConfig(epochs=6, seed=seed))
        for seed in (0, 3)
    ]
    loss, accuracy = history(runs)
    assert [trace["name"] for trace in loss.figure["data"]] == [
        *["training"] * 2,
        *["validation"] * 2,
        "chosen epoch",
    ]
    second = loss.figure["data"][3]
    assert second["y"] == pytest.approx([epoch.val_loss for epoch in runs[1].history], rel=1e-5)
    assert second["hovertemplate"].startswith("seed 3, epoch")
    stars = accuracy.figure["data"][-1]
    assert stars["x"] == [run.best_epoch for run in runs]
    assert stars["y"] == pytest.approx([100 * run.val_score for run in runs], rel=1e-5)
    assert "the chosen epochs are" in loss.label
