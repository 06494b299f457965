from pathlib import Path

from board import board_cell

from graphsct.remedies import REMEDIES
from graphsct.remedies.board_markdown import PICTURE, markdown
from graphsct.remedies.packed import read_packed
from graphsct.remedies.standings import fitting

PAGE = Path(__file__).parents[2] / "docs/remedies.md"


def test_it_has_findings_rules_tables_and_the_command():
    text = markdown([board_cell("none", [0.5, 0.6]), board_cell("residual", [0.7, 0.75])])
    headings = [line for line in text.splitlines() if line.startswith("#")]
    assert headings == [
        "# Remedies against over-smoothing",
        "## Findings",
        "## Rules",
        "## Best remedy for each data set and depth",
        "## Published scores by depth, beside ours",
        "## Every remedy: Cora, GCN",
        "### Test accuracy, %, epoch by validation metric",
        "### Time per epoch",
        "## Run a cell again",
    ]
    assert "| residual connections | 72.5 ± 3.5 |" in text
    assert "```sh\ngraphsct none <&>\n```" in text


def test_remedies_without_any_run_are_named_below_the_tables():
    cells = [
        board_cell("none", [0.5, 0.6]),
        board_cell("none", [0.5, 0.6], 4),
        board_cell("residual", [0.7, 0.75]),
        board_cell("pair_norm", [], chosen=None, failure="the weights diverged"),
    ]
    _, own = markdown(cells).split("## Every remedy: Cora, GCN")
    assert "| residual connections | 72.5 ± 3.5 | not run |" in own
    assert own.count("| PairNorm | diverged | not run |") == 2
    assert "| DropEdge |" not in own
    notes = [line for line in own.splitlines() if line.startswith("- remedies that were not run")]
    (head, names), again = (note.split(": ", 1) for note in notes)
    assert again == [head, "the same as above"]
    left = [name for name in fitting("gcn") if name not in {"none", "residual", "pair_norm"}]
    assert names.split("; ") == [REMEDIES[name].title for name in left]
    assert head.endswith(f"({len(left)})")


def test_nothing_is_said_if_all_remedies_were_run():
    cells = [board_cell(name, [0.5, 0.6]) for name in fitting("gcn")]
    assert "remedies that were not run" not in markdown(cells)


def test_data_without_published_scores_have_no_table_of_them():
    assert "Published" not in markdown([board_cell("none", [0.5, 0.6], data="texas")])


def test_a_picture_in_the_folder_of_the_page_is_shown(tmp_path):
    cells = [board_cell("none", [0.5, 0.6])]
    assert markdown(cells, tmp_path) == markdown(cells)
    (tmp_path / PICTURE).parent.mkdir()
    (tmp_path / PICTURE).touch()
    assert f"]({PICTURE})" in markdown(cells, tmp_path)


def test_the_page_of_the_documentation_is_up_to_date():
    """``graphsct remedies report --markdown docs/remedies.md`` writes it."""
    assert PAGE.read_text(encoding="utf-8") == markdown(read_packed(), PAGE.parent)
