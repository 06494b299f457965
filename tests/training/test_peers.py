import pytest
import torch
from torch.testing import assert_close

from graphsct.datasets import csbm
from graphsct.training.bench import CONFIG, Case, make_model, our_epoch
from graphsct.training.peers import EXPERT, PYG, peer_epoch


def data(components, sparse):
    found = csbm(60, 150, num_classes=3, num_components=components, num_features=40)
    found.x = found.x * (torch.rand(found.x.shape) < 0.05) if sparse else found.x
    return found


@pytest.mark.parametrize("peer", [*PYG, EXPERT])
@pytest.mark.parametrize("model", ["gcn", "gcnii"])
@pytest.mark.parametrize("control", [False, True])
@pytest.mark.parametrize(("components", "sparse"), [(1, False), (4, True)])
def test_a_peer_computes_what_we_compute(peer, model, control, components, sparse):
    torch.manual_seed(0)
    given = data(components, sparse)
    ours = make_model(Case("", model, 3, 8), given, control, dropout=0.0)
    for weight in ours.parameters():
        torch.nn.init.normal_(weight, std=0.3)
    theirs = peer_epoch(peer, ours, given, CONFIG)
    own = our_epoch(ours, given)
    found = [(own(), theirs()) for _ in range(3)]
    assert found[0][0] != found[2][0]
    for our_numbers, their_numbers in found:
        assert_close(their_numbers, our_numbers, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("peer", [*PYG, EXPERT])
@pytest.mark.parametrize("model", ["gcn", "gcnii"])
def test_a_peer_drops_features_in_training_only(peer, model):
    torch.manual_seed(0)
    given = data(2, True)
    ours = make_model(Case("", model, 2, 8), given, False, dropout=0.5)
    frozen = CONFIG.__class__(learning_rate=1e-30)
    epoch = peer_epoch(peer, ours, given, frozen)
    (first, *evaluated), (second, *again) = epoch(), epoch()
    assert first != second
    assert evaluated == again
