import json
import os
import re
import shutil
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from graphsct.cli import app
from graphsct.datasets import CATALOG, load

runner = CliRunner(env={"COLUMNS": "200"})


@pytest.fixture(autouse=True)
def cache(warm_cache, monkeypatch):
    monkeypatch.setenv("GRAPHSCT_CACHE", str(warm_cache))
    monkeypatch.delenv("GRAPHSCT_DATA", raising=False)


@pytest.fixture(scope="module")
def real():
    root = os.environ.get("GRAPHSCT_DATA")
    if not root:
        pytest.skip("GRAPHSCT_DATA is not set: the real data sets are not here")
    return root


def run(*args, code=0):
    result = runner.invoke(app, ["data", *map(str, args)])
    assert result.exit_code == code, result.output
    return result.output


def test_list_without_any_file(tmp_path, monkeypatch):
    monkeypatch.setenv("GRAPHSCT_CACHE", str(tmp_path / "cache"))
    rows = json.loads(run("list", "--json", "--root", tmp_path))["datasets"]
    assert len(rows) == len(CATALOG)
    assert rows[0] == {
        "name": "cora",
        "nodes": 2708,
        "edges": 5278,
        "features": 1433,
        "classes": 7,
        "components": 78,
        "homophily": 0.81,
        "metric": "accuracy",
        "where": None,
    }
    text = run("list", "--root", tmp_path)
    assert "not here" in text
    assert re.search(r"wikics +11,701 .* \? +\? ", text)


def test_list_says_where_the_files_are(real):
    rows = json.loads(run("list", "--json", "--root", real))["datasets"]
    where = {row["name"]: row["where"] for row in rows}
    assert where["squirrel"] == f"{real}/WikipediaNetwork/squirrel/geom_gcn/raw"
    assert where["arxiv"] is None
    assert where["cornell_as_served"] is not None


def test_list_knows_what_was_processed_before(real, tmp_path):
    load("texas", real)
    rows = json.loads(run("list", "--json", "--root", tmp_path))["datasets"]
    assert rows[6]["name"] == "texas"
    assert rows[6]["where"].endswith(".npz")


def test_verify(real, tmp_path):
    report = json.loads(run("verify", "Texas", "--json", "--root", real))
    assert report["ok"] is True
    assert len(report["files"]) == 12
    assert "out1_graph_edges.txt" in run("verify", "texas", "--root", real)
    shutil.copytree(f"{real}/WebKB/texas", tmp_path / "WebKB/texas")
    path = tmp_path / "WebKB/texas/raw/out1_graph_edges.txt"
    path.chmod(0o644)
    path.write_text("wrong")
    report = json.loads(run("verify", "texas", "--json", "--root", tmp_path, code=1))
    assert report["ok"] is False
    states = {file["file"]: file["state"] for file in report["files"]}
    assert states["out1_graph_edges.txt"] == "wrong"


def test_verify_of_a_set_that_is_not_here_or_unknown(tmp_path):
    assert "missing" in run("verify", "cora", "--root", tmp_path, code=1)
    assert "did you mean 'cora'" in run("verify", "coraa", "--root", tmp_path, code=1)


def test_verify_of_files_without_a_published_checksum(tmp_path):
    for name in CATALOG["arxiv"].raw:
        path = tmp_path / "ogbn_arxiv" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    assert "no checksum is published" in run("verify", "arxiv", "--root", tmp_path)


@pytest.mark.slow
def test_statistics_beside_the_papers(real):
    rows = json.loads(run("statistics", "--json", "--root", real))["datasets"]
    by_name = {row["name"]: row for row in rows}
    assert list(by_name) == list(CATALOG)
    citeseer = by_name["citeseer"]
    assert (citeseer["paper"]["nodes"], citeseer["ours"]["nodes"]) == (3727, 3327)
    assert citeseer["misprints"] == ["nodes"]
    assert by_name["physics"]["ours"]["split"] == by_name["physics"]["paper"]["split"]
    assert by_name["arxiv"]["ours"] is None
    assert by_name["arxiv_graph"]["ours"]["features"] == 0
    assert by_name["minesweeper"]["ours"]["split"] == "5,000/2,500/2,500, 10 splits"
    text = run("statistics", "--root", real)
    assert re.search(r"Citeseer +paper +3,727\* +4,732 .*\n +ours +3,327 +4,552 ", text)
    assert re.search(r"Texas +paper +181\* .*\n +ours +183 ", text)
    assert text.count("*") == 3  # two misprints and the legend
    assert re.search(r"Ogbn-arxiv +paper +169,343 .*\n +ours +not here", text)


def test_statistics_names_a_set_that_cannot_be_loaded(real, tmp_path):
    shutil.copytree(f"{real}/WebKB/texas", tmp_path / "WebKB/texas")
    path = tmp_path / "WebKB/texas/raw/out1_graph_edges.txt"
    path.chmod(0o644)
    path.write_text("wrong")
    rows = json.loads(run("statistics", "--json", "--root", tmp_path))["datasets"]
    (texas,) = [row for row in rows if row["name"] == "texas"]
    assert "is not Texas's file" in texas["error"]
    text = run("statistics", "--root", tmp_path)
    assert "is not Texas's file" in text
    where = [
        row["where"] for row in json.loads(run("list", "--json", "--root", tmp_path))["datasets"]
    ]
    assert "wrong file in" in where[6]


def test_leaks(real):
    report = json.loads(run("leaks", "chameleon", "--json", "--root", real))["chameleon"]
    assert (report["nodes"], report["kept"]) == (2277, 843)
    assert report["splits"][0] == {"split": 0, "test": 456, "leaked": 305}
    assert "843 of 2,277 nodes are left" in run("leaks", "chameleon", "--root", real)
    assert "no known duplicates" in run("leaks", "cora", "--root", real, code=1)


def test_the_command_starts_without_heavy_imports():
    code = "import sys, graphsct.cli.data; print({'torch_geometric', 'pyarrow'} & {*sys.modules})"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout == "set()\n"


def test_partition_divides_a_data_set(tmp_path):
    shown = run("partition", "demo", "--parts", 2, "--out", tmp_path)
    assert "demo (generated) in 2 parts" in shown
    assert "3 of 3 components are in several parts" in shown
    assert "use --force" in run("partition", "demo", "--parts", 2, "--out", tmp_path, code=1)
    options = ["--out", tmp_path, "--method", "metis", "--force", "--json"]
    found = json.loads(run("partition", "demo", "--parts", 3, *options))
    assert (found["method"], len(found["parts"]), found["folder"]) == ("metis", 3, str(tmp_path))
    assert sum(part["nodes"] for part in found["parts"]) == 300


def test_partition_takes_a_folder(tmp_path):
    (tmp_path / "edges.csv").write_text("0,1\n1,2\n2,3\n")
    (tmp_path / "features.csv").write_text("1,0\n0,1\n1,1\n2,1\n")
    (tmp_path / "labels.csv").write_text("0\n1\n0\n1\n")
    for part, nodes in [("train", "0\n1\n"), ("val", "2\n"), ("test", "3\n")]:
        (tmp_path / f"{part}.csv").write_text(nodes)
    arguments = [tmp_path, "--parts", 2, "--out", tmp_path / "parts"]
    assert "symmetrize" in run("partition", *arguments, code=1)
    found = json.loads(run("partition", *arguments, "--symmetrize", "--json"))
    assert (found["nodes"], found["edges"], found["classes"]) == (4, 3, 2)
    more = ("--symmetrize", "--normalize", "--force", "--json")
    again = json.loads(run("partition", *arguments, *more))
    assert again["parts"] != found["parts"]
