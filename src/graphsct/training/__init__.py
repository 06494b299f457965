"""Training: one run, many runs, and what a run needs to stop and go on."""

from graphsct.training.config import ModelConfig, TrainConfig
from graphsct.training.fit import fit
from graphsct.training.many import fit_many
from graphsct.training.run import Epoch, Run
from graphsct.training.selection import Selection

__all__ = ["Epoch", "ModelConfig", "Run", "Selection", "TrainConfig", "fit", "fit_many"]
