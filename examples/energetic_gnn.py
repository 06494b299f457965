"""The energetic network: its penalty belongs to the loss, and keeps the weights near their start.

Run it with ``python examples/energetic_gnn.py``; it takes a few seconds.
"""

import torch
from torch.nn import functional as F
from torch_geometric.utils import stochastic_blockmodel_graph

from graphsct.nn import EnergeticGNN

torch.manual_seed(0)

# Three communities of 60 nodes. Here the model gets a plain edge_index: the graph behind it is
# built at the first call and reused while it is the same tensor.
label = torch.arange(3).repeat_interleave(60)
edge_index = stochastic_blockmodel_graph([60] * 3, torch.full((3, 3), 0.01) + 0.09 * torch.eye(3))
x = F.one_hot(label, 8).float() + torch.randn(180, 8)
train = torch.rand(180) < 0.3

model = EnergeticGNN(8, 16, 3, num_layers=8, c_min=0.3, beta=0.1, control="gated", dropout=0.2)
optimizer = torch.optim.Adam(model.param_groups(dense_weight_decay=5e-4), lr=0.01)
for _ in range(60):
    model.train()
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x, edge_index)[train], label[train]) + model.penalty()
    loss.backward()
    optimizer.step()

model.eval()
accuracy = (model(x, edge_index).argmax(1) == label)[~train].float().mean().item()
print(f"accuracy {accuracy:.2f}")
for layer, conv in enumerate(model.convs, start=1):
    print(f"layer {layer}: distance of the weight from its start {conv.penalty().item():.3f}")
