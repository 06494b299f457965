"""A list of small graphs whose targets a model can learn: cycles against trees."""

import torch
from torch_geometric.data import Data
from torch_geometric.utils import to_undirected


def shapes(count=60, seed=0):
    """Cycles, of class 1, and random trees, of class 0; a feature tells the leaves."""
    generator = torch.Generator().manual_seed(seed)
    return [_shape(number, generator) for number in range(count)]


def _shape(number, generator):
    n = int(torch.randint(5, 12, (), generator=generator))
    nodes = torch.arange(n)
    parents = (torch.rand(n - 1, generator=generator) * nodes[1:]).long()
    cycle = number % 2 == 1
    ends = (nodes, (nodes + 1) % n) if cycle else (nodes[1:], parents)
    edge_index = to_undirected(torch.stack(ends))
    degree = torch.bincount(edge_index[0], minlength=n)
    x = torch.stack([degree == 1, torch.ones(n)], dim=1).float()
    return Data(x=x, edge_index=edge_index, y=torch.tensor([int(cycle)]))
