"""Layers and models that control the smoothness of their features."""

from graphsct.nn.activations import SReLU
from graphsct.nn.controls import SmoothnessControl
from graphsct.nn.energetic_conv import EnergeticConv
from graphsct.nn.energetic_gnn import EnergeticGNN
from graphsct.nn.gcn import GCN
from graphsct.nn.gcn2_conv import GCN2Conv
from graphsct.nn.gcn_conv import GCNConv
from graphsct.nn.gcnii import GCNII
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
