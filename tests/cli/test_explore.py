import webbrowser

from typer.testing import CliRunner

from graphsct.cli import app


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_it_prints_what_it_wrote(tmp_path):
    out = tmp_path / "new" / "page.html"
    result = run("explore", "--out", out)
    assert result.exit_code == 0, result.output
    assert result.stdout == f"{out}\n"
    text = out.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert "Petersen graph" in text
    assert len(text) < 100_000


def test_it_opens_the_page(tmp_path, monkeypatch):
    opened = tmp_path / "opened"
    command = f"""sh -c 'printf %%s "$0" > {opened}' %s"""
    monkeypatch.setattr(webbrowser, "_tryorder", [command.replace("%%", "%")])
    out = tmp_path / "page.html"
    result = run("explore", "--out", out, "--open")
    assert result.exit_code == 0, result.output
    assert opened.read_text() == out.as_uri()


def test_without_a_browser_the_page_is_there_all_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(webbrowser, "_tryorder", [])
    out = tmp_path / "page.html"
    result = run("explore", "--out", out, "--open")
    assert result.exit_code == 1
    assert result.stderr == f"graphsct: no browser could be started; open {out} by hand\n"
    assert out.exists()


def test_a_folder_is_no_place_for_a_page(tmp_path):
    for out in (tmp_path, "/"):
        result = run("explore", "--out", out)
        assert result.exit_code == 1
        assert result.stderr == f"graphsct: {out}: is a folder; name a file in it\n"
    assert list(tmp_path.iterdir()) == []
