import json

import pytest
from typer.testing import CliRunner

from graphsct.cli import app
from graphsct.files import write_text
from graphsct.paper.figures import FIGURES


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def figures(tmp_path):
    folder = tmp_path / "figures"
    head = "model,start,conv_weight_decay,test_score,layer,dimension,smoothness,dead,epoch"
    row = "GCN,glorot,0.0,0.5,14,0,0.9,0,0"
    for number in FIGURES:
        write_text(folder / f"figure{number}.svg", "<svg xmlns='http://www.w3.org/2000/svg'/>")
        write_text(folder / f"figure{number}.png", "")
        rows = [f"{row},1.0" for _ in range(2)]
        write_text(folder / f"figure{number}.csv", "\n".join([f"{head},jacobian_norm", *rows]))
    return folder


def test_it_prints_what_it_wrote(tmp_path, figures, monkeypatch):
    monkeypatch.setenv("GRAPHSCT_CACHE", str(tmp_path / "cache"))  # other tests fill the common one
    page, text = tmp_path / "new" / "page.html", tmp_path / "docs" / "page.md"
    options = ("--out", page, "--figures", figures, "--markdown", text, "--root", tmp_path)
    result = run("report", *options)
    assert result.exit_code == 0, result.output
    images = [str(tmp_path / "docs" / "images" / f"figure{number}.png") for number in FIGURES]
    assert result.stdout.splitlines() == [str(page), str(text), *images]
    assert page.stat().st_size > 1_000_000
    again = tmp_path / "again.html"
    result = run("report", "--out", again, *options[2:], "--json")
    assert json.loads(result.stdout) == {"files": [str(again), str(text), *images]}
    assert again.read_bytes() == page.read_bytes()


def test_a_folder_that_is_not_there_is_one_line(tmp_path):
    result = run("report", "--out", tmp_path / "page.html", "--cells", tmp_path / "no")
    assert result.exit_code == 1
    assert result.stderr.startswith(f"graphsct: there is no folder {tmp_path / 'no'}; ")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("option", ["--out", "--markdown", "--figures"])
def test_a_place_that_cannot_be_written_is_refused_before_the_work(tmp_path, monkeypatch, option):
    def draw(*_):
        raise AssertionError("it has begun to draw")

    monkeypatch.setattr("graphsct.paper.report.find_drawings", draw)
    monkeypatch.setattr("graphsct.paper.report.build", draw)
    (tmp_path / "file").touch()
    options = {"--out": tmp_path / "page.html", "--figures": tmp_path / "figures"}
    options[option] = tmp_path / "file" / "place"
    result = run("report", *(word for pair in options.items() for word in pair))
    assert result.exit_code == 1
    assert result.stderr.startswith(f"graphsct: {tmp_path / 'file'}")
    assert result.stderr.count("\n") == 1
    folder = run("report", "--out", tmp_path, "--figures", tmp_path / "figures")
    assert "is a folder; name a file in it" in folder.stderr
