import os
import signal

import numpy as np
import pytest

from graphsct.datasets import demo
from graphsct.paper.figures.figure3 import draw, smoothness_maps
from graphsct.plotting.style import styled
from graphsct.training.interrupt import interruptible


@pytest.fixture(scope="module")
def found():
    return smoothness_maps(0, demo(), depth=12, epochs=40)


def test_a_map_for_each_network(found):
    names = [(m.network.name, m.network.setting.init, m.network.setting.decay) for m in found.maps]
    settings = [("glorot", 5e-4), ("glorot", 0.0), ("identity", 0.0)]
    assert names == [(name, *s) for name in ("GCN", "GCN-SCT") for s in settings]
    for m in found.maps:
        assert m.smoothness.shape == m.dead.shape == m.norm.shape == (13, 16)
        assert m.rank.shape == (13,)


def test_dead_is_exactly_where_there_is_nothing(found):
    for m in found.maps:
        assert np.array_equal(m.dead, m.norm == 0)
        assert (m.smoothness[m.dead] == 1).all()
        assert (m.rank <= (~m.dead).sum(axis=1) + 1e-9).all()
    assert any(m.dead.any() for m in found.maps)


def test_the_same_seed_gives_the_same_data(found):
    assert smoothness_maps(0, demo(), depth=12, epochs=40).columns() == found.columns()


def test_titles_give_setting_and_accuracy(found):
    with styled():
        titles = [axes.get_title() for axes in draw(found).axes[:6]]
    for title, m in zip(titles, found.maps, strict=True):
        assert title.endswith(f"{m.network.name}: test {100 * m.test_score:.1f} %")
    assert titles[0].startswith("Glorot start,\nweight decay 5e-4")


def test_ctrl_c_before_the_first_epoch():
    with interruptible(), pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)
        smoothness_maps(0, demo(), depth=2, epochs=5)
