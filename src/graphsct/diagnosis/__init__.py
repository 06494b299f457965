"""The diagnosis of any model: smoothness, rank and gradients of its layers, with a verdict."""

from graphsct.diagnosis.advice import Advice
from graphsct.diagnosis.calling import arguments
from graphsct.diagnosis.card import GraphCard
from graphsct.diagnosis.cause import Cause
from graphsct.diagnosis.diagnose import diagnose
from graphsct.diagnosis.diagnosis import Diagnosis
from graphsct.diagnosis.effect import Effect
from graphsct.diagnosis.influence import Influence
from graphsct.diagnosis.interventions import find_cause
from graphsct.diagnosis.layers import find_layers
from graphsct.diagnosis.lightning import LightningWatch
from graphsct.diagnosis.measure import InputReport, LayerReport, Reach
from graphsct.diagnosis.record import Recorder
from graphsct.diagnosis.remedies import try_remedies
from graphsct.diagnosis.standing import SplitScores, Standing, score_without_edges
from graphsct.diagnosis.verdict import Finding, Thresholds
from graphsct.diagnosis.watch import Watch

__all__ = [
    "Advice",
    "Cause",
    "Diagnosis",
    "Effect",
    "Finding",
    "GraphCard",
    "Influence",
    "InputReport",
    "LayerReport",
    "LightningWatch",
    "Reach",
    "Recorder",
    "SplitScores",
    "Standing",
    "Thresholds",
    "Watch",
    "arguments",
    "diagnose",
    "find_cause",
    "find_layers",
    "score_without_edges",
    "try_remedies",
]
