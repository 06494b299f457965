from dataclasses import replace

from graphsct.paper.report.markdown import write_markdown


def test_markdown_has_the_summary_and_the_figures(tables, drawings, tmp_path):
    missing = replace(drawings[3], svg=None, png=None, digest=None, why="Citeseer is not here")
    paths = write_markdown(tmp_path / "docs" / "r.md", tables, [*drawings[:3], missing])
    images = [tmp_path / "docs" / "images" / f"figure{k}.png" for k in (1, 2, 3)]
    assert paths == [tmp_path / "docs" / "r.md", *images]
    assert all(path.exists() for path in paths)
    text = paths[0].read_text(encoding="utf-8")
    assert text.startswith("# ")
    assert "**Does SCT help on the citation sets? In 1 of 3 pairs.** The paper" in text
    assert "](images/figure3.png)" in text
    assert "Not drawn: Citeseer is not here" in text
    assert "## Where SCT helps\n" in text
    assert not any(table.title in text for table in tables.values())
