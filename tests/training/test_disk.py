import errno

import pytest

from graphsct import TrainingError
from graphsct.training.disk import held, saving


def test_a_folder_is_held_once(tmp_path):
    folder = tmp_path / "deep" / "new"
    expected = r"another process is using .*new; wait for it"
    with held(folder), pytest.raises(TrainingError, match=expected), held(folder):
        pass
    with held(folder):
        assert folder.is_dir()


def test_errors_inside_are_left_as_they_are(tmp_path):
    with pytest.raises(OSError, match="mine"), held(tmp_path):
        raise OSError("mine")


def test_a_full_disk_says_what_is_safe(tmp_path):
    expected = r"cannot write to .*: No space.* earlier are intact"
    with pytest.raises(TrainingError, match=expected), saving(tmp_path):
        raise OSError(errno.ENOSPC, "No space left on device")
