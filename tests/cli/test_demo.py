import json
import re
from pathlib import Path

from typer.testing import CliRunner

from graphsct.cli import app


def run(*arguments):
    return CliRunner().invoke(app, ["demo", *map(str, arguments)])


def test_demo_reports_trains_draws_and_says_where(tmp_path):
    result = run("--out", tmp_path, "--seeds", 2, "--epochs", 3)
    assert result.exit_code == 0, result.output
    assert "What depth does" in result.stdout
    assert "What you can do" in result.stdout
    assert re.search(r"gives\s+0\.500000", result.stdout)
    names = {path.name for path in tmp_path.iterdir()}
    figures = {f"figure{k}.{suffix}" for k in (1, 2) for suffix in ("png", "svg", "csv")}
    figures |= {f"{k}.{suffix}" for k in ("accuracy", "curves") for suffix in ("png", "svg", "csv")}
    assert names == figures | {"report.json", "report.csv", "training"}
    for name in names:
        assert name in result.stdout
    assert f"Written to {tmp_path}, the runs to {tmp_path / 'training'}:" in result.stdout
    rows = re.findall(r"^validation (\w+) +(\d+)(?: +[-+\d.]+ ± [\d.]+){3}", result.stdout, re.M)
    assert rows == [(rule, depth) for rule in ("loss", "accuracy") for depth in ("2", "16")]
    again = run("--out", tmp_path, "--seeds", 2, "--epochs", 3, "--json")
    assert again.exit_code == 0, again.output
    found = json.loads(again.stdout)
    assert {"graph", "seed", "depth", "control", "training", "files"} == set(found)
    assert [part["model"]["depth"] for part in found["training"]] == [2, 16, 2, 16]
    assert {Path(path).name for path in found["files"]} == names - {"training"}
