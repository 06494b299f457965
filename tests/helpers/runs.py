"""Records of runs that nobody trained."""

from graphsct.training import TrainConfig
from graphsct.training.run import Run


def make_run(test_score, val_score=0.5, *, seed=0, **more):
    values = dict(
        val_loss=0.25, best_epoch=7, epochs=9, seconds=1.5, interrupted=False, versions={}
    )
    config = TrainConfig(seed=seed)
    return Run(test_score, val_score, **values | {"config": config, "history": ()} | more)
