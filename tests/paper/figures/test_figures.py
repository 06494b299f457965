import csv
import struct
import sys
import xml.etree.ElementTree as ET
from functools import cache

import matplotlib
import pytest
from matplotlib.axis import Axis
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from graphsct.datasets import demo
from graphsct.errors import DataError, ExperimentError, MissingExtraError
from graphsct.paper.figures import FIGURES, write_figure
from graphsct.paper.figures.figure3 import smoothness_maps
from graphsct.paper.figures.figure4 import gradient_maps
from graphsct.plotting.saving import save
from graphsct.plotting.style import styled

# Figures 3 and 4 train on Citeseer for a minute; here, for a second on what is built in.
SMALL = {
    3: lambda seed: smoothness_maps(seed, demo(), depth=16, epochs=20),
    4: lambda seed: gradient_maps(seed, demo(), depth=16, epochs=5),
}


@cache
def data_of(number, seed=0):
    return SMALL.get(number, FIGURES[number].data)(seed)


def write(number, folder):
    if number not in SMALL:
        return write_figure(number, folder)
    with styled():
        data = data_of(number)
        return save(f"figure{number}", FIGURES[number].draw(data), data.columns(), folder)


@pytest.fixture(scope="module", params=FIGURES)
def number(request):
    return request.param


@pytest.fixture(scope="module")
def written(number, tmp_path_factory):
    folder = tmp_path_factory.mktemp("figure") / "not" / "there"
    return dict(zip(("png", "svg", "csv"), write(number, folder), strict=True))


def test_three_files_and_nothing_else(written, number):
    folder = written["png"].parent
    expected = [f"figure{number}.{suffix}" for suffix in ("csv", "png", "svg")]
    assert sorted(path.name for path in folder.iterdir()) == expected
    assert all(path.exists() for path in written.values())


def test_png_is_large_enough_for_a_slide(written):
    content = written["png"].read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", content[16:24])
    assert width >= 2000
    assert height >= 1000
    assert len(content) > 50_000


def test_svg_is_a_drawing_and_small_enough_to_edit(written):
    root = ET.parse(written["svg"]).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert len(root.findall(".//{http://www.w3.org/2000/svg}path")) > 50
    assert written["svg"].stat().st_size < 1_000_000


def test_csv_holds_the_plotted_data(written, number):
    with written["csv"].open(newline="") as file:
        rows = list(csv.DictReader(file))
    table = data_of(number).columns()
    assert list(rows[0]) == list(table)
    for name, column in table.items():
        assert [row[name] for row in rows] == [str(value) for value in column]


CANVASES = [*((1, seed) for seed in range(5)), (2, 0), (3, 0), (4, 0), (5, 0)]


@pytest.fixture(scope="module", params=CANVASES, ids=str)
def canvas(request):
    number, seed = request.param
    with styled():
        canvas = FIGURES[number].draw(data_of(number, seed))
        canvas.draw_without_rendering()
        yield canvas


def labels(canvas):
    """Every text that is drawn, with its box; ticks outside of their axis are not drawn."""
    hidden = set()
    for axis in canvas.findobj(Axis):
        low, high = sorted(axis.get_view_interval())
        for tick in [*axis.get_major_ticks(), *axis.get_minor_ticks()]:
            if not low <= tick.get_loc() <= high:
                hidden |= {tick.label1, tick.label2}
    for text in canvas.findobj(Text):
        if text not in hidden and text.get_visible() and text.get_text().strip():
            yield text.get_text(), text.get_window_extent()


def test_no_label_lies_on_another_or_outside(canvas):
    page = canvas.bbox
    found = list(labels(canvas))
    assert len(found) > 20
    for k, (text, box) in enumerate(found):
        assert page.x0 <= box.x0 < box.x1 <= page.x1, text
        assert page.y0 <= box.y0 < box.y1 <= page.y1, text
        for other, its_box in found[k + 1 :]:
            assert not box.overlaps(its_box), (text, other)


def test_no_note_hides_a_curve(canvas):
    for axes in canvas.axes:
        for text in axes.texts:
            box = Bbox.intersection(text.get_window_extent(), axes.bbox)
            if box is None or not text.get_text():  # outside the panel, or an arrow
                continue
            for line in axes.lines:
                path = line.get_transform().transform_path(line.get_path())
                assert not path.intersects_bbox(box, filled=False), text.get_text()


@pytest.mark.parametrize("number", [1, 2], indirect=True)
def test_the_same_seed_gives_the_same_files_whatever_the_users_settings(number, written, tmp_path):
    matplotlib.use("svg")
    with matplotlib.rc_context({"font.size": 30, "lines.linewidth": 9}):
        for path in write_figure(number, tmp_path):
            assert path.read_bytes() == written[path.suffix[1:]].read_bytes()
        assert matplotlib.rcParams["font.size"] == 30
    assert matplotlib.get_backend() == "svg"


@pytest.mark.parametrize(
    ("number", "name"), [(1, "relu_smoothness"), (3, "norm"), (4, "jacobian_norm")]
)
def test_another_seed_gives_another_figure(number, name):
    first, second = (list(data_of(number, seed).columns()[name]) for seed in (0, 1))
    assert first != second


@pytest.mark.parametrize("number", SMALL)
def test_a_data_set_that_is_not_there_says_what_to_do(number, tmp_path, monkeypatch):
    monkeypatch.setenv("GRAPHSCT_DATA", str(tmp_path))
    monkeypatch.setenv("GRAPHSCT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")  # nobody listens there
    with pytest.raises(DataError, match="CiteSeer"):
        write_figure(number, tmp_path)


def test_unknown_figure_lists_those_there_are(tmp_path):
    with pytest.raises(
        ExperimentError, match=r"no figure 9; choose from 1: .*alpha; 2: trajectories"
    ):
        write_figure(9, tmp_path)


def test_missing_matplotlib_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r'matplotlib is not.*"graphsct\[plot\]"'):
        write_figure(2, tmp_path)
    assert list(tmp_path.iterdir()) == []
