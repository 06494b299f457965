import csv
from dataclasses import replace

import pytest

from graphsct.files import write_json, write_jsonl
from graphsct.plotting.style import styled
from graphsct.search.figure import Trials, draw_search, write_search
from graphsct.search.outcome import TrialRow
from graphsct.training.selection import Criterion


def row(trial, state, accuracy, loss, **chosen):
    return TrialRow(trial, state, accuracy, loss, 9.0, 1.0, chosen={"depth": 2, **chosen})


ROWS = [
    row(0, "complete", 0.70, 0.9, dropout=0.5, activation="relu"),
    row(1, "pruned", 0.40, 1.2, dropout=0.1, activation="relu"),
    row(2, "complete", 0.80, 0.8, dropout=0.6, activation="leaky_relu"),
    row(3, "diverged", None, None, dropout=0.6, activation="relu"),
    row(4, "complete", 0.80, 0.7, dropout=0.5, activation="leaky_relu"),
    row(5, "complete", 0.75, 0.6, dropout=0.5, activation="leaky_relu"),
]


def test_only_what_was_chosen_in_two_ways_is_a_setting():
    trials = Trials(ROWS, Criterion("val_score"))
    assert trials.settings == {
        "dropout": [0.1, 0.5, 0.6],
        "activation": ["leaky_relu", "relu"],
    }


@pytest.mark.parametrize(("select", "best"), [("val_score", 4), ("val_loss", 5)])
def test_the_best_is_that_of_the_search(select, best):
    assert Trials(ROWS, Criterion(select)).best.trial == best


def test_the_finals_decide_and_are_drawn():
    rows = [
        replace(each, final_val_score={4: 0.72, 5: 0.74}.get(each.trial), final_val_loss=0.5)
        for each in ROWS
    ]
    trials = Trials(rows, Criterion("val_score"))
    assert trials.best.trial == 5
    assert "final_val_score" not in trials.settings
    with styled():
        canvas = draw_search(trials)
    drawn = {dots.get_label(): dots for dots in canvas.axes[0].collections}
    points = drawn["5 times the runs"].get_offsets()
    assert points.tolist() == [[4, pytest.approx(72)], [5, pytest.approx(74)]]


@pytest.mark.parametrize(
    ("select", "line"),
    [("val_score", [70, 80, 80, 80]), ("val_loss", [0.9, 0.8, 0.7, 0.6])],
)
def test_the_best_so_far_and_a_panel_for_each_setting(select, line):
    with styled():
        canvas = draw_search(Trials(ROWS, Criterion(select)))
    top, *panels = canvas.axes
    assert top.lines[0].get_ydata().tolist() == pytest.approx(line)
    assert [axes.get_title() for axes in panels] == ["dropout", "activation"]
    ring = panels[0].collections[-1].get_offsets()[0]
    assert ring[1] == pytest.approx(line[-1])
    assert round(ring[0]) == 1


def test_a_panel_has_the_trials_in_which_the_setting_is_felt():
    slopes = {2: {"negative_slope": 0.1}, 5: {"negative_slope": 0.3}}
    rows = [replace(r, chosen=r.chosen | slopes.get(r.trial, {})) for r in ROWS]
    with styled():
        panel = draw_search(Trials(rows, Criterion("val_score"))).axes[-1]
    assert panel.get_title() == "negative slope"
    dots = [dots.get_offsets() for dots in panel.collections if len(dots.get_offsets())]
    assert [points[:, 1].tolist() for points in dots] == [[80, 75]]  # the best is without a slope


def test_trials_off_the_scale_are_counted():
    with styled():
        canvas = draw_search(Trials(ROWS, Criterion("val_score")))
    assert canvas.axes[0].get_title(loc="left") == "1 worse trials are off the scale"


def test_files(tmp_path):
    write_jsonl(tmp_path / "trials.jsonl", (row.to_dict() for row in ROWS))
    write_json(tmp_path / "best.json", {"task": {"select": "val_score"}})
    paths = write_search(tmp_path)
    assert [path.name for path in paths] == ["search.png", "search.svg", "search.csv"]
    with paths[2].open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["val_score"] for row in rows][2:4] == ["0.8", ""]
