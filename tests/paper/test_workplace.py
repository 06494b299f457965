from dataclasses import replace

import pytest

from graphsct.errors import ExperimentError
from graphsct.paper.cell import CellSettings, Key
from graphsct.paper.workplace import alone, clear_runs, each_cell, runs_folder
from graphsct.training import ModelConfig, TrainConfig

KEY = Key("texas", "gcn", None, None)
SETTINGS = CellSettings(ModelConfig(), TrainConfig())


def test_one_process_at_a_time(tmp_path):
    with alone(tmp_path / "cell"):
        with pytest.raises(ExperimentError, match="another process"), alone(tmp_path / "cell"):
            pass
        with alone(tmp_path / "other"):
            pass
    with alone(tmp_path / "cell"):
        pass


def test_results_that_have_no_place_are_not_worked_for(tmp_path):
    (tmp_path / "file").touch()
    made = []
    with pytest.raises(OSError, match="file"):
        list(each_cell([KEY], tmp_path / "file", tmp_path / "work", lambda *to: made.append(to)))
    assert made == []


def test_a_full_disk_is_no_reason_for_the_next_cell(tmp_path):
    def fill(key, place):
        raise OSError(28, "No space left on device", "cells/texas.json")

    with pytest.raises(OSError, match="No space left"):
        list(each_cell([KEY], tmp_path / "out", tmp_path / "work", fill))


def test_runs_belong_to_their_settings_but_not_to_a_seed(tmp_path):
    folder = runs_folder(tmp_path, SETTINGS)
    seeded = replace(SETTINGS, train=TrainConfig(seed=5))
    assert runs_folder(tmp_path, seeded) == folder
    assert runs_folder(tmp_path, replace(SETTINGS, normalize=True)) != folder


def test_a_search_outlives_the_runs(tmp_path):
    (runs_folder(tmp_path, SETTINGS) / "seed-0").mkdir(parents=True)
    (tmp_path / "study").mkdir()
    clear_runs(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["study"]


def test_files_of_others_outlive_the_runs(tmp_path):
    runs = runs_folder(tmp_path, SETTINGS)
    elsewhere = tmp_path / "elsewhere"
    for name in ("seed-0/run.json", "seed-0/.lock", "seed-1/run.json", "seed-1/notes.txt"):
        (runs / name).parent.mkdir(parents=True, exist_ok=True)
        (runs / name).write_text("")
    for place in (tmp_path / "runs-mine", elsewhere):
        place.mkdir()
        (place / "run.json").write_text("mine")
    (runs / "seed-2").symlink_to(elsewhere)
    clear_runs(tmp_path)
    assert {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.*")} == {
        "runs-mine/run.json",
        "elsewhere/run.json",
        f"{runs.name}/seed-1/notes.txt",
    }
