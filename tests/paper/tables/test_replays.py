import pytest

from graphsct.paper.cell import Key
from graphsct.paper.replay import TRIALS, Replay, ReplayTrial
from graphsct.paper.tables import build, find
from graphsct.paper.tables.replays import protocol_of

BASE, SCT = Key("cora", "gcn", None, 2), Key("cora", "gcn", "pooled", 2)


def replay(key, relu, leaky, number=TRIALS):
    """Trials with these test accuracies, those with ReLU having less validation loss."""
    trials = [ReplayTrial("relu", 0.5, 0.7, relu), ReplayTrial("leaky_relu", 0.6, 0.8, leaky)]
    return Replay(key, tuple(trials) * (number // 2))


@pytest.fixture
def table(tmp_path):
    def go(*replays, name="replay"):
        for one in replays:
            one.write(tmp_path)
        return build(name, cells=tmp_path)

    return go


def test_the_protocol_takes_the_better_activation_with_sct_only(table):
    base, sct = table(replay(BASE, 0.80, 0.83), replay(SCT, 0.80, 0.83)).rows[:2]
    assert base.protocol == pytest.approx((80, 80, 80))
    assert sct.protocol == pytest.approx((83, 83, 83))
    assert (base.place, sct.place) == ("above", "below")  # the paper prints 81.1 and 82.9
    assert sct.gain.mean == pytest.approx(3)
    assert sct.paper_gain == pytest.approx(1.8)
    assert (base.paper_gain, base.gain) == (None, None)
    assert sct.expected[0] == pytest.approx(75)


def test_unfinished_cells_have_no_number(table):
    row = table(replay(BASE, 0.8, 0.8, number=20)).rows[0]
    assert (row.drawn, row.protocol, row.place) == (20, None, None)
    assert "| 20 | 81.1 | not run |" in table().to_markdown()


def test_the_table_by_depth_and_that_of_activations_have_a_column(table):
    depth = table(replay(SCT, 0.80, 0.83), name="depth")
    assert depth.columns[-1].heading == "paper's protocol"
    assert [row.protocol.mean for row in depth.rows if row.protocol] == pytest.approx([83])
    own = {row.activation: row.protocol for row in table(name="activations").rows if row.protocol}
    assert own["relu"].mean == pytest.approx(80)
    assert own["leaky_relu"].mean == pytest.approx(83)


def test_without_replays_they_have_none(table):
    assert "paper's protocol" not in [column.heading for column in table(name="depth").columns]


def test_trials_of_another_activation_do_not_count():
    replays = {SCT: replay(SCT, 0.80, 0.83)}
    assert protocol_of(SCT._replace(activation="relu"), replays).mean == pytest.approx(80)
    assert protocol_of(BASE, replays) is None


def test_choices_without_replays_are_refused(tmp_path):
    from graphsct.paper.keys import Choice

    error = find("replay").nothing_left(Choice(datasets=("pubmed",)), tmp_path)
    assert "choose cora or citeseer and depths 2 and 4" in str(error)
