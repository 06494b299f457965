import pytest
import torch
from torch.testing import assert_close

from graphsct import ModelError, nn
from graphsct.distributed.norm import GlobalBatchNorm, make_global

X = torch.randn(12, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(1)) * 3 + 5
OPTIONS = {
    "plain": {},
    "average": {"momentum": None},
    "bare": {"affine": False, "track_running_stats": False},
}


def normalise(rank, world, options, layer=GlobalBatchNorm):
    """Two steps on the rows of one process, then one evaluation, with a gradient."""
    local = torch.nn.BatchNorm1d(4, dtype=torch.float64, **options)
    norm = local if layer is None else layer(local)
    x = X[rank::world].clone().requires_grad_()
    outputs = [norm(x), norm(2 * x), norm.eval()(x)]
    (gradient,) = torch.autograd.grad(sum(out.square().cos().sum() for out in outputs), x)
    assert norm.state_dict().keys() == local.state_dict().keys()
    return [*(out.detach() for out in outputs), gradient], norm.state_dict()


def one_of(world, options, rank):
    return normalise(rank, world, options)


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_moments_are_those_of_all_processes(workers, options):
    expected, state = normalise(0, 1, options, layer=None)
    for rank, (found, own) in enumerate(workers.run(3, one_of, 3, options, each=[0, 1, 2])):
        for ours, whole in zip(found, expected, strict=True):
            assert_close(ours, whole[rank::3], rtol=1e-10, atol=1e-10)
        assert_close(own, state, rtol=1e-12, atol=1e-12)


def test_weights_and_their_names_stay():
    model = nn.GCN(4, 6, 3, 2, norm="BatchNorm")
    before = model.state_dict(keep_vars=True)
    make_global(model)
    after = model.state_dict(keep_vars=True)
    assert list(after) == list(before)
    assert all(after[name] is before[name] for name in before)
    assert isinstance(model.norms[0].module, GlobalBatchNorm)


def test_norms_of_single_nodes_stay_and_others_are_refused():
    model = nn.GCN(4, 6, 3, 2)
    model.norms = torch.nn.ModuleList([torch.nn.LayerNorm(6), torch.nn.Identity()])
    make_global(model)
    assert [type(norm) for norm in model.norms] == [torch.nn.LayerNorm, torch.nn.Identity]
    with pytest.raises(ModelError, match="PairNorm would normalise over the nodes of one process"):
        make_global(nn.GCN(4, 6, 3, 2, norm="PairNorm"))
