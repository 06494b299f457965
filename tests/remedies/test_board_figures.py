import pytest
from board import board_cell

from graphsct.remedies.board_cell import BoardLayer
from graphsct.remedies.board_figures import depth_plots


def layers(rank, energy):
    first = BoardLayer(0.5, 0.5, 0.5, 20.0, 3.0, 1e-4)
    return (first, BoardLayer(0.5, 0.5, energy, rank, 3.0, 1e-4))


CELLS = [
    board_cell(name, [0.7 + 0.02 * depth, 0.72, 0.7 + 0.01 * place], depth, layers=layers(depth, e))
    for place, name in enumerate(("none", "residual", "gcnii", "pair_norm", "drop_edge"))
    for depth, e in ((16, 0.0), (2, 0.1), (4, 0.01))
]
CELLS.append(board_cell("dense", [], 2, chosen=None, failure="the weights diverged"))
CELLS.append(board_cell("identity", [0.5, 0.6], 2))


def lines(drawn, axis):
    return {t["name"]: t for t in drawn.figure["data"] if t["yaxis"] == axis and "name" in t}


def test_there_is_a_figure_for_each_family_that_was_run():
    drawn = depth_plots(CELLS)
    assert len(drawn) == 4
    for axis in ("y", "y2", "y3"):
        assert list(lines(drawn[2], axis)) == ["none", "residual connections", "GCNII"]


def test_scores_have_bands_around_their_means():
    drawn = depth_plots(CELLS)[2]
    band = next(t for t in drawn.figure["data"] if "fill" in t)
    line = lines(drawn, "y")["none"]
    assert line["x"] == ["2", "4", "16"]
    assert band["x"] == ["2", "4", "16", "16", "4", "2"]
    middle = [(high + low) / 2 for high, low in zip(band["y"], band["y"][::-1], strict=True)][:3]
    assert middle == pytest.approx(line["y"])


def test_rank_and_energy_are_those_of_the_last_layer_with_gaps_for_zero():
    drawn = depth_plots(CELLS)[2]
    assert lines(drawn, "y2")["GCNII"]["y"] == [2, 4, 16]
    assert lines(drawn, "y3")["GCNII"]["y"] == [0.1, 0.01, None]
    assert lines(depth_plots(CELLS)[0], "y2")["identity start"]["y"] == []  # not measured


def test_a_remedy_looks_the_same_in_all_panels_and_has_one_entry_in_the_legend():
    drawn = depth_plots(CELLS)[2]
    panels = [lines(drawn, axis) for axis in ("y", "y2", "y3")]
    for name in panels[0]:
        assert len({(p[name]["line"]["color"], p[name]["marker"]["symbol"]) for p in panels}) == 1
        assert [p[name].get("showlegend", True) for p in panels] == [True, False, False]


def test_figures_have_the_same_scales():
    layouts = [each.figure["layout"] for each in depth_plots(CELLS)]
    for axis in ("yaxis", "yaxis2", "yaxis3"):
        assert len({str(layout[axis]) for layout in layouts}) == 1
    domains = [layouts[0][axis]["domain"] for axis in ("yaxis3", "yaxis2", "yaxis")]
    ends = [end for domain in domains for end in domain]
    assert ends == sorted(ends)
