import numpy as np
import pytest
import torch

from graphsct.paper.example import example_graph
from graphsct.paper.figures.figure1 import NEGATIVE_SLOPE, shift_curves
from graphsct.smoothness import distance_to_eigenspace

SEEDS = range(5)


@pytest.fixture(scope="module", params=SEEDS)
def seed(request):
    return request.param


@pytest.fixture(scope="module")
def data(seed):
    return shift_curves(seed)


def dense_curves(data, seed):
    """Both measures of the three curves, with the eigenvector from a full eigh."""
    G = example_graph(seed).matrix.to_dense().numpy()
    e = np.linalg.eigh(G)[1][:, -1]
    e = e * np.sign(e.sum())
    z = np.random.default_rng([seed, 1]).uniform(-1.5, 1.5, size=100)
    shifted = z[:, None] - np.outer(e, data.alpha)
    outputs = {
        "input": shifted,
        "relu": np.maximum(shifted, 0),
        "leaky_relu": np.maximum(shifted, NEGATIVE_SLOPE * shifted),
    }
    for name, h in outputs.items():
        smooth = np.outer(e, e @ h)
        norm = np.linalg.norm(h, axis=0)
        share = np.linalg.norm(smooth, axis=0) / np.where(norm > 0, norm, 1)
        yield name, np.linalg.norm(h - smooth, axis=0), np.where(norm > 0, share, 1), norm


def test_curves_are_the_dense_ones(data, seed):
    for name, distance, smoothness, norm in dense_curves(data, seed):
        np.testing.assert_allclose(getattr(data.distance, name), distance, atol=1e-8)
        # Next to the jump the output is 1e-9 large, and the eigenvector of eigh not that exact.
        clear = (norm > 1e-6) & (np.abs(data.alpha - data.relu_dies) > 1e-6)
        found = getattr(data.smoothness, name)
        np.testing.assert_allclose(found[clear], smoothness[clear], atol=1e-6)


def test_distance_is_the_public_measure_of_each_dimension(data, seed):
    graph = example_graph(seed)
    z = np.random.default_rng([seed, 1]).uniform(-1.5, 1.5, size=(100, 1))
    for k in (0, 400, 700, -1):
        h = torch.from_numpy(z - graph.basis.numpy()[:, None] * data.alpha[k]).relu()
        expected = distance_to_eigenspace(h, graph).item()
        assert data.distance.relu[k] == pytest.approx(expected, abs=1e-12)


def test_outputs_are_never_farther_from_the_eigenspace_than_the_input(data):
    bound = data.distance.input[0]
    np.testing.assert_allclose(data.distance.input, bound, rtol=1e-12)
    slack = 1e-12 * bound
    assert (data.distance.relu <= bound + slack).all()
    assert (data.distance.leaky_relu <= bound + slack).all()
    assert (data.distance.leaky_relu >= NEGATIVE_SLOPE * bound - slack).all()
    # Both bounds are met at the ends of the axis, so the figure shows that they are sharp.
    assert data.distance.leaky_relu[0] == pytest.approx(bound)
    assert data.distance.leaky_relu[-1] == pytest.approx(NEGATIVE_SLOPE * bound)


def test_the_minimum_of_relu_is_the_theoretical_one(data, seed):
    degree = example_graph(seed).degree.numpy()
    x = np.random.default_rng([seed, 1]).uniform(-1.5, 1.5, size=100) / np.sqrt(degree)
    theory = np.sqrt(degree[x == x.max()].sum() / degree.sum())
    assert data.relu_minimum == pytest.approx(theory, rel=1e-12)
    assert data.smoothness.relu.min() == pytest.approx(theory, rel=1e-6)
    assert data.relu_dies == pytest.approx(data.scale * x.max())


def test_relu_falls_with_alpha_until_it_dies_and_jumps_to_one(data):
    alive = data.alpha < data.relu_dies
    assert alive.any()
    assert not alive.all()
    assert (np.diff(data.smoothness.relu[alive]) <= 1e-6).all()
    assert (data.smoothness.relu[~alive] == 1).all()
    assert (data.distance.relu[~alive] == 0).all()
    assert data.alpha[~alive][0] == data.relu_dies
    assert data.alpha[alive][-1] > data.relu_dies - 1e-6


def test_leaky_relu_reaches_zero_where_the_figure_says(data):
    (at,) = np.flatnonzero(data.alpha == data.leaky_relu_zero)
    assert data.smoothness.leaky_relu[at] < 1e-12
    assert data.smoothness.leaky_relu.max() < 1
    assert data.smoothness.input.min() < 1e-12


def test_columns_are_the_curves(data):
    table = data.columns()
    assert list(table) == [
        "alpha_over_c",
        "alpha",
        "input_distance",
        "relu_distance",
        "leaky_relu_distance",
        "input_smoothness",
        "relu_smoothness",
        "leaky_relu_smoothness",
        "leaky_relu_distance_bound",
        "relu_smoothness_minimum",
    ]
    assert {len(column) for column in table.values()} == {1205}
    assert (np.diff(table["alpha_over_c"]) >= 0).all()
    assert table["alpha_over_c"][[0, -1]] == pytest.approx([-1.5, 1.5])
    np.testing.assert_array_equal(table["relu_smoothness"], data.smoothness.relu)
