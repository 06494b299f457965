import pytest
import torch
from torch.testing import assert_close

from graphsct import Graph, ModelError
from graphsct.engine.engine import refusal
from graphsct.nn import GCN, GCNII
from graphsct.nn.readout import Readout

EDGES = torch.tensor([[0, 1, 1, 2, 3, 4], [1, 0, 2, 1, 4, 3]])
BATCH = torch.tensor([0, 0, 0, 1, 1])
BY_HAND = {
    "mean": lambda rows: rows.mean(0),
    "sum": lambda rows: rows.sum(0),
    "max": lambda rows: rows.max(0).values,
}


@pytest.mark.parametrize("mode", BY_HAND)
def test_a_row_for_each_graph(mode):
    x = torch.randn(5, 4)
    expected = torch.stack([BY_HAND[mode](x[:3]), BY_HAND[mode](x[3:])])
    assert_close(Readout(mode)(x, BATCH), expected)
    assert_close(Readout(mode)(x), BY_HAND[mode](x)[None])
    assert mode in repr(Readout(mode))


def test_unknown_readouts_are_refused():
    with pytest.raises(ModelError, match="no readout 'men', did you mean 'mean'"):
        GCN(3, 4, 2, 2, readout="men")


@pytest.mark.parametrize("mode", BY_HAND)
@pytest.mark.parametrize("jumping", [None, "cat"])
def test_a_model_scores_graphs(mode, jumping):
    torch.manual_seed(0)
    model = GCNII(4, 6, 2, 3, readout=mode, jumping=jumping, control="gated").eval()
    x = torch.randn(5, 4)
    scores, layers = model(x, EDGES, batch=BATCH, return_layers=True)
    last = torch.cat(layers, 1) if jumping else layers[-1]
    expected = torch.stack([BY_HAND[mode](last[:3]), BY_HAND[mode](last[3:])])
    assert_close(scores, model.output(expected))
    alone = model(x[:3], EDGES[:, :4])
    assert_close(scores[:1], alone)


def test_without_a_readout_the_batch_changes_nothing():
    model = GCN(4, 6, 2, 3).eval()
    x = torch.randn(5, 4)
    assert model(x, EDGES, batch=BATCH).equal(model(x, EDGES))


def test_dropout_draws_a_mask_for_every_graph():
    model = GCN(4, 64, 2, 1, readout="sum", dropout=0.5)
    x = torch.randn(5, 4)
    assert not model(x, EDGES, batch=BATCH).equal(model(x, EDGES, batch=BATCH))


def test_the_engine_refuses_a_model_with_a_readout():
    x, graph = torch.randn(5, 4), Graph(EDGES)
    assert refusal(GCN(4, 6, 2, 2), x, graph) is None
    assert "cannot be recorded" in refusal(GCN(4, 6, 2, 2, readout="mean"), x, graph)
