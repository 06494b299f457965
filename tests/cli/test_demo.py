import json
import re
import sys
from html import unescape
from pathlib import Path

from typer.testing import CliRunner

from graphsct.cli import app


def run(*arguments):
    return CliRunner().invoke(app, ["demo", *map(str, arguments)])


def test_demo_tells_the_story_and_says_where_its_files_are(tmp_path):
    result = run("--out", tmp_path, "--seeds", 2, "--epochs", 20)
    assert result.exit_code == 0, result.output
    told = ("A GCN with 32 layers fails", "The remedies, tried", "The term of the paper")
    places = [result.stdout.index(heading) for heading in told]
    assert places == sorted(places)
    assert "The model does not work" in result.stdout
    assert re.search(r"^GCNII .*\+\d+\.\d ± ", result.stdout, re.M)
    best = re.search(
        r"The best of them, by validation: (.*?)\n.*?\n\n    ([^\n]*)\n", result.stdout, re.S
    )
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert f"The best of them, by validation: {best[1]}.</b>" in page
    assert best[2] in unescape(page)
    rows = re.findall(r"^validation (\w+) +(\d+)(?: +[-+\d.]+ ± [\d.]+){3}", result.stdout, re.M)
    assert rows == [(rule, depth) for rule in ("loss", "accuracy") for depth in ("2", "16")]
    names = {path.name for path in tmp_path.iterdir()}
    figures = ("figure1", "figure2", "accuracy", "curves")
    drawn = {f"{name}.{suffix}" for name in figures for suffix in ("png", "svg", "csv")}
    assert names == drawn | {"page.html", "training"}
    assert all(name in result.stdout for name in names)


def test_the_best_remedy_is_chosen_by_validation(tmp_path):
    result = run("--out", tmp_path, "--seeds", 2, "--epochs", 3, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert {"diagnosis", "best", "training", "files"} == set(found)
    effects = {effect["name"]: effect["val_mean"] for effect in found["diagnosis"]["effects"]}
    del effects["as it is"]
    assert effects[found["best"]["name"]] == max(effects.values())
    assert [part["model"]["depth"] for part in found["training"]] == [2, 16, 2, 16]
    assert {Path(path).name for path in found["files"]} == {
        path.name for path in tmp_path.iterdir() if path.is_file()
    }


def test_a_missing_browser_is_said_after_all_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr("webbrowser.open", lambda address: False)
    result = run("--out", tmp_path, "--seeds", 1, "--epochs", 2, "--open")
    assert result.exit_code == 1
    assert "no browser could be started; open" in result.output.replace("\n", " ")
    assert (tmp_path / "page.html").is_file()


def test_without_extras_it_says_so_and_runs_without_page_and_drawings(tmp_path, monkeypatch):
    for name in ("matplotlib", "plotly"):
        monkeypatch.setitem(sys.modules, name, None)
    result = run("--out", tmp_path, "--seeds", 2, "--epochs", 1)
    assert result.exit_code == 0, result.output
    assert "every figure is left out: matplotlib is not installed" in result.stderr
    assert "page.html is left out: plotly is not installed" in result.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"training"}
    assert result.stdout.endswith(f"\n\nThe runs are in {tmp_path / 'training'}\n")
    refused = run("--out", tmp_path, "--open")
    assert (refused.exit_code, refused.stdout) == (1, "")
