"""The diagnosis of any model: smoothness, rank and gradients of its layers, with a verdict."""

from graphsct.diagnosis.advice import Advice
from graphsct.diagnosis.calling import arguments
from graphsct.diagnosis.card import GraphCard
from graphsct.diagnosis.diagnose import diagnose
from graphsct.diagnosis.diagnosis import Diagnosis
from graphsct.diagnosis.effect import Effect
from graphsct.diagnosis.layers import find_layers
from graphsct.diagnosis.lightning import LightningWatch
from graphsct.diagnosis.measure import LayerReport, Reach
from graphsct.diagnosis.record import Recorder
from graphsct.diagnosis.remedies import try_remedies
from graphsct.diagnosis.verdict import Finding, Thresholds
from graphsct.diagnosis.watch import Watch

__all__ = [
    "Advice",
    "Diagnosis",
    "Effect",
    "Finding",
    "GraphCard",
    "LayerReport",
    "LightningWatch",
    "Reach",
    "Recorder",
    "Thresholds",
    "Watch",
    "arguments",
    "diagnose",
    "find_layers",
    "try_remedies",
]
