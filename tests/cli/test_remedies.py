import json

from typer.testing import CliRunner

from graphsct.cli import app
from graphsct.remedies import REMEDIES
from graphsct.remedies.board_markdown import markdown
from graphsct.remedies.packed import read_packed


def run(*arguments):
    return CliRunner().invoke(app, ["remedies", *map(str, arguments)])


def test_list_names_every_remedy():
    found = run("list")
    assert found.exit_code == 0
    assert all(name in found.output for name in REMEDIES)
    assert max(map(len, found.output.splitlines())) <= 80
    listed = json.loads(run("list", "--json").output)["remedies"]
    assert [remedy["name"] for remedy in listed] == list(REMEDIES)


def test_show_has_the_line_to_write():
    found = run("show", "appnp")
    assert found.exit_code == 0
    for part in (
        "https://arxiv.org/abs/1810.05997",
        "APPNP(..., num_layers=10, alpha=0.1)",
        "alpha 0.1 or 0.2",
        "fits       gcn\n",
    ):
        assert part in found.output
    shown = json.loads(run("show", "drop_edge", "--json").output)
    assert shown == REMEDIES["drop_edge"].to_dict()


def test_compare_runs_cells_and_report_shows_them(tmp_path):
    cells, page = tmp_path / "cells", tmp_path / "page.html"
    options = ("--depth", "2,3", "--remedy", "none", "--remedy", "residual", "--seeds", 2)
    compare = ("compare", *options, "--epochs", 4, "--out", cells)
    found = run(*compare)
    assert found.exit_code == 0, found.stderr
    assert found.stderr.count(" -> ") == 4
    assert "residual" in found.stdout
    assert max(map(len, found.stdout.splitlines())) <= 80
    again = run(*compare, "--json")
    assert again.stderr == ""
    found = json.loads(again.stdout)["cells"]
    assert [len(cell["layers"]) for cell in found] == [2, 2, 3, 3]
    names = [(cell["depth"], cell["remedy"]) for cell in found]
    assert names == [(2, "none"), (2, "residual"), (3, "none"), (3, "residual")]
    shown = run("report", cells, "--out", page)
    assert shown.stdout.strip() == str(page)
    assert "demo, GCN" in page.read_text(encoding="utf-8")


def test_report_shows_the_packaged_cells_and_writes_markdown(tmp_path):
    page, text = tmp_path / "page.html", tmp_path / "page.md"
    found = run("report", "--out", page, "--markdown", text)
    assert found.exit_code == 0, found.stderr
    assert found.stdout.split() == [str(page), str(text)]
    assert "Cora, GCN, 2 layers, GCNII" in page.read_text(encoding="utf-8")
    assert text.read_text(encoding="utf-8") == markdown(read_packed())


def test_wrong_depths_and_empty_folders_are_one_line(tmp_path):
    found = run("compare", "--depth", "2,x", "--out", tmp_path)
    assert "--depth 2,x is not a list of whole numbers, such as 2,4,8" in found.stderr
    found = run("report", tmp_path)
    assert found.exit_code == 1
    assert found.stderr.endswith("'graphsct remedies compare' writes them\n")


def test_an_unknown_name_comes_with_the_nearest():
    found = run("show", "pairnorm")
    assert (found.exit_code, found.stdout) == (1, "")
    assert "there is no remedy 'pairnorm', did you mean 'pair_norm'?" in found.stderr
