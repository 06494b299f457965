import numpy as np
import pytest

from graphsct import DataError
from graphsct.datasets import Fractions
from graphsct.datasets.parsed import Parsed
from graphsct.datasets.readers.parsed_data import assemble_parsed

EDGES = np.array([[0, 1, 2, 3], [1, 2, 3, 0]])
MASKS = np.eye(4, dtype=bool)[:3, None]  # one node in each part


def build(path, **options):
    parsed = Parsed(EDGES, np.eye(4, dtype=np.float32), np.array([0, 0, 0, 0]), MASKS)
    return assemble_parsed("mine", parsed, path, **dict(split=None, symmetrize=True) | options)


def test_the_splits_are_those_of_the_files_or_drawn(tmp_path):
    data = build(tmp_path)
    assert data.name == "mine" and data.graph.num_edges == 4
    assert data.train_mask.tolist() == [True, False, False, False]
    drawn = build(tmp_path, split=Fractions(0.5, 0.25))
    assert [int(mask.sum()) for mask in drawn.splits[0]] == [2, 1, 1]


def test_an_error_names_the_file_with_the_edges(tmp_path):
    with pytest.raises(DataError, match=f"{tmp_path.name}.*symmetrize=True"):
        build(tmp_path, symmetrize=False)
