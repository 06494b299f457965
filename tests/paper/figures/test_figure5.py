import pytest

from graphsct.paper.figures.figure5 import WantedSmoothness, draw, wanted_smoothness
from graphsct.remedies.wanted import Panel, ScoredRuns, read_panels


def panel(depth, *scores):
    networks = {
        ("none", None): ScoredRuns((50.0, 60.0, 70.0), 0.5, 0.8),
        ("learned", None): ScoredRuns((51.0, 52.0, 53.0), 0.5, 0.6),
    }
    networks |= {("all", t): ScoredRuns(scores, 0.5, t) for t in (0.3, 0.7)}
    networks |= {("last", t): ScoredRuns(scores, 0.5, t) for t in (0.3, 0.7)}
    return Panel("cora", 0.8, depth, networks)


def test_its_data_are_the_stored_runs():
    assert list(wanted_smoothness().panels) == read_panels()


def test_one_row_per_network_with_its_interval():
    columns = WantedSmoothness([panel(2, 50.0, 60.0, 70.0)]).columns()
    assert {len(column) for column in columns.values()} == {6}
    row = columns["layers"].index("all")
    assert columns["test_mean"][row] == 60
    assert columns["margin"][row] == pytest.approx(4.302653 * 10 / 3**0.5)
    assert columns["target"][:2] == ["", ""]


def test_depths_of_one_data_set_share_a_panel():
    figure = draw(WantedSmoothness([panel(2, 50.0, 60.0, 70.0), panel(8, 40.0, 41.0, 42.0)]))
    (axes,) = figure.axes
    assert axes.get_title() == "Cora"
    lines = [line for line in axes.lines if len(line.get_xdata()) == 2]
    assert [list(line.get_ydata()) for line in lines] == [[60, 60]] * 2 + [[41, 41]] * 2
