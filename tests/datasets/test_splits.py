import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from graphsct import DataError
from graphsct.datasets import Fractions, PerClass, Split
from graphsct.datasets.splits import TorchPerClass, check_split

labels = st.lists(st.integers(-1, 3), min_size=4).map(lambda y: torch.tensor([0, 1, 2, 3, *y]))


@given(y=labels, train=st.floats(0.01, 0.7), val=st.floats(0.01, 0.29), seed=st.integers(0, 99))
def test_fractions_part_the_labelled_nodes(y, train, val, seed):
    split = Fractions(train, val, seed).draw(y)
    assert torch.stack(split).sum(0).equal((y >= 0).long())
    assert set(y[split.train].tolist()) == {0, 1, 2, 3}
    for label in range(4):
        size = int((y == label).sum())
        got = int((y[split.train] == label).sum())
        assert got == max(1, round(train * size))


@given(y=labels, seed=st.integers(0, 99))
def test_per_class_takes_as_many_of_each_class(y, seed):
    y = torch.cat([y, torch.arange(4), torch.arange(4)])
    split = PerClass(train=1, val=2, seed=seed).draw(y)
    assert torch.bincount(y[split.train]).tolist() == [1] * 4
    assert torch.bincount(y[split.val]).tolist() == [2] * 4
    assert torch.stack(split).sum(0).equal((y >= 0).long())


def test_pytorchs_generator_draws_class_by_class():
    y = torch.arange(300) % 3
    split = TorchPerClass(train=2, val=3, seed=5).draw(y)
    generator = torch.Generator().manual_seed(5)
    for label in range(3):
        nodes = (y == label).nonzero()[:, 0][torch.randperm(100, generator=generator)]
        assert split.train[nodes].nonzero()[:, 0].tolist() == [0, 1]
        assert split.val[nodes].nonzero()[:, 0].tolist() == [2, 3, 4]
    assert torch.stack(split).sum(0).equal(torch.ones(300, dtype=torch.long))


def test_the_seed_decides():
    y = torch.arange(400) % 4
    assert PerClass(seed=3).draw(y).train.equal(PerClass(seed=3).draw(y).train)
    assert not PerClass(seed=3).draw(y).train.equal(PerClass(seed=4).draw(y).train)


def test_what_cannot_be_drawn_is_named():
    y = torch.tensor([0] * 60 + [1] * 9)
    with pytest.raises(DataError, match="class 1 has 9 nodes, too few for train=20 and val=30"):
        PerClass().draw(y)
    for bad in (PerClass(train=0), PerClass(val=0)):
        with pytest.raises(DataError, match="less than one"):
            bad.draw(y)
    for bad in (
        Fractions(0.8, 0.3),
        Fractions(0, 0.5),
        Fractions(0.5, -0.1),
        Fractions(math.nan, 0.2),
    ):
        with pytest.raises(DataError, match="add up to less than 1"):
            bad.draw(y)
    with pytest.raises(DataError, match="class 1 has no node"):
        Fractions().draw(torch.tensor([0, 2, 2]))
    with pytest.raises(DataError, match="class 2 has no node"):
        Fractions().draw(torch.tensor([0, 1, 2**62]))


def mask(*nodes):
    found = torch.zeros(6, dtype=torch.bool)
    found[list(nodes)] = True
    return found


def test_broken_masks_are_named_with_the_node():
    y = torch.tensor([0, 1, 0, 1, 2, -1])
    good = Split(mask(0, 1, 4), mask(2), mask(3))
    assert check_split(good, y, every_class=True) is good
    for split, message in [
        (Split(mask(0, 1, 4), mask(1, 2), mask(3)), "node 1 is in train and in val"),
        (
            Split(mask(0, 1, 4), mask(2), mask(3, 4, 0)),
            "node 0 is in train and in test .nodes in both: 2",
        ),
        (Split(mask(0, 1, 4), mask(2), mask(5)), "node 5 is in test but has no label"),
        (Split(mask(0, 1, 4), mask(), mask(5)), "no node is in val"),
        (Split(mask(0, 1), mask(2), mask(3)), "class 2 has no training node"),
        (Split(mask(0, 1, 4)[:5], mask(2), mask(3)), r"train mask has shape \(5,\), expected \(6,"),
    ]:
        with pytest.raises(DataError, match=message):
            check_split(split, y, every_class=True)
    assert check_split(Split(mask(0, 1), mask(2), mask(3)), y, every_class=False)
    y[5] = 2**63 - 1
    with pytest.raises(DataError, match="class 3 has no training node"):
        check_split(good, y, every_class=True)


NAN = torch.nan
OTHER_TARGETS = {
    "numbers": torch.tensor([0.5, NAN, 2, 3, 4, 5, 6, 7, 8]),
    "labels": torch.tensor([[0.0, 1], [NAN, NAN], [1, NAN], *[[1, 1]] * 6]),
}


@pytest.mark.parametrize("kind", OTHER_TARGETS)
def test_of_other_targets_a_share_of_all_nodes_that_have_one(kind):
    y = OTHER_TARGETS[kind]
    split = Fractions(0.5, 0.25).draw(y)
    assert [int(mask.sum()) for mask in split] == [4, 2, 2]
    assert not any(mask[1] for mask in split)
    assert check_split(split, y, every_class=True) is split
    with pytest.raises(DataError, match=rf"targets are {kind}; use Fractions"):
        PerClass(1, 1).draw(y)
    split.test[1] = True
    with pytest.raises(DataError, match="node 1 is in test but has no label"):
        check_split(split, y, every_class=False)
