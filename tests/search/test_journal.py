import optuna
import pytest

from graphsct import TrainingError
from graphsct.search.journal import JOURNAL, Journal


def test_a_process_that_has_ended_is_gone_and_another_is_not(tmp_path):
    with Journal(tmp_path) as journal:
        with Journal(tmp_path) as other:
            assert not journal.is_gone(other.worker)
        assert journal.is_gone(other.worker)
        assert not journal.is_gone(journal.worker)
        assert journal.is_gone(None)
        (tmp_path / ".workers" / "killed").write_text("")  # nobody holds it
        assert journal.is_gone("killed")
        assert [path.name for path in (tmp_path / ".workers").iterdir()] == [journal.worker]
    assert not list((tmp_path / ".workers").iterdir())


def test_what_was_written_in_part_is_cut_off(tmp_path):
    with Journal(tmp_path) as journal:
        optuna.create_study(storage=journal.open(), study_name="s").set_user_attr("a", 1)
        path = tmp_path / JOURNAL
        whole = path.read_bytes()
        path.write_bytes(whole + b'{"op_code": 2, "study')
        study = optuna.create_study(storage=journal.open(), study_name="s", load_if_exists=True)
        study.set_user_attr("b", 2)
        assert path.read_bytes().startswith(whole)
        again = optuna.load_study(storage=journal.open(), study_name="s")
        assert again.user_attrs == {"a": 1, "b": 2}


@pytest.mark.parametrize(
    ("entry", "place"),
    [(b"{oops\n", ", line 2,"), (b"\xff\n", ", line 2,"), (b"7\n", ", line 2,"), (b"{}\n", "")],
)
def test_a_damaged_entry_is_named_by_its_line(tmp_path, entry, place):
    with Journal(tmp_path) as journal:
        optuna.create_study(storage=journal.open(), study_name="s").set_user_attr("a", 1)
        first, *rest = journal.place.read_bytes().splitlines(keepends=True)
        journal.place.write_bytes(b"".join([first, entry, *rest]))
        with pytest.raises(
            TrainingError, match=f"{JOURNAL}{place} is damaged: .*storage="
        ) as caught:
            journal.open()
    assert "\n" not in str(caught.value)


def test_folders_of_others_are_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("mine")
    with (
        pytest.raises(TrainingError, match=r"is not empty and is not a study.*storage="),
        Journal(tmp_path),
    ):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_file_where_the_folder_should_be(tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(TrainingError, match="cannot write to"), Journal(tmp_path / "taken"):
        pass


def test_leftovers_of_killed_processes_are_swept_by_the_first_that_is_alone(tmp_path):
    def leave():
        (tmp_path / ".workers").mkdir(exist_ok=True)
        for name in (".workers/killed", ".best-abcdefgh.json", ".search-abcdefgh.svg"):
            (tmp_path / name).touch()

    def left():
        return {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*-*")}

    (tmp_path / JOURNAL).touch()
    leave()
    with Journal(tmp_path) as first:
        assert left() == set()
        leave()
        with Journal(tmp_path) as second:
            assert left() == {".best-abcdefgh.json", ".search-abcdefgh.svg"}
            names = {path.name for path in (tmp_path / ".workers").iterdir()}
            assert names == {first.worker, second.worker}
