import pytest
import torch
import torch_geometric.nn as pyg
from torch.testing import assert_close

from graphsct import ModelError
from graphsct.remedies import REMEDIES


class Sum(torch.nn.Module):
    """Sums of the neighbours' features, by one convolution without weights."""

    def __init__(self):
        super().__init__()
        self.conv = pyg.SimpleConv()
        self.conv.out_channels = 3
        self.lin = torch.nn.Linear(3, 3)  # a model has weights

    def forward(self, x, edge_index, edge_weight=None):
        return self.conv(x, edge_index, edge_weight)


@pytest.fixture
def ring(seed):
    n = 2000
    here = torch.arange(n)
    there = (here + 1) % n
    return torch.stack([torch.cat([here, there]), torch.cat([there, here])])


def test_both_directions_of_an_edge_are_left_out(ring):
    model = REMEDIES["drop_edge"].apply(Sum(), value=0.25)
    seen = []
    model.conv.register_forward_pre_hook(lambda conv, args: seen.append(args))
    weight = torch.rand(2000).repeat(2)
    for args, kwargs in (((ring, weight), {}), ((ring,), {"edge_weight": weight})):
        model(torch.ones(2000, 3), *args, **kwargs)
        _, edges, weights = seen.pop()
        kept = dict(zip(map(tuple, edges.t().tolist()), weights.tolist(), strict=True))
        assert 0.7 < len(kept) / 4000 < 0.8
        given = dict(zip(map(tuple, ring.t().tolist()), weight.tolist(), strict=True))
        assert all(kept[j, i] == value == given[i, j] for (i, j), value in kept.items())
    model.eval()(torch.ones(2000, 3), ring)
    assert seen.pop()[1].equal(ring)


def test_nodes_are_left_out_for_all_their_neighbours(ring):
    model = REMEDIES["drop_node"].apply(Sum(), value=0.5)
    out = model(torch.ones(2000, 3), ring)
    assert set(out.unique().tolist()) == {0.0, 2.0, 4.0}
    assert (out == out[:, :1]).all()
    assert model.eval()(torch.ones(2000, 3), ring).unique().tolist() == [2.0]


@pytest.mark.parametrize("name", ["drop_message", "dropout"])
def test_entries_are_left_out_of_messages_or_of_features(ring, name):
    model = REMEDIES[name].apply(Sum(), value=0.5)
    out = model(torch.ones(2000, 3), ring)
    assert set(out.unique().tolist()) == {0.0, 2.0, 4.0}
    assert not (out == out[:, :1]).all()
    # A feature that is dropped is missing at both neighbours, a message at one.
    shared = torch.corrcoef(torch.stack([out[:, 0], out.roll(2, 0)[:, 0]]))[0, 1]
    assert_close(shared.item(), 0.5 if name == "dropout" else 0.0, rtol=0, atol=0.08)
    assert model.eval()(torch.ones(2000, 3), ring).unique().tolist() == [2.0]


def test_models_without_edges_or_with_a_wrong_rate_are_refused():
    with pytest.raises(ModelError, match=r"Linear takes no edge_index, .* it takes input"):
        REMEDIES["drop_edge"].apply(torch.nn.Linear(3, 3))
    for name in ("drop_edge", "drop_node", "drop_message", "dropout"):
        with pytest.raises(ModelError, match=r"dropout is 1\.0, expected a number in \[0, 1\)"):
            REMEDIES[name].apply(Sum(), value=1.0)
