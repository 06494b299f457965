import json
from dataclasses import replace

import pytest
import safetensors.torch
import torch

from graphsct import DataError, datasets
from graphsct.distributed import Layout, Shard, write_partition
from graphsct.distributed.layout import checksum


@pytest.fixture(scope="module")
def data():
    return datasets.csbm(60, 100, num_classes=3, num_components=6, num_features=4, seed=2)


@pytest.mark.parametrize("method", ["contiguous", "metis"])
def test_parts_together_are_the_whole(data, tmp_path, method):
    layout = write_partition(data, tmp_path, 3, method=method)
    arrays = [layout.open(tmp_path, part) for part in range(3)]
    shards = [Shard(own, layout.components, dtype=torch.float64) for own in arrays]
    whole, q = torch.zeros(60, 60, dtype=torch.float64), torch.zeros(60, 6, dtype=torch.float64)
    for part, (own, shard) in enumerate(zip(arrays, shards, strict=True)):
        halo = torch.cat([sent_to(part, other) for other in arrays])
        rows = own["nodes"].unsqueeze(1)
        whole[rows, own["nodes"]] = shard.inner.to_dense()
        whole[rows, halo] = shard.outer.to_dense()
        q[own["nodes"], shard.component] = shard.basis
    graph = data.graph.double()
    assert torch.equal(whole, graph.matrix.to_dense())
    assert torch.equal(q[torch.arange(60), graph.component], graph.basis)
    nodes = torch.cat([own["nodes"] for own in arrays])
    for name, expected in [("x", data.x), ("y", data.y)]:
        assert torch.equal(torch.cat([own[name] for own in arrays]), expected[nodes])
    masks = torch.cat([own["masks"] for own in arrays], dim=2)
    assert torch.equal(masks[0], torch.stack(list(data.splits[0]))[:, nodes])


def sent_to(part, arrays):
    """Nodes that the owner of these arrays gives to a part."""
    groups = arrays["send"].split(arrays["send_counts"].tolist())
    return arrays["nodes"][groups[part]]


def test_the_header_says_what_there_is(data, tmp_path):
    layout = write_partition(data, tmp_path, 2)
    assert layout == Layout.read(tmp_path)
    assert (layout.nodes, layout.edges, layout.components) == (60, 100, 6)
    assert (layout.features, layout.classes, layout.values) == (4, 3, None)
    assert layout.train == (int(data.train_mask.sum()),)
    assert sum(piece.nodes for piece in layout.parts) == 60
    assert sum(piece.entries for piece in layout.parts) == 2 * 100 + 60
    assert layout.crossing == 6
    assert layout.sha256 == write_partition(data, tmp_path / "again", 2).sha256


def test_a_component_in_one_part_does_not_cross(tmp_path):
    data = datasets.csbm(60, 100, num_classes=2, num_components=3, seed=2)
    assert write_partition(data, tmp_path, 3, method="metis").crossing == 0


def test_a_folder_without_a_header_is_none(data, tmp_path):
    with pytest.raises(DataError, match=r"is not a partitioned data set.*write_partition"):
        Layout.read(tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda values: values.pop("nodes"), "damaged or was not written by graphsct"),
        (lambda values: values.update(format=9), "has format 9, not 2"),
        (lambda values: values["parts"].append({}), "damaged or was not written by graphsct"),
        (
            lambda values: values["parts"][0].update(sha256=5),
            r"parts\[0\].sha256 is 5, expected a str",
        ),
    ],
)
def test_a_wrong_header_is_refused(data, tmp_path, change, message):
    write_partition(data, tmp_path, 2)
    path = tmp_path / "partition.json"
    values = json.loads(path.read_text())
    change(values)
    path.write_text(json.dumps(values))
    with pytest.raises(DataError, match=message):
        Layout.read(tmp_path)


def test_wrong_files_are_refused(data, tmp_path):
    layout = write_partition(data, tmp_path, 2)
    path = tmp_path / "part-1.safetensors"
    tensors = safetensors.torch.load_file(path)
    tensors["y"][0] += 1
    safetensors.torch.save_file(tensors, path)
    layout.open(tmp_path, 0)
    with pytest.raises(DataError, match=r"part-1.*is not the file that partition\.json describes"):
        layout.open(tmp_path, 1)
    path.write_text("no tensors")
    layout = replace(
        layout, parts=[piece._replace(sha256=checksum(path)) for piece in layout.parts]
    )
    with pytest.raises(DataError, match=r"part-1.*was not written by graphsct: .*write it again"):
        layout.open(tmp_path, 1)
    with pytest.raises(DataError, match="has 2 parts; 2 is not among them"):
        layout.open(tmp_path, 2)
    path.unlink()
    with pytest.raises(DataError, match=r"part-1\.safetensors is missing"):
        layout.open(tmp_path, 1)
