import pytest
from matplotlib.figure import Figure

from graphsct.plotting.saving import save
from graphsct.plotting.style import styled

COLUMNS = {"layer": [1, 2], "norm": [0.5, 0.25]}


def draw(folder):
    with styled():
        canvas = Figure()
        canvas.subplots().plot(COLUMNS["layer"], COLUMNS["norm"])
        return save("norms", canvas, COLUMNS, folder)


def test_a_drawing_and_its_data_are_written(tmp_path):
    paths = draw(tmp_path / "new")
    assert [path.name for path in paths] == ["norms.png", "norms.svg", "norms.csv"]
    assert paths[0].read_bytes().startswith(b"\x89PNG")
    assert "<svg" in paths[1].read_text("utf-8")
    assert paths[2].read_text("utf-8").splitlines() == ["layer,norm", "1,0.5", "2,0.25"]


def test_the_same_data_give_the_same_files(tmp_path):
    for one, other in zip(draw(tmp_path / "a"), draw(tmp_path / "b"), strict=True):
        assert one.read_bytes() == other.read_bytes()


def test_a_drawing_that_fails_leaves_no_file(tmp_path):
    class Broken(Figure):
        def savefig(self, path, **_):
            path.write_bytes(b"half")
            raise RuntimeError("no font")

    with pytest.raises(RuntimeError, match="no font"):
        save("norms", Broken(), COLUMNS, tmp_path)
    assert list(tmp_path.iterdir()) == []
