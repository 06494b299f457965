import csv

import pytest
import torch

from graphsct.datasets import demo
from graphsct.paper.depth import run_depths
from graphsct.paper.figures.depth_study import (
    TrainingCurves,
    draw_accuracy,
    draw_curves,
    write_study,
)
from graphsct.plotting.style import styled
from graphsct.training import TrainConfig


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    config = TrainConfig(epochs=25, patience=4)
    return run_depths(demo(), folder, seeds=3, config=config, depths=(2, 8))


def test_the_longer_run_stands_for_both(study):
    curves = TrainingCurves(study)
    for depth in (2, 8):
        (_, without), (_, with_control) = curves.runs(depth)
        for part, name in ((without, "without"), (with_control, "results")):
            pairs = zip(
                getattr(study.found["val_loss", depth], name).runs,
                getattr(study.found["val_score", depth], name).runs,
                strict=True,
            )
            for run, pair in zip(part, pairs, strict=True):
                assert run.epochs == max(other.epochs for other in pair)
                for other in pair:
                    history = torch.tensor(run.history[: other.epochs])
                    assert torch.allclose(history, torch.tensor(other.history), rtol=1e-3)
    columns = curves.columns()
    assert len(columns["epoch"]) == sum(
        run.epochs for depth in (2, 8) for _, runs in curves.runs(depth) for run in runs
    )


def test_accuracy_shows_means_and_every_seed(study):
    with styled():
        panels = draw_accuracy(study).axes
    assert [axes.get_title() for axes in panels] == [
        "epoch selected by validation loss",
        "epoch selected by validation accuracy",
    ]
    texts = [text.get_text() for text in panels[0].texts]
    expected = []
    for depth in (2, 8):
        found = study.found["val_loss", depth]
        expected += [f"{100 * part.test_mean:.1f}" for part in (found.without, found.results)]
    assert texts == expected
    marks = [offset for part in panels[0].collections for offset in part.get_offsets()]
    assert len(marks) >= 12


def test_curves_show_a_line_for_each_run_and_its_epochs(study):
    curves = TrainingCurves(study)
    with styled():
        panels = draw_curves(curves).axes
    assert [axes.get_title() for axes in panels] == ["2 layers", "8 layers", "", ""]
    lengths = sorted(len(line.get_xdata()) for line in panels[1].lines)
    assert lengths == sorted(run.epochs for _, runs in curves.runs(8) for run in runs)
    chosen = sorted(offset[0] for part in panels[3].collections for offset in part.get_offsets())
    assert chosen == sorted(
        run.best_epoch
        for select in ("val_loss", "val_score")
        for part in study.found[select, 8].parts
        for run in part.runs
    )


def test_files(study, tmp_path):
    paths = write_study(study, tmp_path)
    names = [f"{k}.{suffix}" for k in ("accuracy", "curves") for suffix in ("png", "svg", "csv")]
    assert [path.name for path in paths] == names
    assert all(path.stat().st_size > 1000 for path in paths)
    with paths[2].open(newline="") as file:
        assert len(list(csv.DictReader(file))) == 2 * 2 * 2 * 3
