"""Layers and models that control the smoothness of their features."""

from graphsct.nn.activation import SReLU
from graphsct.nn.control import SmoothnessControl
from graphsct.nn.conv import EnergeticConv, GCN2Conv, GCNConv
from graphsct.nn.models import GCN, GCNII, EnergeticGNN
from graphsct.nn.wrap import add_control

__all__ = [
    "GCN",
    "GCNII",
    "EnergeticConv",
    "EnergeticGNN",
    "GCN2Conv",
    "GCNConv",
    "SReLU",
    "SmoothnessControl",
    "add_control",
]
