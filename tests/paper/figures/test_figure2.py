from itertools import pairwise

import numpy as np
import pytest

from graphsct.paper.figures.figure2 import OPERATOR, trajectories


@pytest.fixture(scope="module")
def data():
    return trajectories()


def test_eigenvector_is_that_at_eigenvalue_one(data):
    np.testing.assert_allclose(OPERATOR @ data.eigenvector, data.eigenvector, atol=3e-4)
    assert np.linalg.norm(data.eigenvector) == pytest.approx(1)
    assert (data.eigenvector > 0).all()


def test_starts_are_even_over_the_square(data):
    assert data.h.shape == (3, 20, 11, 2)
    for starts in data.h[:, :, 0]:
        assert len(np.unique(starts, axis=0)) == 20
        for axis, count in enumerate((5, 4)):
            np.testing.assert_allclose(np.unique(starts[:, axis]), np.linspace(-1, 1, count))


def test_every_step_is_one_layer(data):
    e = data.eigenvector
    for alpha, h in zip((-0.25, 0.0, 1.0), data.h, strict=True):
        for path in h:
            for before, after in pairwise(path):
                layer = [
                    max(0, 1.2 * (before[0] * 0.592 + before[1] * 0.194) + alpha * e[0]),
                    max(0, 1.2 * (before[0] * 0.194 + before[1] * 0.908) + alpha * e[1]),
                ]
                assert after == pytest.approx(layer, abs=1e-14)


def test_without_a_shift_all_trajectories_converge_to_the_eigenspace(data):
    distance = data.distance[1]
    assert (distance[:, 1:] <= 0.6 * distance[:, :-1] + 1e-12).all()  # 1.2 times eigenvalue 0.4998
    assert (distance[:, -1] < 0.01).all()


def test_the_shift_decides_who_dies(data):
    assert (data.magnitude[:, :, -1] == 0).sum(1).tolist() == [18, 6, 0]


def test_columns_are_the_points(data):
    table = data.columns()
    assert {len(column) for column in table.values()} == {3 * 20 * 11}
    row = 20 * 11 + 7 * 11 + 4  # the second shift, the eighth trajectory, the fifth point
    assert [table[name][row] for name in ("alpha", "trajectory", "layer")] == [0.0, 7, 4]
    assert [table["h1"][row], table["h2"][row]] == data.h[1, 7, 4].tolist()
    np.testing.assert_allclose(table["magnitude"], np.hypot(table["h1"], table["h2"]))
    e = data.eigenvector
    across = np.abs(table["h1"] * e[1] - table["h2"] * e[0])
    np.testing.assert_allclose(table["distance_to_eigenspace"], across, atol=1e-14)
