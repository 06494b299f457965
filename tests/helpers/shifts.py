"""Activations with a known range of smoothness, and the smoothness of shifted features."""

import torch
from torch import nn

from graphsct import geometry
from graphsct.smoothness import normalized_smoothness

ACTIVATIONS = {**geometry.ACTIVATIONS, "steep": nn.LeakyReLU(0.6), "elu_half": nn.ELU(0.5)}


def achieved(z, graph, alpha, activation):
    return normalized_smoothness(activation(z - graph.unpool(alpha)), graph)


def component_smoothness(h, dense, component):
    """Normalized smoothness of one component alone, by the dense formula."""
    inside = dense.component == component
    e = dense.Q[inside, component]
    norm = h[inside].norm(dim=0)
    return torch.where(norm > 0, (e @ h[inside]).abs() / norm, 1.0)
