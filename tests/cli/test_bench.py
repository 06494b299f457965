import json

import pytest
from typer.testing import CliRunner

from graphsct.cli import app
from graphsct.training import bench


@pytest.fixture(autouse=True)
def small_case(monkeypatch):
    monkeypatch.setattr(bench, "CASES", [bench.Case("demo", "gcn", 2, 8)])


def test_json_has_the_promised_keys():
    command = ["bench", "--json", "--seconds", "0", "--threads", "1"]
    result = CliRunner().invoke(app, command, catch_exceptions=False)
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    promised = {"speedup_geomean", "overhead_geomean", "limit_geomean", "cases"}
    assert promised | {"expert_geomean", "expert_min"} <= found.keys()
    assert len(found["cases"]) == 2
    assert found["threads"] == 1


def test_a_large_graph_is_left_out_where_it_is_not(monkeypatch, tmp_path):
    big = bench.Case("arxiv_graph", "gcn", 4, 64)
    monkeypatch.setattr(bench, "CASES", [big, *bench.CASES])
    for folder in ("GRAPHSCT_DATA", "GRAPHSCT_CACHE"):
        monkeypatch.setenv(folder, str(tmp_path))
    command = ["bench", "--json", "--seconds", "0", "--threads", "1"]
    found = json.loads(CliRunner().invoke(app, command, catch_exceptions=False).stdout)
    assert {row["case"] for row in found["cases"]} == {"demo-gcn-L2-d8"}


def test_table_and_choice():
    command = ["bench", "--seconds", "0", "--threads", "1"]
    result = CliRunner().invoke(app, [*command, "--cases", "demo"], catch_exceptions=False)
    assert result.stdout.count("demo-gcn-L2-d8") == 2
    assert "geometric means, 1 threads" in result.stdout
    wrong = CliRunner().invoke(app, [*command, "--cases", "imdb"])
    assert wrong.exit_code == 1
    assert "no case has 'imdb' in its name; choose from demo-gcn-L2-d8" in wrong.output
