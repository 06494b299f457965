from dataclasses import replace

import pytest
import torch

from graphsct import TrainingError
from graphsct.nn import GCN
from graphsct.training import TrainConfig
from graphsct.training.fingerprint import check_same, digest, fingerprint

CONFIG = TrainConfig(epochs=5)
DATA = {"x": "a digest"}


def of(config=CONFIG, data=DATA, **settings):
    return fingerprint(GCN(4, 8, 3, num_layers=2, **settings), data, config)


def test_first_weights_and_checkpoints_do_not_count():
    torch.manual_seed(0)
    first = of()
    torch.manual_seed(1)
    assert of(replace(CONFIG, checkpoint_every=3)) == first


def test_settings_models_and_data_count():
    others = [
        of(replace(CONFIG, seed=1)),
        of(replace(CONFIG, learning_rate=0.5)),
        of(data={"x": "another"}),
        of(dropout=0.25),
        of(residual=True),
        of(jumping="cat"),
    ]
    assert all(other != of() for other in others)


def test_a_digest_depends_on_values_and_shape_alone():
    x = torch.tensor([[1.0, 0.0], [0.0, 2.0]])
    assert digest(x) == digest(x.t().contiguous().t()) == digest(x.clone().requires_grad_())
    others = [x.view(4), x.double(), x + torch.eye(2), x.to_sparse_csr()]
    assert len({digest(x), *map(digest, others)}) == 5
    assert digest((2 * x).to_sparse_csr()) != digest(x.to_sparse_csr())


def test_differences_are_named_with_the_way_out():
    check_same(of(), of(), "run", "never mind")
    there = {"train": {"seed": 1, "old": True}, "same": 0}
    here = {"train": {"seed": 2}, "same": 0, "new": "x"}
    with pytest.raises(TrainingError) as error:
        check_same(there, here, "results/run", "Use force=True.")
    assert str(error.value) == (
        "results/run belongs to another run: train.seed is 1 there, 2 here; train.old is True "
        "there, missing here; new is missing there, 'x' here. Use force=True."
    )
    with pytest.raises(TrainingError, match=r"; and 2 more\. Use"):
        check_same({}, dict.fromkeys("abcde", 1), "run", "Use another folder.")
