import pytest
from runs import make_run

from graphsct import fit
from graphsct.diagnosis.page.history import history
from graphsct.plotting.interactive import share_scales
from graphsct.training import ModelConfig, TrainConfig
from graphsct.training.run import Epoch

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


@pytest.mark.parametrize("losses", [(0.5, 0.0), (0.0, 0.0)])
def test_a_loss_of_zero_is_drawn(losses):
    epochs = tuple(Epoch(i, loss, loss, 1.0, 1.0) for i, loss in enumerate(losses, 1))
    loss, _ = history([make_run(1.0, history=epochs, best_epoch=1)])
    share_scales([loss.figure])
    low, high = loss.figure["layout"]["yaxis"]["range"]
    assert -1 < low < high < 1
