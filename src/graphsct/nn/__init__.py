"""Layers and models that control the smoothness of their features."""

from graphsct.nn.activations import ACTIVATIONS, SReLU
from graphsct.nn.blueprint import MODELS, Blueprint
from graphsct.nn.control_model import control_convolutions
from graphsct.nn.controls import CONTROLS, SmoothnessControl
from graphsct.nn.convolution import Convolution, LinearForm
from graphsct.nn.decoupled import APPNP, DAGNN
from graphsct.nn.energetic_conv import EnergeticConv
from graphsct.nn.energetic_gnn import EnergeticGNN
from graphsct.nn.gcn import GCN
from graphsct.nn.gcn2_conv import GCN2Conv
from graphsct.nn.gcn_conv import GCNConv
from graphsct.nn.gcnii import GCNII
from graphsct.nn.geometric import GeometricModel
from graphsct.nn.model import Model, register
from graphsct.nn.wrap import add_control

__all__ = [
    "ACTIVATIONS",
    "APPNP",
    "CONTROLS",
    "DAGNN",
    "GCN",
    "GCNII",
    "MODELS",
    "Blueprint",
    "Convolution",
    "EnergeticConv",
    "EnergeticGNN",
    "GCN2Conv",
    "GCNConv",
    "GeometricModel",
    "LinearForm",
    "Model",
    "SReLU",
    "SmoothnessControl",
    "add_control",
    "control_convolutions",
    "register",
]
