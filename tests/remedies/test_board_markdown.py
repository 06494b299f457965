from pathlib import Path

from board import board_cell

from graphsct.remedies.board_markdown import PICTURE, markdown
from graphsct.remedies.packed import read_packed

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
        "## Every remedy: cora, gcn",
        "### Test accuracy, %, epoch by validation metric",
        "### Time per epoch",
        "## Run a cell again",
    ]
    assert "| residual connections | 72.5 ± 3.5 |" in text
    assert "```sh\ngraphsct none <&>\n```" in text
    assert "| DropEdge | not run |" in text


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
