"""Smoothness control for convolutions of PyTorch Geometric, here a graph attention network.

Run it with ``python examples/any_convolution.py``; it takes a few seconds.
"""

import torch
from torch.nn import functional as F
from torch_geometric.nn import GATConv
from torch_geometric.utils import stochastic_blockmodel_graph

from graphsct import Graph
from graphsct.nn import add_control

torch.manual_seed(0)

label = torch.arange(3).repeat_interleave(60)
edges = stochastic_blockmodel_graph([60] * 3, torch.full((3, 3), 0.01) + 0.09 * torch.eye(3))
graph = Graph(edges, num_nodes=180)
x = F.one_hot(label, 8).float() + torch.randn(180, 8)
train = torch.rand(180) < 0.3


class AttentionNet(torch.nn.Module):
    """Two attention layers and a linear one."""

    def __init__(self, num_components):
        super().__init__()
        self.first = add_control(GATConv(8, 8, heads=2), num_components=num_components)
        self.second = add_control(GATConv(16, 8, heads=2), num_components=num_components)
        self.output = torch.nn.Linear(16, 3)

    def forward(self, x, graph):
        """Class scores; the control is added before the activation."""
        x = F.elu(self.first(x, graph))
        x = F.elu(self.second(x, graph))
        return self.output(x)


model = AttentionNet(graph.num_components)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
for _ in range(60):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x, graph)[train], label[train])
    loss.backward()
    optimizer.step()

accuracy = (model(x, graph).argmax(1) == label)[~train].float().mean().item()
print(f"accuracy {accuracy:.2f}")
