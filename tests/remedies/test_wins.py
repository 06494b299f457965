import re
from pathlib import Path

import pytest
from board import board_cell

from graphsct.remedies.packed import read_packed
from graphsct.remedies.wins import (
    CONTROLS,
    DATA,
    DEPTHS,
    MODELS,
    planned,
    read_untuned,
    win_counts,
    win_table,
)

NOISE = (0.0, 0.01, -0.01, 0.005, -0.005, 0.008)
DEEP = Path(__file__).parents[2] / "docs/howto/deep.md"


def cells(control, gains):
    """Cells of a control and of none; gains by (data, model, depth)."""
    for (data, model, depth), gain in gains.items():
        place = dict(data=data, model=model)
        yield board_cell("none", [0.5 + n for n in NOISE], depth, **place)
        yield board_cell(
            control,
            [0.5 + gain + 0.9 * n + 0.001 * (i % 2) for i, n in enumerate(NOISE)],
            depth,
            **place,
        )


def places(count):
    every = [(data, model, depth) for data in DATA for model in MODELS for depth in DEPTHS]
    return every[:count]


def of(control, found):
    return next(each for each in found if each.control == control)


@pytest.mark.parametrize(
    ("better", "level", "verdict"),
    [(28, 0, "wins"), (27, 0, "open"), (27, 14, "open"), (27, 15, "does not win"), (0, 0, "open")],
)
def test_two_thirds_of_all_deep_cells_are_needed(better, level, verdict):
    gains = {place: 0.2 if i < better else 0.0 for i, place in enumerate(places(better + level))}
    found = of("target", win_counts(list(cells("target", gains))))
    assert found.planned == 42
    assert (found.count("better"), found.count("level"), found.run()) == (
        better,
        level,
        better + level,
    )
    assert found.verdict == verdict


def test_holm_counts_the_comparisons_of_all_controls_and_the_level_is_one_percent():
    one = list(cells("bias", {("cora", "gcn", 16): 0.2}))
    noisy = [board_cell("none", [0.5, 0.52, 0.48, 0.51], 16, model="gcnii")]
    noisy += [board_cell("target", [0.53, 0.54, 0.53, 0.52], 16, model="gcnii")]
    alone, both = win_counts(noisy), win_counts([*noisy, *one])
    p = [of("target", each).contests[0].p for each in (alone, both)]
    assert 0.01 < p[0] == p[1] < 0.2  # the largest of them is multiplied by one
    assert of("target", alone).count("level") == 1
    assert of("bias", both).contests[0].p == 2 * of("bias", win_counts(one)).contests[0].p


def test_worse_and_diverged_cells_are_no_gain_and_shallow_ones_do_not_count():
    own = list(cells("sct_gated", {("cora", "gcn", 32): -0.2, ("cora", "gcn", 8): 0.3}))
    own.append(board_cell("sct_gated", [], 64, chosen=None, failure="the weights diverged"))
    found = of("sct_gated", win_counts(own))
    assert (found.count("worse"), found.count("better"), found.run()) == (1, 0, 2)
    assert found.run(64) == 1


def test_what_was_not_run_is_said():
    text = win_table(list(cells("target", {("cora", "gcn", 16): 0.2})), "T").to_markdown()
    line = next(line for line in text.splitlines() if "wanted smoothness" in line)
    assert line == (
        "| wanted smoothness | 1 / 0 / 0 / 0 | not run | not run | 1 / 0 / 0 / 0 "
        "| 41 of 42 | open |"
    )
    assert {each.verdict for each in win_counts([])} == {"open"}


def test_only_cells_of_models_that_a_control_fits_are_planned():
    assert {len(planned(control)) for control in CONTROLS} == {42}


def test_untuned_runs_are_paired_by_the_seeds_that_both_have(tmp_path):
    path = tmp_path / "untuned.csv"
    head = "data,model,depth,remedy,metric,select,seed,split,test_score,val_score,val_loss,"
    lines = [head + "best_epoch,epochs"]
    for remedy, seeds in (("none", (0, 1)), ("bias", (0, 1)), ("target", (0, 1))):
        for seed in seeds:
            score = "" if remedy == "target" and seed else f"0.{seed + 5}"
            rest = f"{score},0.5,1.0,3,9" if score else ",,,,"
            lines.append(f"cora,gcn,16,{remedy},accuracy,val_score,{seed},,{rest}")
    path.write_text("\n".join(lines) + "\n")
    found = {cell.key.remedy: cell for cell in read_untuned(path)}
    assert found["bias"].scores() == [50.0, 60.0]
    assert found["target"].failure == "the weights diverged"
    assert of("target", win_counts(list(found.values()))).run() == 1
    assert read_untuned(tmp_path / "none.csv") == []


def test_a_winner_is_the_first_line_of_the_deep_network_guide():
    """None has won so far; the guide may name no winner that was not counted."""
    winners = {
        each.control
        for own in (read_packed(), read_untuned())
        for each in win_counts(own)
        if each.verdict == "wins"
    }
    first = re.search(r"^1\. (.*)$", DEEP.read_text(encoding="utf-8"), flags=re.M)[1]
    assert {control for control in CONTROLS if f"`{control}`" in first} == winners
