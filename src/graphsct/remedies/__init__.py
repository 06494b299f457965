"""What people do against over-smoothing: each remedy one object, all measured in the same way."""

from graphsct.remedies.baselines import BASELINES
from graphsct.remedies.connections import PATHS
from graphsct.remedies.controls import CONTROLLED
from graphsct.remedies.drops import DROPS
from graphsct.remedies.losses import LOSSES
from graphsct.remedies.norms import NORMALIZATIONS
from graphsct.remedies.remedy import FAMILIES, Number, Remedy
from graphsct.remedies.starts import STARTS

__all__ = ["FAMILIES", "REMEDIES", "Number", "Remedy"]

#: The remedies by name.
REMEDIES: dict[str, Remedy] = {
    remedy.name: remedy
    for family in (BASELINES, STARTS, NORMALIZATIONS, PATHS, DROPS, LOSSES, CONTROLLED)
    for remedy in family
}
