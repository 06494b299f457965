import resource

import pytest
import torch

from graphsct import DataError, TrainingError, datasets
from graphsct.distributed import Layout, write, write_partition
from graphsct.distributed.partition import divide
from graphsct.training.disk import held


@pytest.fixture
def sparse():
    data = datasets.csbm(40, 80, num_features=6, seed=1)
    data.x = torch.where(data.x.abs() < 0.3, 0, data.x).to_sparse_csr()
    return data


def test_sparse_features_keep_their_places_in_the_whole(sparse, tmp_path):
    layout = write_partition(sparse, tmp_path, 3, method="metis")
    starts, values = sparse.x.crow_indices(), sparse.x.values()
    assert layout.values == len(values)
    for part in range(3):
        own = layout.open(tmp_path, part)
        assert torch.equal(own["x_places"], starts[own["nodes"]])
        for row, (place, node) in enumerate(zip(own["x_places"], own["nodes"], strict=True)):
            mine = own["x_values"][own["x_starts"][row] : own["x_starts"][row + 1]]
            assert torch.equal(mine, values[place : starts[node + 1]])


def test_nodes_stand_in_the_order_of_a_large_graph(sparse, tmp_path):
    order = sparse.graph.order = torch.arange(40).flip(0)
    layout = write_partition(sparse, tmp_path, 2)
    parts = [layout.open(tmp_path, part)["nodes"] for part in range(2)]
    assert all((nodes.diff() < 0).all() for nodes in parts)
    assert torch.cat(parts).sort().values.equal(order.flip(0))


@pytest.mark.parametrize("version", [1, 2, 3])
def test_partitions_of_the_first_version_are_read(sparse, tmp_path, version):
    layout = write_partition(sparse, tmp_path, 2)
    header = tmp_path / "partition.json"
    header.write_text(header.read_text().replace('"format": 2', f'"format": {version}'))
    if version < 3:
        assert Layout.read(tmp_path) == layout
    else:
        with pytest.raises(DataError, match="it has format 3, not 2"):
            Layout.read(tmp_path)


def test_training_nodes_are_numbered_through_all_parts(sparse, tmp_path):
    layout = write_partition(sparse, tmp_path, 2)
    numbers = []
    for part in range(2):
        own = layout.open(tmp_path, part)
        numbers += own["order"][0][own["masks"][0, 0]].tolist()
    assert numbers == list(range(layout.train[0]))


def test_a_partition_that_is_written_in_part_is_none(sparse, tmp_path, monkeypatch):
    write_partition(sparse, tmp_path, 2)

    def fail(path):
        raise OSError("the disk is full")

    monkeypatch.setattr(write, "checksum", fail)
    with pytest.raises(DataError, match=r"cannot write to .*: the disk is full. The folder has no"):
        write_partition(sparse, tmp_path, 3, force=True)
    with pytest.raises(DataError, match="is not a partitioned data set"):
        Layout.read(tmp_path)


def test_leftovers_of_a_killed_process_are_swept(sparse, tmp_path):
    for name in (".part-0-ab12cd_9.safetensors", ".part-7-ab12cd_9.safetensors"):
        (tmp_path / name).write_text("half of")
    write_partition(sparse, tmp_path, 2)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {".lock", "partition.json", "part-0.safetensors", "part-1.safetensors"}


def test_two_processes_do_not_write_one_partition(sparse, tmp_path):
    first = write_partition(sparse, tmp_path, 2)
    with held(tmp_path), pytest.raises(TrainingError, match="another process is using"):
        write_partition(sparse, tmp_path, 3, force=True)
    assert Layout.read(tmp_path) == first


def test_a_partition_that_another_process_wrote_meanwhile_stays(sparse, tmp_path, monkeypatch):
    found = []

    def meanwhile(*args):
        if not found:
            found.append(None)
            found.append(write_partition(sparse, tmp_path, 2))
        return divide(*args)

    monkeypatch.setattr(write, "divide", meanwhile)
    with pytest.raises(DataError, match="holds a partition already"):
        write_partition(sparse, tmp_path, 3)
    assert Layout.read(tmp_path) == found[1]


def test_a_full_disk_is_one_line(sparse, tmp_path):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(DataError, match=rf"cannot write to {tmp_path}: .*File too large"):
            write_partition(sparse, tmp_path, 2)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [path.name for path in tmp_path.iterdir()] == [".lock"]


def test_an_existing_partition_is_replaced_only_if_asked(sparse, tmp_path):
    first = write_partition(sparse, tmp_path, 2)
    with pytest.raises(DataError, match="holds a partition already; use force=True"):
        write_partition(sparse, tmp_path, 3)
    assert Layout.read(tmp_path) == first
    assert len(write_partition(sparse, tmp_path, 3, force=True).parts) == 3
