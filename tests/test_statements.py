"""Every numbered statement of the paper as a property, on random graphs and features.

Numbers are those of "Learning to Control the Smoothness of Graph Convolutional Network Features".
Features are rows here, so the paper's Z G is G Z and its d x n is n x d.
"""

import math

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from torch.nn.functional import elu, leaky_relu, relu, selu
from torch.testing import assert_close

from graphsct import Graph
from graphsct.geometry import smoothness_range, solve_alpha, sphere
from graphsct.smoothness import (
    contraction_bound,
    dirichlet_energy,
    distance_to_eigenspace,
    equivalence_constants,
    normalized_smoothness,
)

numbers = st.floats(-8, 8, width=32).map(lambda v: 0.0 if abs(v) < 1e-3 else v)
slopes = st.floats(0.01, 0.99)
shifts = st.floats(-30, 30)


@st.composite
def graphs(draw, connected=False):
    n = draw(st.integers(2, 9))
    pairs = draw(st.lists(st.tuples(*[st.integers(0, n - 1)] * 2), min_size=1, max_size=16))
    if connected:
        pairs += [(i, draw(st.integers(0, i - 1))) for i in range(1, n)]
    weight = None
    if draw(st.booleans()):
        weight = draw(st.lists(st.floats(0.05, 20), min_size=len(pairs), max_size=len(pairs)))
        weight = torch.tensor(weight, dtype=torch.float64)
    edges = torch.tensor(pairs).t()
    return Graph(edges, n, weight, symmetrize=True, dtype=torch.float64)


def matrices(n, d=3):
    return arrays(np.float64, (n, d), elements=numbers).map(torch.from_numpy)


@st.composite
def graphs_and_features(draw, connected=False, d=3):
    graph = draw(graphs(connected=connected))
    return graph, draw(matrices(graph.num_nodes, d))


@st.composite
def rough_vectors(draw):
    """A connected graph and one feature with a rough part that is no rounding error."""
    graph, z = draw(graphs_and_features(connected=True, d=1))
    assume(distance_to_eigenspace(z, graph) > 1e-2)
    return graph, z


def norm(x):
    return torch.linalg.norm(x)


def smooth(x, graph):
    return graph.project(x)


def rough(x, graph):
    return x - graph.project(x)


def seminorm(x, graph):
    return dirichlet_energy(x, graph).sqrt()


def leq(a, b):
    return a <= b * (1 + 1e-9) + 1e-9


@given(graphs())
def test_2_1_eigenvalues_lie_in_minus_one_to_one_and_roots_of_degrees_span_the_eigenspace(graph):
    values, vectors = torch.linalg.eigh(graph.matrix.to_dense())
    assert values.min() > -1
    assert values.max() <= 1 + 1e-12
    q = graph.unpool(torch.eye(graph.num_components, dtype=torch.float64))
    assert (q >= 0).all()
    assert_close(q.T @ q, torch.eye(graph.num_components, dtype=torch.float64))
    top = vectors[:, -graph.num_components :]
    assert_close(values[-graph.num_components :], torch.ones(graph.num_components).double())
    if graph.num_components < graph.num_nodes and values[-graph.num_components - 1] < 1 - 1e-6:
        assert_close(top @ top.T, q @ q.T, rtol=1e-6, atol=1e-6)


@given(graphs_and_features())
def test_2_smooth_and_rough_part_are_orthogonal(case):
    graph, h = case
    assert abs((smooth(h, graph) * rough(h, graph)).sum()) < 1e-9 * (1 + norm(h) ** 2)
    total = norm(smooth(h, graph)) ** 2 + norm(rough(h, graph)) ** 2
    assert_close(total, norm(h) ** 2, rtol=1e-10, atol=1e-10)


@given(graphs_and_features(), st.data())
def test_2_2_no_point_of_the_eigenspace_is_nearer_than_the_projection(case, data):
    graph, h = case
    other = graph.unpool(data.draw(matrices(graph.num_components)))
    assert leq(distance_to_eigenspace(h, graph), norm(h - other))


@given(graphs_and_features(), slopes, st.data())
def test_2_a_layer_contracts_distance_and_energy_by_the_bound(case, a, data):
    graph, h = case
    weight = data.draw(matrices(3))
    bound = contraction_bound(weight, graph)
    for activation in (relu, lambda x: leaky_relu(x, a)):
        out = activation(graph.propagate(h) @ weight)
        assert leq(distance_to_eigenspace(out, graph), bound * distance_to_eigenspace(h, graph))
        assert leq(seminorm(out, graph), bound * seminorm(h, graph))


@given(graphs_and_features(), st.floats(-5, 5), st.data())
def test_3_1_distance_and_energy_are_equivalent_seminorms(case, factor, data):
    graph, h = case
    lower, upper = equivalence_constants(graph)
    distance = distance_to_eigenspace(h, graph)
    assert leq(lower * distance, seminorm(h, graph))
    assert leq(seminorm(h, graph), upper * distance)
    other = data.draw(matrices(graph.num_nodes))
    for f in (distance_to_eigenspace, seminorm):
        assert_close(f(factor * h, graph), abs(factor) * f(h, graph), rtol=1e-8, atol=1e-8)
        assert leq(f(h + other, graph), f(h, graph) + f(other, graph))


