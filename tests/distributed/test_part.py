import shutil

import pytest
import torch

from graphsct import DataError, datasets
from graphsct.distributed import Part, write_partition
from graphsct.training.data import SplitData


@pytest.fixture(scope="module")
def data():
    return datasets.csbm(60, 120, num_classes=3, num_components=2, num_features=5, seed=2)


class Rows(torch.nn.Module):
    """Gives the features back, of which the largest is the class."""

    def forward(self, x, graph):
        return x[:, :3]


def load(folder):
    part = Part.load(folder, torch.float64)
    score = part.data().test_score(Rows())
    return part.graph.nodes, part.x, part.y, part.splits[0], score


@pytest.mark.parametrize("method", ["contiguous", "metis"])
def test_each_process_has_its_rows_and_the_test_accuracy_of_all(workers, data, tmp_path, method):
    write_partition(data, tmp_path, 3, method=method)
    expected = SplitData.of(data).test_score(Rows())
    answers = workers.run(3, load, tmp_path)
    for nodes, x, y, split, score in answers:
        assert torch.equal(x, data.x[nodes].double())
        assert torch.equal(y, data.y[nodes])
        assert torch.equal(split.test, data.test_mask[nodes])
        assert score == expected
    assert sorted(torch.cat([answer[0] for answer in answers]).tolist()) == list(range(60))


def test_sparse_features_are_loaded_as_they_were(alone, data, tmp_path):
    sparse = data.clone()
    sparse.x = torch.where(data.x.abs() < 0.3, 0, data.x).to_sparse_csr()
    write_partition(sparse, tmp_path / "parts", 1)
    part = Part.load(tmp_path / "parts")
    assert part.x.layout == torch.sparse_csr
    assert torch.equal(part.x.to_dense(), sparse.x.to_dense())
    assert part.entries.tolist() == list(range(part.layout.values))
    assert (part.num_features, part.num_classes) == (5, 3)


def test_splits_that_are_not_there_and_other_numbers_of_processes(alone, data, tmp_path):
    write_partition(data, tmp_path / "one", 1)
    with pytest.raises(DataError, match="has 1 splits; 1 is not among them"):
        Part.load(tmp_path / "one").data(1)
    write_partition(data, tmp_path / "two", 2)
    with pytest.raises(DataError, match="has 2 parts, but there are 1 processes"):
        Part.load(tmp_path / "two")


def just_load(folder):
    return Part.load(folder).layout.name


def test_other_files_are_refused_at_the_start(workers, data, tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    write_partition(data, one, 2)
    other = data.clone()
    other.y = other.y.roll(1)
    write_partition(other, two, 2)
    answers = workers.attempt(2, just_load, each=[one, two])
    for good, text in answers:
        assert not good
        assert "has another partition than process" in text
        assert "give all machines the same files" in text
    shutil.copy(one / "partition.json", two)  # the right header over wrong files
    (_, first), (_, second) = workers.attempt(2, just_load, each=[one, two])
    assert "process 1 has no data to train on" in first
    assert "part-1.safetensors is not the file that partition.json describes" in second
