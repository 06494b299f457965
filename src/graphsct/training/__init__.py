"""Training of one model or many, with early stopping, checkpoints and several seeds."""

from graphsct.training.config import ModelConfig, TrainConfig
from graphsct.training.fit import fit
from graphsct.training.loggers import Logger, MLflow, WeightsAndBiases
from graphsct.training.many import fit_many
from graphsct.training.metrics import METRICS, Metric
from graphsct.training.precision import PRECISIONS
from graphsct.training.run import Epoch, Run
from graphsct.training.seeds import Results, build_seeds, run_seeds
from graphsct.training.selection import Selection
from graphsct.training.tensorboard import TensorBoard

__all__ = [
    "METRICS",
    "PRECISIONS",
    "Epoch",
    "Logger",
    "MLflow",
    "Metric",
    "ModelConfig",
    "Results",
    "Run",
    "Selection",
    "TensorBoard",
    "TrainConfig",
    "WeightsAndBiases",
    "build_seeds",
    "fit",
    "fit_many",
    "run_seeds",
]
