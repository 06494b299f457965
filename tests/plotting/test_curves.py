import numpy as np
import pytest
from matplotlib.figure import Figure

from graphsct.plotting.curves import draw_line, label_log_axis


def test_zeros_are_gaps_on_a_logarithmic_axis_only():
    for scale, shown in (("log", [1.0, np.nan]), ("linear", [1.0, 0.0])):
        axes = Figure().subplots()
        axes.set_yscale(scale)
        draw_line(axes, [1, 2], np.array([1.0, 0.0]), "black", "values")
        np.testing.assert_array_equal(axes.lines[0].get_ydata(), shown)


@pytest.mark.parametrize(("high", "ticks"), [(90, {"1", "2", "5", "10"}), (1e5, {"1", "100"})])
def test_a_logarithmic_axis_has_plain_numbers(high, ticks):
    canvas = Figure()
    axes = canvas.subplots()
    axes.set(yscale="log", ylim=(1, high))
    label_log_axis(axes)
    canvas.draw_without_rendering()
    labels = {label.get_text() for label in axes.get_yticklabels()}
    assert ticks <= labels
    assert ("2" in labels) is ("2" in ticks)
