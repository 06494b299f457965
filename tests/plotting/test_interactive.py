import math

import pytest

from graphsct.plotting.interactive import BLUE, curve, layout, log_axis, positive, share_scales


def drawing(*values, **options):
    return {"data": [curve([1, 2], values, "", BLUE)], "layout": layout(**options)}


def shades(low, high):
    bar = {"tickvals": [low, high], "ticktext": [str(low), str(high)]}
    trace = {"type": "heatmap", "zmin": low, "zmax": high, "colorbar": bar}
    return {"data": [trace], "layout": layout()}


def test_a_logarithmic_axis_has_gaps_for_what_it_cannot_show():
    assert positive([1.0, -1.0, math.inf, math.nan]) == [1.0, None, None, None]


def test_ticks_are_few_and_only_where_they_help():
    assert log_axis([2, 30])["tickvals"] == [2, 5, 10, 20, 50]
    assert log_axis([1e-9, 1e9])["dtick"] == 3
    for short in ([], [4.0], [4.0, 4.1]):
        assert log_axis(short, title="loss") == {
            "type": "log",
            "exponentformat": "power",
            "title": "loss",
        }


def test_shared_logarithmic_axes_have_ticks_of_both():
    first, second = (drawing(*v, yaxis=log_axis(v)) for v in ((1, 30), (1e-4, 1e-2)))
    share_scales([first, second])
    assert first["layout"]["yaxis"] == second["layout"]["yaxis"]
    axis = first["layout"]["yaxis"]
    assert "tickvals" not in axis and axis["dtick"] == 1
    room = 0.05 * (math.log10(30) + 4)
    assert axis["range"] == [-4 - room, math.log10(30) + room]


def test_lines_across_a_figure_stay_visible():
    line = {"type": "line", "y0": 9.0}
    first, second = drawing(0.0, 1.0), drawing(None, 2.0, shapes=[line])
    share_scales([first, second])
    assert first["layout"]["yaxis"]["range"] == [-0.45, 9.45]


def test_a_range_that_is_set_stays():
    first, second = drawing(0.0, 5.0, yaxis={"range": [0, 1]}), drawing(2.0, 3.0)
    share_scales([first, second])
    assert first["layout"]["yaxis"] == {"range": [0, 1]}


def test_heat_maps_share_their_colours():
    first, second = shades(0, 2), shades(1, 5)
    share_scales([first, second])
    for figure in (first, second):
        (trace,) = figure["data"]
        assert (trace["zmin"], trace["zmax"]) == (0, 5)
        assert trace["colorbar"]["tickvals"] == [0, 2, 1, 5]


@pytest.mark.parametrize(
    ("values", "range_"), [((0.0, 0.1, 10.0), [-1.1, 1.1]), ((0.0, 0.0), [-0.5, 0.5])]
)
def test_a_logarithmic_axis_leaves_out_a_loss_of_zero(values, range_):
    figure = drawing(*values, yaxis=log_axis(values))
    share_scales([figure])
    assert figure["layout"]["yaxis"]["range"] == pytest.approx(range_)
