import numpy as np
import pytest

from graphsct import DataError
from graphsct.datasets import describe, leaks, load
from graphsct.datasets.duplicates import duplicate_groups, find_leaks, without_duplicates
from graphsct.datasets.parsed import Parsed

# 0, 1 and 2 link to 4 and 5; 2 has another label; 3 links back to 1, so 1 is the page itself
EDGES = np.array([[0, 0, 1, 1, 2, 2, 3, 4], [4, 5, 5, 4, 4, 5, 1, 0]])
Y = np.array([0, 0, 1, 0, 1, 1])


def parsed():
    train, val, test = np.eye(6, dtype=bool)[[1, 3, 0]]
    return Parsed(EDGES, np.arange(12.0).reshape(6, 2), Y, np.stack([train, val, test])[:, None])


def test_duplicates_have_the_same_links_and_the_same_label():
    assert duplicate_groups(EDGES, Y).tolist() == [0, 0, 2, 3, 4, 5]
    more = np.concatenate([EDGES, [[5], [1]]], axis=1)
    assert duplicate_groups(more, Y).tolist() == [1, 1, 2, 3, 4, 5]


def test_leaked_test_nodes_are_counted():
    (leak,) = find_leaks(parsed())
    assert (leak.split, leak.test, leak.leaked) == (0, 1, 1)
    (none,) = find_leaks(without_duplicates(parsed()))
    assert none.leaked == 0


def test_one_of_each_group_stays_with_the_edges_between():
    left = without_duplicates(parsed())
    assert left.y.tolist() == [0, 1, 0, 1, 1]
    assert left.x[:, 0].tolist() == [0, 4, 6, 8, 10]
    assert left.edge_index.tolist() == [[0, 0, 1, 1, 3], [3, 4, 3, 4, 0]]
    assert left.masks.shape == (3, 1, 5)


@pytest.mark.parametrize(
    ("name", "kept", "edges", "components", "leaked"),
    [
        ("chameleon", 843, 8259, 1, [305, 322, 307, 313, 311, 315, 317, 312, 320, 309]),
        ("squirrel", 2204, 46809, 2, [650, 660, 636, 682, 655, 676, 655, 677, 607, 684]),
    ],
)
def test_the_leak_of_the_real_sets(name, kept, edges, components, leaked, warm):
    assert [leak.leaked for leak in leaks(name, warm)] == leaked
    data = load(name, warm, drop_duplicates=True)
    facts = describe(data)
    assert (facts.nodes, facts.edges, facts.components) == (kept, edges, components)
    assert len(data.splits) == 10


def test_no_other_set_has_a_leak_report(warm):
    with pytest.raises(DataError, match="Cora has no known duplicates"):
        leaks("cora", warm)
