"""GCNII with the gated control, which learns on one graph and works on another.

Run it with ``python examples/gcnii.py``; it takes a few seconds.
"""

import torch
from torch.nn import functional as F
from torch_geometric.utils import stochastic_blockmodel_graph

from graphsct import Graph
from graphsct.nn import GCNII

torch.manual_seed(0)


def communities(size):
    """Three communities; the features hint at the community through noise."""
    label = torch.arange(3).repeat_interleave(size)
    links = torch.full((3, 3), 0.6 / size) + 5.4 / size * torch.eye(3)
    graph = Graph(stochastic_blockmodel_graph([size] * 3, links), num_nodes=3 * size)
    return F.one_hot(label, 8).float() + torch.randn(3 * size, 8), graph, label


x, graph, label = communities(60)
train = torch.rand(180) < 0.3

model = GCNII(8, 16, 3, num_layers=8, alpha=0.2, theta=0.5, control="gated", dropout=0.2)
groups = model.param_groups(conv_weight_decay=0.01, dense_weight_decay=5e-4)
optimizer = torch.optim.Adam(groups, lr=0.01)
for _ in range(60):
    model.train()
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x, graph)[train], label[train])
    loss.backward()
    optimizer.step()

model.eval()
accuracy = (model(x, graph).argmax(1) == label)[~train].float().mean().item()
print(f"{graph}: accuracy {accuracy:.2f}")

x, graph, label = communities(100)
accuracy = (model(x, graph).argmax(1) == label).float().mean().item()
print(f"{graph}, never seen: accuracy {accuracy:.2f}")
