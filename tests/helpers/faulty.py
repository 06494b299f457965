"""Models whose faults are known because they were built in."""

import torch
from torch.nn import functional as F
from torch_geometric.nn import GCNConv, SimpleConv


class Deep(torch.nn.Module):
    """Convolutions of one width that start at the identity, with a function after each."""

    def __init__(self, depth, width=16, classes=3, after=F.relu, conv=None):
        super().__init__()
        make = conv or (lambda: GCNConv(width, width, bias=False))
        self.convs = torch.nn.ModuleList(make() for _ in range(depth))
        self.head = torch.nn.Linear(width, classes)
        self.after = after
        for conv in self.convs:
            if hasattr(conv, "lin"):
                torch.nn.init.eye_(conv.lin.weight)

    def forward(self, x, edge_index):
        for conv in self.convs:
            x = self.after(conv(x, edge_index))
        return self.head(x)


def over_smoothed(depth=50):
    return Deep(depth)


def averaged(depth=50):
    """Converges to constants, which are not in the eigenspace of GCN."""
    return Deep(depth, conv=lambda: SimpleConv("mean", combine_root="self_loop"))


def dead(depth=6, at=3):
    model = Deep(depth)
    model.convs[at - 1].bias = torch.nn.Parameter(torch.full((16,), -100.0))
    return model


def faded(depth=6):
    model = Deep(depth)
    for conv in model.convs:
        torch.nn.init.eye_(conv.lin.weight).data.mul_(1e-3)
    return model


def collapsed(depth=4):
    model = Deep(depth, after=lambda x: x)
    with torch.no_grad():
        model.convs[1].lin.weight.copy_(torch.ones(16, 16))
    return model


def starved(depth=6):
    """The features are in order, but next to no gradient comes back."""
    return Deep(depth, after=lambda x: x.detach() + 1e-3 * (x - x.detach()))


def healthy():
    return Deep(2)


def constant():
    """Healthy features with a large constant in each dimension, as behind a bias."""
    return Deep(1, after=lambda x: x + 8)


class Shortcut(torch.nn.Module):
    """A starved stack with a way round it."""

    def __init__(self):
        super().__init__()
        self.inner = starved()

    def forward(self, x, edge_index):
        h = self.inner.convs[0](x, edge_index)
        for conv in self.inner.convs[1:]:
            h = self.inner.after(conv(h, edge_index))
        return self.inner.head(h + x)
