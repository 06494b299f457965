from dataclasses import asdict

import pytest
import torch

from graphsct.smoothness.summary import summarize


def test_summary_is_that_of_the_dense_graph(graph, dense, x):
    found = summarize(torch.cat([x, torch.zeros_like(x[:, :2])], dim=1).requires_grad_(), graph)
    assert found.dimensions == 5
    assert found.dead == 2
    assert found.smoothness == pytest.approx(dense.normalized_smoothness(x).median().item())
    for name, measure in {
        "distance": dense.distance_to_eigenspace,
        "dirichlet_energy": dense.dirichlet_energy,
        "normalized_dirichlet_energy": dense.normalized_dirichlet_energy,
    }.items():
        assert getattr(found, name) == pytest.approx(measure(x).item(), abs=1e-12)
    assert 1 <= found.effective_rank <= min(3, graph.num_nodes) + 1e-12


def test_the_median_of_two_lies_between_them(graph, dense, x):
    found = summarize(x[:, :2], graph)
    assert found.smoothness == pytest.approx(dense.normalized_smoothness(x[:, :2]).mean().item())


def test_features_that_are_all_dead_have_no_median(graph):
    found = summarize(torch.zeros(graph.num_nodes, 4, dtype=torch.float64), graph)
    assert asdict(found) == {
        "dimensions": 4,
        "dead": 4,
        "smoothness": None,
        "distance": 0,
        "dirichlet_energy": 0,
        "normalized_dirichlet_energy": 0,
        "effective_rank": 0,
    }
