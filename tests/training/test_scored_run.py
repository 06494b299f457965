from runs import make_run

from graphsct.training import TrainConfig
from graphsct.training.scored_run import ScoredRun


def test_it_is_taken_from_a_run():
    run = make_run(0.5, 0.75, seed=3, config=TrainConfig(seed=3, select="val_loss"))
    assert ScoredRun.of(run, 4) == ScoredRun("val_loss", 3, 4, 0.5, 0.75, 0.25, 7, 9)