@given(matrices(5))
def test_b_1_positive_and_negative_part_are_orthogonal(z):
    positive, negative = z.clamp_min(0), (-z).clamp_min(0)
    assert (positive >= 0).all()
    assert (negative >= 0).all()
    assert_close(positive - negative, z)
    assert (positive * negative).sum() == 0


@given(matrices(5))
def test_b_2_relu_output_lies_on_the_sphere_around_half_the_input(z):
    assert_close(norm(relu(z) - z / 2), norm(z / 2))


@given(graphs_and_features())
def test_b_3_relu_misses_the_large_sphere_by_the_product_of_the_smooth_parts(case):
    graph, z = case
    half = rough(z, graph) / 2
    miss = norm(half) ** 2 - norm(rough(relu(z), graph) - half) ** 2
    product = smooth(z.clamp_min(0), graph) * smooth((-z).clamp_min(0), graph)
    assert_close(miss, product.sum(), rtol=1e-8, atol=1e-8)
    assert product.sum() >= 0


@given(graphs_and_features())
def test_3_2_relu_output_lies_on_its_sphere_and_no_farther_than_the_input(case):
    graph, z = case
    found = sphere(z, graph)
    assert_close(found.center, rough(z, graph) / 2)
    assert found.residual <= 1e-6 * (1 + norm(z))
    assert leq(found.radius, norm(rough(z, graph)) / 2)
    assert leq(distance_to_eigenspace(relu(z), graph), distance_to_eigenspace(z, graph))


@given(matrices(5), slopes)
def test_b_4_leaky_relu_output_lies_on_its_sphere(z, a):
    assert_close(norm(leaky_relu(z, a) - (1 + a) / 2 * z), norm((1 - a) / 2 * z))


@given(graphs_and_features(), slopes)
def test_b_5_leaky_relu_misses_the_large_sphere_by_the_product_of_the_smooth_parts(case, a):
    graph, z = case
    z_rough, h_rough = rough(z, graph), rough(leaky_relu(z, a), graph)
    miss = norm((1 - a) / 2 * z_rough) ** 2 - norm(h_rough - (1 + a) / 2 * z_rough) ** 2
    product = smooth(z.clamp_min(0), graph) * smooth((-z).clamp_min(0), graph)
    assert_close(miss, (1 - a) ** 2 * product.sum(), rtol=1e-8, atol=1e-8)


@given(graphs_and_features(), slopes)
def test_3_3_leaky_relu_output_lies_on_its_sphere_between_a_and_one_times_the_input(case, a):
    graph, z = case
    found = sphere(z, graph, a)
    assert found.residual <= 1e-6 * (1 + norm(z))
    assert leq(found.radius, (1 - a) / 2 * norm(rough(z, graph)))
    before = distance_to_eigenspace(z, graph)
    after = distance_to_eigenspace(leaky_relu(z, a), graph)
    assert leq(a * before, after)
    assert leq(after, before)


@given(graphs_and_features())
def test_4_1_squares_of_smoothness_and_relative_distance_add_up_to_one(case):
    graph, z = case
    s = normalized_smoothness(z, graph)
    assert (s >= 0).all()
    assert (s <= 1).all()
    for k in range(z.shape[1]):
        column = z[:, [k]]
        if norm(column) == 0:
            assert s[k] == 1
        else:
            distance = distance_to_eigenspace(column, graph) / norm(column)
            assert s[k] ** 2 + distance**2 == pytest.approx(1, abs=1e-10)


@given(graphs_and_features(), st.data())
def test_4_a_shift_inside_the_eigenspace_leaves_the_rough_part_alone(case, data):
    graph, z = case
    alpha = data.draw(matrices(graph.num_components))
    shifted = z - graph.unpool(alpha)
    assert_close(rough(shifted, graph), rough(z, graph))
    assert_close(graph.pool(shifted), graph.pool(z) - alpha)


def after(activation, z, graph, alpha):
    return normalized_smoothness(activation(z - graph.unpool(alpha)), graph)


def column(*values):
    return torch.tensor([values], dtype=torch.float64)


@given(rough_vectors(), st.floats(0, 1))
def test_4_3_relu_reaches_all_from_the_degrees_at_its_maximum_up_to_one(case, share):
    graph, z = case
    x = z / graph.degree.sqrt().unsqueeze(1)
    at_maximum = x[:, 0] >= x.max() - 1e-12
    minimum = (graph.degree[at_maximum].sum() / graph.degree.sum()).sqrt()
    found = smoothness_range(z, graph, "relu")
    assert_close(found.lower.squeeze(), minimum)
    target = minimum + (1 - minimum) * share
    assert_close(after(relu, z, graph, solve_alpha(z, graph, target)), target.view(1))


