from dataclasses import replace

from graphsct.paper.report.brief import brief
from graphsct.paper.tables import build, experiments


def test_it_has_five_sentences_whose_numbers_are_counted(tables):
    found = brief(tables)
    assert len(found) == 5
    assert "the 4 pairs of models that we trained again it prints a gain of +5.0" in found[0]
    assert "then the gain is +3.2 points." in found[1]
    assert found[2] == (
        "The term helps in 2 pairs and hurts in 1; in the other 1 no difference can be shown."
    )
    assert found[4].startswith("30 of 30 models have exactly as many weights as the paper prints")


def test_weak_baselines_are_named(tables):
    def lifted(by):
        rows = [replace(row, difference=0.0 if row.sct else by) for row in tables["depth"].rows]
        return {**tables, "depth": replace(tables["depth"], rows=tuple(rows))}

    weak, strong = (brief(lifted(by))[3] for by in (9.0, -9.0))
    assert weak.endswith(
        "by +9.0 points and those with it by +0.0: the paper compares with models that are weaker "
        "than they need to be."
    )
    assert "weaker" not in strong


def test_without_any_run(tmp_path):
    tables = {name: build(name, cells=tmp_path, root=tmp_path) for name in experiments()}
    assert brief(tables) == ["We have not run any pair of models with and without SCT yet."]
