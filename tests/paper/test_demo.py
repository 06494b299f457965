import csv
import json

import pytest
import torch
from torch.testing import assert_close

from graphsct import UnreachableError
from graphsct.paper.demo import control_layer, run_demo, run_network, write_report
from graphsct.paper.example import example_graph
from graphsct.smoothness import dead_dimensions


@pytest.fixture(scope="module")
def report():
    return run_demo()


def test_network_is_the_dense_one():
    graph = example_graph()
    inputs = run_network(graph, 3)
    generator = torch.Generator().manual_seed(0)
    h = torch.randn(100, 32, dtype=torch.float64, generator=generator)
    assert_close(inputs[0], h)
    for z in inputs[1:]:
        weight = torch.randn(32, 32, dtype=torch.float64, generator=generator) / 4
        h = graph.matrix.to_dense() @ h @ weight
        assert_close(z, h)
        h = h.clamp_min(0)


def test_depth_smooths_and_kills(report):
    assert list(report.depth) == [0, 1, 2, 4, 8, 16, 32]
    found = list(report.depth.values())
    assert [s.smoothness for s in found] == sorted(s.smoothness for s in found)
    for name in ("distance", "dirichlet_energy", "normalized_dirichlet_energy", "effective_rank"):
        values = [getattr(s, name) for s in found]
        assert values == sorted(values, reverse=True)
    assert found[0].dead == 0
    dead = dead_dimensions(run_network(report.graph, 32)[32].relu()).sum().item()
    assert found[-1].dead == dead > 0


def test_control_reaches_its_target_in_every_dimension(report):
    control = report.control
    assert control.before == report.depth[control.layer]
    assert control.lower < control.target < control.upper == 1
    assert control.after.dead == 0
    assert control.after.smoothness == pytest.approx(control.target, abs=1e-9)
    assert control.largest_error < 1e-9


def test_control_says_what_it_cannot_reach():
    graph = example_graph()
    with pytest.raises(UnreachableError, match=r"the smoothness 0\.001; it reaches \[0\.06"):
        control_layer(run_network(graph, 1)[1], graph, 1, 0.001)


def test_report_is_written_as_json_and_csv(report, tmp_path):
    paths = write_report(report, tmp_path)
    assert [path.name for path in paths] == ["report.json", "report.csv"]
    content = json.loads(paths[0].read_text())
    assert content["graph"] == {
        "num_nodes": 100,
        "num_edges": report.graph.num_edges,
        "num_components": 1,
    }
    assert content["control"]["after"]["smoothness"] == report.control.after.smoothness
    with paths[1].open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["layers"]) for row in rows] == [0, 1, 2, 4, 8, 16, 32]
    for row, line in zip(rows, content["depth"], strict=True):
        assert {name: float(value) for name, value in row.items()} == line
