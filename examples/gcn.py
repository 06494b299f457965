"""A deep GCN with smoothness control, and what the control does to its features.

Run it with ``python examples/gcn.py``; it takes a few seconds.
"""

import torch
from torch.nn import functional as F
from torch_geometric.utils import stochastic_blockmodel_graph

from graphsct import Graph
from graphsct.nn import GCN
from graphsct.smoothness import normalized_smoothness

torch.manual_seed(0)

# Three communities of 60 nodes; the features hint at the community through noise.
label = torch.arange(3).repeat_interleave(60)
edges = stochastic_blockmodel_graph([60] * 3, torch.full((3, 3), 0.01) + 0.09 * torch.eye(3))
graph = Graph(edges, num_nodes=180)
x = F.one_hot(label, 8).float() + torch.randn(180, 8)
train = torch.rand(180) < 0.2

for control in (None, "pooled"):
    torch.manual_seed(1)
    model = GCN(8, 16, 3, num_layers=8, control=control, num_components=graph.num_components)
    groups = model.param_groups(conv_weight_decay=0.0, dense_weight_decay=5e-4)
    optimizer = torch.optim.Adam(groups, lr=0.01)
    for _ in range(60):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x, graph)[train], label[train])
        loss.backward()
        optimizer.step()

    scores, layers = model(x, graph, return_layers=True)
    accuracy = (scores.argmax(1) == label)[~train].float().mean().item()
    smoothness = normalized_smoothness(layers[-1].detach(), graph).mean().item()
    print(
        f"control {control}: accuracy {accuracy:.2f}, smoothness of the last layer {smoothness:.3f}"
    )
