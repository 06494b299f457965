import pytest
import torch

from graphsct import datasets
from graphsct.distributed import noise, write_partition
from graphsct.distributed.noise import SharedMasks
from graphsct.distributed.part import Part
from graphsct.nn.dropout import Masks, dropout


def words():
    """Sparse features, and nodes that METIS divides in no order."""
    data = datasets.csbm(90, 200, num_classes=3, num_components=2, num_features=20, seed=3)
    data.x = torch.where(data.x.abs() < 0.3, 0, data.x).to_sparse_csr()
    return data


def draw(masks, values, nodes):
    """What is left of ones, for each kind of mask in turn."""
    with masks.active():
        return [
            dropout(torch.ones(values), 0.5, kind="values"),
            dropout(torch.ones(nodes, 3), 0.1, kind="nodes"),
            dropout(torch.ones(nodes, 3), 0.25, kind="output"),
        ]


def draw_own(folder):
    part = Part.load(folder)
    masks = SharedMasks(torch.Generator().manual_seed(5), part, 0)
    drawn = draw(masks, len(part.entries), part.graph.num_nodes)
    return part.entries, part.graph.nodes, part.splits[0].train, drawn


@pytest.mark.parametrize("world", [1, 3])
@pytest.mark.parametrize("shuffled", [False, True])
def test_rows_are_those_that_one_process_alone_would_draw(workers, tmp_path, world, shuffled):
    data = words()
    if shuffled:
        data.graph.order = torch.randperm(90, generator=torch.Generator().manual_seed(2))
    write_partition(data, tmp_path, world, method="metis")
    alone = Masks(torch.Generator().manual_seed(5), data.train_mask)
    values, nodes, output = draw(alone, len(data.x.values()), 90)
    for entries, own, train, drawn in workers.run(world, draw_own, tmp_path):
        assert torch.equal(drawn[0], values[entries])
        assert torch.equal(drawn[1], nodes[own])
        assert torch.equal(drawn[2][train], output[own][train])


def test_blocks_leave_no_gaps(alone, tmp_path, monkeypatch):
    write_partition(words(), tmp_path / "parts", 1)
    whole = draw_own(tmp_path / "parts")[-1]
    monkeypatch.setattr(noise, "_BLOCK", 64)
    for one, other in zip(whole, draw_own(tmp_path / "parts")[-1], strict=True):
        assert torch.equal(one, other)