@given(rough_vectors(), st.floats(0, 20), st.floats(0, 20))
def test_4_3_relu_smoothness_grows_as_alpha_falls_below_where_it_dies(case, down, further):
    graph, z = case
    dies = graph.degree.sum().sqrt() * (z / graph.degree.sqrt().unsqueeze(1)).max()
    higher, lower = dies - down - 1e-3, dies - down - 1e-3 - further
    rougher = after(relu, z, graph, higher.view(1, 1))
    smoother = after(relu, z, graph, lower.view(1, 1))
    assert leq(rougher, smoother)
    assert leq(smoothness_range(z, graph).lower[0], rougher)
    assert after(relu, z, graph, (dies + 1e-6 + down).view(1, 1)) == 1


@given(rough_vectors(), slopes, st.floats(0, 0.999), shifts)
def test_4_4_leaky_relu_reaches_all_from_zero_up_to_but_not_one(case, a, target, alpha):
    graph, z = case
    activation = torch.nn.LeakyReLU(a)
    solved = solve_alpha(z, graph, target, activation)
    assert_close(after(activation, z, graph, solved), column(target)[0], rtol=0, atol=1e-9)
    assert after(activation, z, graph, column(alpha)) < 1


@given(rough_vectors(), slopes, shifts, st.floats(1e-3, 10))
def test_beyond_4_4_the_cosine_of_leaky_relu_falls_with_alpha_so_the_shift_is_unique(
    case, a, alpha, step
):
    graph, z = case

    def cosine(alpha):
        h = leaky_relu(z - graph.unpool(column(alpha)), a)
        return graph.pool(h).squeeze() / norm(h)

    assert cosine(alpha + step) < cosine(alpha)


@given(rough_vectors(), st.floats(0, 0.999))
def test_4_4_holds_for_elu_and_selu(case, target):
    graph, z = case
    for name, activation in {"elu": elu, "selu": selu}.items():
        solved = solve_alpha(z, graph, target, name)
        assert_close(after(activation, z, graph, solved), column(target)[0], rtol=0, atol=1e-8)


@given(rough_vectors(), st.floats(0, 0.999))
def test_c_1_without_activation_the_shift_has_a_closed_form(case, target):
    graph, z = case
    middle = graph.pool(z)
    assert after(lambda x: x, z, graph, middle) < 1e-7
    reach = target / math.sqrt(1 - target**2) * distance_to_eigenspace(z, graph)
    for alpha in (middle - reach, middle + reach):
        assert_close(after(lambda x: x, z, graph, alpha), column(target)[0], rtol=0, atol=1e-7)
    assert_close(solve_alpha(z, graph, target, "identity"), middle - reach, rtol=1e-9, atol=1e-9)


@given(rough_vectors())
def test_c_2_tanh_reaches_zero_but_its_supremum_is_not_one(case):
    """It meets the first condition of the closing remark and not the second."""
    graph, z = case
    far = torch.logspace(3, 6, 4, dtype=torch.float64)
    limit = graph.degree.sqrt().sum() / (graph.num_nodes * graph.degree.sum()).sqrt()
    for alpha in torch.cat([-far, far]):
        assert_close(after(torch.tanh, z, graph, alpha.view(1, 1)), limit.view(1))
    signs = [graph.pool(torch.tanh(z - graph.unpool(column(a)))).sign() for a in (-1e3, 1e3)]
    assert signs[0] == -signs[1]


@given(rough_vectors(), slopes, shifts)
def test_4_5_no_shift_brings_the_output_farther_from_the_eigenspace_than_the_input(case, a, alpha):
    graph, z = case
    shifted = z - graph.unpool(column(alpha))
    for activation in (relu, lambda x: leaky_relu(x, a)):
        out = distance_to_eigenspace(activation(shifted), graph)
        assert leq(out, distance_to_eigenspace(z, graph))


@given(rough_vectors(), slopes)
def test_4_5_shifts_make_the_output_rougher_smoother_or_as_smooth_as_the_input(case, a):
    """If the input is smoother than the least the activation can reach, which 4.5 leaves out."""
    graph, z = case
    s = normalized_smoothness(z, graph)
    for activation in (torch.nn.ReLU(), torch.nn.LeakyReLU(a)):
        lowest = smoothness_range(z, graph, activation).lower[0]
        assume(lowest + 1e-6 < s < 1 - 1e-6)
        for target in ((lowest + s) / 2, s, (s + 1) / 2):
            solved = solve_alpha(z, graph, target, activation)
            assert_close(after(activation, z, graph, solved), target, rtol=0, atol=1e-9)


def test_4_5_fails_for_relu_if_the_input_is_rougher_than_relu_can_be():
    graph = Graph([[0, 1], [1, 0]], dtype=torch.float64)
    z = torch.tensor([[1.0], [-1.0]], dtype=torch.float64)
    assert normalized_smoothness(z, graph) == 0
    assert smoothness_range(z, graph).lower.item() == pytest.approx(math.sqrt(1 / 2))
