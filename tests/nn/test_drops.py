import torch
from torch.testing import assert_close

from graphsct.nn import GCN
from graphsct.nn.drops import drop_messages, drop_nodes, without_drops


def test_nodes_are_dropped_as_a_whole_and_the_others_scaled():
    x = torch.rand(4000, 3) + 1
    out = drop_nodes(x, 0.25, training=True)
    kept = out.norm(dim=1) > 0
    assert_close(out[kept], x[kept] / 0.75)
    assert 0.7 < kept.float().mean() < 0.8
    assert drop_nodes(x, 0.25, training=False) is x
    assert drop_nodes(x, 0.0, training=True) is x


def test_messages_lose_entries_of_their_own(graph, dense, x):
    """On average nothing is lost, and the variance is that of entries lost one by one."""
    torch.manual_seed(0)
    noisy = drop_messages(graph, 0.5, training=True)
    draws = torch.stack([noisy.propagate(x) for _ in range(3000)])
    assert_close(draws.mean(0), dense.G @ x, rtol=0, atol=0.15)
    variance = dense.G.square() @ x.square()
    assert_close(draws.var(0), variance, rtol=0.25, atol=0.01)


def test_without_training_nothing_is_lost(graph):
    assert drop_messages(graph, 0.5, training=False) is graph
    assert drop_messages(graph, 0.0, training=True) is graph
    noisy = drop_messages(graph, 0.5, training=True)
    assert without_drops(noisy) is without_drops(graph) is graph


def test_messages_are_differentiable(graph, x):
    x = x.clone().requires_grad_()
    noisy = drop_messages(graph, 0.5, training=True)
    noisy.propagate(x).sum().backward()
    assert x.grad.isfinite().all()


def test_models_drop_in_training_alone(graph, x):
    for option in ("node_dropout", "message_dropout"):
        model = GCN(3, 8, 2, num_layers=2, **{option: 0.5}).double()
        plain = GCN(3, 8, 2, num_layers=2).double()
        plain.load_state_dict(model.state_dict())
        assert not model(x, graph).equal(plain(x, graph))
        assert model.eval()(x, graph).equal(plain(x, graph))
