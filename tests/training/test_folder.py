import json

import pytest

from graphsct import TrainingError
from graphsct.training.disk import held
from graphsct.training.folder import open_folder

SETTINGS = {
    "data": {"name": "demo"},
    "model": {"depth": 2},
    "train": {"epochs": 5},
    "seeds": 3,
}


def open_and_close(folder, settings, **options):
    with open_folder(folder, settings, **options):
        pass


def content(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture
def used(tmp_path):
    open_and_close(tmp_path, SETTINGS)
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
    open_and_close(tmp_path / "deep" / "new", SETTINGS)
    assert json.loads((tmp_path / "deep" / "new" / "config.json").read_text()) == SETTINGS


def test_a_folder_with_runs_is_refused(used):
    before = content(used)
    with pytest.raises(TrainingError, match=r"holds a run already; use resume=True .* force=True"):
        open_and_close(used, SETTINGS)
    assert content(used) == before


def test_resume_keeps_everything_and_may_add_seeds(used):
    before = content(used)
    open_and_close(used, {**SETTINGS, "seeds": 9}, resume=True)
    after = content(used)
    assert json.loads(after.pop("config.json"))["seeds"] == 9
    del before["config.json"]
    assert after == before


def test_resume_with_other_settings_is_refused(used):
    before = content(used)
    with pytest.raises(TrainingError, match=r"model.depth is 2 there, 4 here"):
        open_and_close(used, {**SETTINGS, "model": {"depth": 4}}, resume=True)
    assert content(used) == before


def test_force_deletes_our_files_and_no_others(used):
    (used / "notes.txt").write_text("mine")
    (used / "seed-0" / "notes.txt").write_text("mine")
    open_and_close(used, {**SETTINGS, "model": {"depth": 4}}, force=True)
    assert {name for name in content(used) if not name.endswith(".lock")} == {
        "config.json",
        "notes.txt",
        "seed-0/notes.txt",
    }
    assert json.loads((used / "config.json").read_text())["model"] == {"depth": 4}


@pytest.mark.parametrize("options", [{}, {"resume": True}, {"force": True}])
def test_a_folder_in_use_is_refused(used, options):
    with open_folder(used, SETTINGS, resume=True):
        before = content(used)
        with pytest.raises(TrainingError, match="another process is using"):
            open_and_close(used, SETTINGS, **options)
        assert content(used) == before


@pytest.mark.parametrize("place", ["seed-0", "without-control/seed-0"])
def test_force_deletes_nothing_while_another_process_trains_a_seed(used, place):
    before = content(used)
    with held(used / place), pytest.raises(TrainingError, match=f"is using .*{place}"):
        open_and_close(used, SETTINGS, force=True)
    assert content(used) == before


def test_force_leaves_the_locks_to_those_who_may_hold_them(used):
    before = {path: path.stat().st_ino for path in used.rglob(".lock")}
    open_and_close(used, SETTINGS, force=True)
    assert {path: path.stat().st_ino for path in used.rglob(".lock")} == before


@pytest.mark.parametrize("inner", ["other/gcnii", "without-control", "seed-0", "seed-data"])
def test_force_leaves_other_runs_below_the_folder(tmp_path, inner):
    open_and_close(tmp_path, SETTINGS)
    open_and_close(tmp_path / inner, SETTINGS)
    (tmp_path / inner / "seed-1").mkdir()
    (tmp_path / inner / "seed-1" / "run.json").write_text("another run")
    (tmp_path / inner / "results.json").write_text("another run")
    before = content(tmp_path / inner)
    open_and_close(tmp_path, SETTINGS, force=True)
    assert content(tmp_path / inner) == before


@pytest.mark.parametrize("name", ["mine/results.json", "seed-data/run.json", "seed-0/results.json"])
def test_force_leaves_files_that_no_run_writes(used, name):
    (used / name).parent.mkdir(exist_ok=True)
    (used / name).write_text("mine")
    open_and_close(used, SETTINGS, force=True)
    assert (used / name).read_text() == "mine"


@pytest.mark.parametrize("link", ["seed-7", "without-control", "without-control/seed-7"])
def test_force_follows_no_link_to_runs_elsewhere(used, tmp_path_factory, link):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    for name in ("run.json", "seed-0/run.json"):
        (elsewhere / name).parent.mkdir(exist_ok=True)
        (elsewhere / name).write_text("another run")
    if (used / link).exists():
        (used / link).rename(used / "moved")
    (used / link).symlink_to(elsewhere)
    before, other = content(used), content(elsewhere)
    with pytest.raises(TrainingError, match=f"{link} is a link to .*; remove the link"):
        open_and_close(used, SETTINGS, force=True)
    assert content(used) == before
    assert content(elsewhere) == other


def test_force_deletes_a_link_but_not_its_file(used, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "mine.json"
    elsewhere.write_text("mine")
    (used / "results.json").unlink()
    (used / "results.json").symlink_to(elsewhere)
    open_and_close(used, SETTINGS, force=True)
    assert elsewhere.read_text() == "mine"


@pytest.mark.parametrize("options", [{}, {"resume": True}, {"force": True}])
def test_a_kill_at_the_first_settings_leaves_a_folder_that_is_taken(tmp_path, options):
    for name in (".lock", ".config-ab12cd_9.json"):
        (tmp_path / name).write_text("")
    open_and_close(tmp_path, SETTINGS, **options)
    assert set(content(tmp_path)) == {".lock", "config.json"}


@pytest.mark.parametrize("options", [{"resume": True}, {"force": True}])
def test_leftovers_of_killed_processes_are_swept(used, options):
    mine, ours = [".config-mine.json", ".notes-ab12cd_9.txt"], [".page-x_1y2z3_.html"]
    for name in (*mine, *ours, ".results-00000000.json"):
        (used / name).write_text("half of")
    open_and_close(used, SETTINGS, **options)
    assert {name for name in content(used) if name.startswith(".")} == {".lock", *mine}


def test_force_sweeps_the_folders_of_seeds(used):
    (used / "seed-0" / ".layers-ab12cd_9.jsonl").write_text("half of")
    open_and_close(used, SETTINGS, force=True)
    assert [path.name for path in (used / "seed-0").iterdir()] == [".lock"]


@pytest.mark.parametrize("options", [{}, {"resume": True}, {"force": True}])
def test_a_folder_of_somebody_else_is_never_touched(tmp_path, options):
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(TrainingError, match="is not empty and not a run folder"):
        open_and_close(tmp_path, SETTINGS, **options)
    assert content(tmp_path) == {"thesis.tex": b"mine"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not valid JSON"),
        ("[]", "was not written by graphsct"),
        ('{"model": "a config of another program"}', "was not written by graphsct"),
    ],
)
def test_a_config_that_is_not_ours(tmp_path, text, message):
    (tmp_path / "config.json").write_text(text)
    with pytest.raises(TrainingError, match=message):
        open_and_close(tmp_path, SETTINGS, force=True)
    assert (tmp_path / "config.json").read_text() == text


@pytest.mark.parametrize("options", [{"resume": True}, {"force": True}], ids=str)
def test_settings_that_are_nested_too_deeply_are_named(used, options):
    (used / "config.json").write_text("[" * 100_000)
    before = content(used)
    with pytest.raises(TrainingError, match=r"config.json is not valid JSON: .*too deeply"):
        open_and_close(used, SETTINGS, **options)
    assert content(used) == before
