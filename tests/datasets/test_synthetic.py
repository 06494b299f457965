import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.utils import is_undirected

from graphsct import DataError
from graphsct.datasets import PerClass, arxiv_like, csbm, demo, describe, load


@given(
    n=st.integers(12, 80),
    degree=st.floats(1, 4),
    classes=st.integers(1, 4),
    homophily=st.floats(0, 1),
    components=st.integers(1, 12),
    exponent=st.sampled_from([None, 2.5]),
    seed=st.integers(0, 1000),
)
def test_asked_and_got(n, degree, classes, homophily, components, exponent, seed):
    edges = max(n - components, int(n * degree / 2))
    try:
        data = csbm(
            n,
            edges,
            num_classes=classes,
            homophily=homophily,
            num_components=components,
            degree_exponent=exponent,
            seed=seed,
        )
    except DataError as error:  # small blocks have no room for so many edges of one kind
        assert "only" in str(error) or "uneven" in str(error)
        return
    assert data.graph.num_components == components
    assert data.graph.num_edges == edges == data.edge_index.shape[1] / 2
    assert is_undirected(data.edge_index)
    assert torch.bincount(data.y, minlength=classes).diff().abs().max() <= 1 if classes > 1 else 1


@pytest.mark.parametrize("homophily", [0.05, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("exponent", [None, 2.2])
def test_homophily_is_the_asked_one(homophily, exponent):
    data = csbm(
        2000,
        8000,
        num_classes=5,
        homophily=homophily,
        num_components=20,
        degree_exponent=exponent,
    )
    assert describe(data).homophily == pytest.approx(homophily, abs=1e-4)


def test_a_tree_has_about_the_asked_homophily():
    data = csbm(5000, 4999, num_classes=4, homophily=0.3)
    assert describe(data).homophily == pytest.approx(0.3, abs=0.03)


def test_a_complete_graph():
    data = csbm(30, 435, num_classes=2, homophily=210 / 435)
    assert data.graph.num_edges == 435
    assert describe(data).homophily == pytest.approx(210 / 435)


def test_the_seed_decides_everything():
    first, again, other = (csbm(200, 600, seed=seed) for seed in (5, 5, 6))
    for key in ("edge_index", "x", "y", "train_mask"):
        assert first[key].equal(again[key])
        assert not first[key].equal(other[key])


def test_features_carry_as_much_signal_as_asked():
    for signal in (0.0, 3.0):
        data = csbm(4000, 8000, num_classes=4, num_features=64, signal=signal)
        means = torch.stack([data.x[data.y == label].mean(0) for label in range(4)])
        assert means.norm(dim=1).mean() == pytest.approx(signal, abs=0.04)
        noise = data.x - means[data.y]
        assert noise.square().sum(1).mean() == pytest.approx(1, abs=0.01)


def test_degrees_are_heavy_tailed_only_if_asked():
    even = csbm(5000, 25000).graph.degree
    uneven = csbm(5000, 25000, degree_exponent=2.5).graph.degree
    assert even.max() < 4 * even.mean()
    assert uneven.max() > 15 * uneven.mean()


def test_the_split_is_the_asked_one():
    data = csbm(200, 600, num_classes=4, split=PerClass(5, 10))
    assert [int(mask.sum()) for mask in data.splits[0]] == [20, 40, 140]


@pytest.mark.parametrize(
    ("message", "kwargs"),
    [
        ("num_edges is 50; .* between 98 and 4950", dict(num_edges=50, num_components=2)),
        ("num_edges is 5000; .* between 99 and 4950", dict(num_edges=5000)),
        ("homophily is 1.5", dict(homophily=1.5)),
        ("num_classes is 0", dict(num_classes=0)),
        ("num_components is 101", dict(num_components=101)),
        ("degree_exponent is 2", dict(degree_exponent=2)),
        ("num_features is 0, expected a whole number of at least 1", dict(num_features=0)),
        ("num_features is 2.5", dict(num_features=2.5)),
        ("num_components is 1.5", dict(num_components=1.5)),
        ("num_edges is '300'", dict(num_edges="300")),
        ("seed is -1, expected a whole number of at least 0", dict(seed=-1)),
        ("homophily is nan, expected a finite number", dict(homophily=float("nan"))),
        ("signal is 'strong'", dict(signal="strong")),
        ("asks for 3999 edges inside the classes.*only 2450", dict(num_edges=4000, homophily=1)),
    ],
)
def test_what_cannot_be_is_named(message, kwargs):
    with pytest.raises(DataError, match=message):
        csbm(100, **{"num_edges": 300, **kwargs})


def test_degrees_too_uneven_for_so_many_edges_are_named():
    with pytest.raises(DataError, match="too many for such uneven degrees; raise degree_exponent"):
        csbm(400, 39000, homophily=0.5, degree_exponent=2.001)


def test_demo_is_small_and_needs_no_file():
    data = demo()
    assert data.graph.num_components == 3
    assert data.x.equal(load("demo").x)
    assert "generated" in data.name


def test_arxiv_like_has_the_size_of_arxiv_and_says_that_it_is_not():
    data = arxiv_like()
    facts = describe(data)
    assert (facts.nodes, facts.edges, facts.features, facts.classes) == (169343, 1166243, 128, 40)
    assert facts.components == 1
    assert facts.homophily == pytest.approx(0.65, abs=1e-4)
    assert "stand-in, not Ogbn-arxiv" in data.name
    degree = np.sort(data.graph.degree.numpy())
    assert degree[-1] > 100 * np.median(degree)
