import json

import pytest

from graphsct import TrainingError
from graphsct.training.folder import open_folder

SETTINGS = {
    "data": {"name": "demo"},
    "model": {"depth": 2},
    "train": {"epochs": 5},
    "seeds": 3,
}


def content(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture
def used(tmp_path):
    open_folder(tmp_path, SETTINGS)
    for place in ("seed-0", "without-control/seed-0"):
        (tmp_path / place).mkdir(parents=True)
        for name in (
            "run.json",
            "weights.safetensors",
            "layers.jsonl",
            ".lock",
            "events.out.tfevents.1",
        ):
            (tmp_path / place / name).write_text("old")
    for name in ("results.json", "page.html"):
        (tmp_path / name).write_text("old")
    return tmp_path


def test_a_new_folder_gets_its_settings(tmp_path):
    open_folder(tmp_path / "deep" / "new", SETTINGS)
    assert json.loads((tmp_path / "deep" / "new" / "config.json").read_text()) == SETTINGS


def test_a_folder_with_runs_is_refused(used):
    before = content(used)
    with pytest.raises(TrainingError, match=r"holds a run already; use resume=True .* force=True"):
        open_folder(used, SETTINGS)
    assert content(used) == before


def test_resume_keeps_everything_and_may_add_seeds(used):
    before = content(used)
    open_folder(used, {**SETTINGS, "seeds": 9}, resume=True)
    after = content(used)
    assert json.loads(after.pop("config.json"))["seeds"] == 9
    del before["config.json"]
    assert after == before


def test_resume_with_other_settings_is_refused(used):
    before = content(used)
    with pytest.raises(TrainingError, match=r"model.depth is 2 there, 4 here"):
        open_folder(used, {**SETTINGS, "model": {"depth": 4}}, resume=True)
    assert content(used) == before


def test_force_deletes_our_files_and_no_others(used):
    (used / "notes.txt").write_text("mine")
    (used / "seed-0" / "notes.txt").write_text("mine")
    open_folder(used, {**SETTINGS, "model": {"depth": 4}}, force=True)
    assert set(content(used)) == {"config.json", "notes.txt", "seed-0/notes.txt"}
    assert json.loads((used / "config.json").read_text())["model"] == {"depth": 4}


@pytest.mark.parametrize("options", [{}, {"resume": True}, {"force": True}])
def test_a_folder_of_somebody_else_is_never_touched(tmp_path, options):
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(TrainingError, match="is not empty and not a run folder"):
        open_folder(tmp_path, SETTINGS, **options)
    assert content(tmp_path) == {"thesis.tex": b"mine"}


@pytest.mark.parametrize(
    ("text", "message"), [("{", "is not valid JSON"), ("[]", "was not written by graphsct")]
)
def test_a_config_that_is_not_ours(tmp_path, text, message):
    (tmp_path / "config.json").write_text(text)
    with pytest.raises(TrainingError, match=message):
        open_folder(tmp_path, SETTINGS, force=True)
    assert (tmp_path / "config.json").read_text() == text
