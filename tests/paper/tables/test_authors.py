from dataclasses import replace

import pytest
from typer.testing import CliRunner

from graphsct import datasets
from graphsct.cli import app
from graphsct.paper.author_settings import author_cells
from graphsct.paper.cell import Cell, Key
from graphsct.paper.keys import Choice
from graphsct.paper.tables import build, find
from graphsct.paper.tables.experiment import Request

CORA = Key("cora", "gcnii", None, 64)


@pytest.fixture
def table(tmp_path, make):
    """The table with runs of these test accuracies by control, all by validation loss."""

    def go(**accuracies):
        for control, values in accuracies.items():
            key = CORA._replace(control=None if control == "none" else control)
            make(key, by_loss=values).write(tmp_path / "authors")
        return build("authors", cells=tmp_path)

    return go


def row_of(table):
    return next(row for row in table.rows if (row.dataset, row.depth) == ("cora", 64))


def test_gains_are_of_runs_with_the_same_seed(table):
    base = [80.0, 82.0, 84.0, 86.0]
    found = table(
        none=base, gated=[one + 1 + s for one, s in zip(base, (0, 0.1, 0, 0.1), strict=True)]
    )
    row = row_of(found)
    assert (row.repeated, row.base.mean, row.base.n) == (85.2, pytest.approx(83), 4)
    assert row.sct_gain.mean == pytest.approx(1.05)
    assert row.verdict == "helps"
    assert row.bias is None and row.bias_gain is None
    text = found.to_markdown()
    assert "| 85.5 | 85.2 | 83.0 ± 2.6 (4 runs) | 84.0 ± 2.6 (4 runs) | not run | +1.0" in text


def test_seeds_that_one_side_lacks_do_not_count(table):
    row = row_of(table(none=[80.0, 82.0], gated=[81.0, 84.0, 10.0], bias=[79.0, 80.0, 10.0]))
    assert row.sct_gain.mean == pytest.approx(1.5)
    assert row.bias_gain.mean == pytest.approx(-1.5)


def test_without_runs_every_row_says_so(tmp_path):
    found = build("authors", cells=tmp_path)
    assert {row.base for row in found.rows} == {None}
    assert found.parts == ()


def test_models_with_control_start_from_the_weights_of_their_base(tmp_path, monkeypatch):
    keys = [CORA._replace(control=control) for control in (None, "gated", "bias")]
    small = {
        key: Cell(
            key,
            replace(
                cell.settings,
                model=replace(cell.settings.model, depth=2, hidden=8, dropout=0, conv_dropout=0),
                train=replace(cell.settings.train, epochs=1, learning_rate=1e-12),
            ),
        )
        for key, cell in author_cells().items()
        if key in keys
    }
    monkeypatch.setattr("graphsct.paper.tables.authors.author_cells", lambda: small)
    monkeypatch.setattr(Request, "load", lambda self, name, normalize: datasets.demo())
    said = []
    request = Request(
        choice=Choice(), out=tmp_path, work=tmp_path / "work", root=None, say=said.append, seeds=2
    )
    assert find("authors").run(request)
    base, sct, bias = (Cell.read_all(tmp_path / "authors")[key] for key in keys)
    # The terms are zero at first, so the first predictions are those of the base.
    accuracies = base.accuracies("val_loss")
    assert accuracies == sct.accuracies("val_loss") == bias.accuracies("val_loss")
    assert len(said) == 3
    assert base.command.startswith("graphsct reproduce authors --data cora --model gcnii")
    assert find("authors").run(request) and len(said) == 3


def test_choices_without_published_settings_are_refused():
    result = CliRunner().invoke(app, ["reproduce", "authors", "--report", "--model", "gcn"])
    assert result.exit_code == 1
    assert "no settings are published for these choices" in result.output
