import pytest
from plotly import graph_objects

from graphsct.paper.cell import Key
from graphsct.paper.replay import Replay, ReplayTrial
from graphsct.paper.report.findings import CLAIMED
from graphsct.paper.report.plots import depth_plots, gain_plots, trial_plots
from graphsct.paper.tables import build


def test_depth_plots_show_both_sides(tables):
    plots = depth_plots(tables["depth"])
    assert len(plots) == 15
    paper, ours, paper_sct, ours_sct = plots["Cora, GCN"]["data"]
    assert paper["x"] == paper_sct["x"] == ["2", "4", "16", "32"]
    assert paper["y"][0] == 81.1
    assert ours["x"] == ours_sct["x"] == ["2", "16"]
    assert ours["y"] == pytest.approx([81.1, 75.0])
    assert ours["error_y"]["array"][0] == pytest.approx(ours["error_y"]["arrayminus"][0])
    assert plots["PubMed, EGNN"]["data"][1]["y"] == []


def test_gain_plots_have_a_row_for_each_pair(tables):
    plots = gain_plots(tables[name] for name in CLAIMED)
    assert list(plots) == ["Cora", "Texas"]
    paper, ours = plots["Cora"]["data"]
    assert ours["y"] == paper["y"] == ["GCN 2", "GCN 16", "GCNII 4"]
    assert ours["x"] == pytest.approx([5.0, -10.0, 0.1])
    assert paper["x"] == pytest.approx([1.8, 6.5, 1.7])
    assert [row[2] for row in ours["customdata"]] == ["helps", "hurts", "unclear"]
    assert gain_plots([tables["srelu"]]) == {}


def replayed(folder, *controls):
    for control in controls:
        trials = tuple(ReplayTrial("relu", 0.5, 0.7 + i / 1000, 0.8) for i in range(200))
        Replay(Key("cora", "gcn", control, 2), trials).write(folder)
    return build("replay", cells=folder)


def test_trial_plots_show_pairs_that_were_replayed(tmp_path):
    assert trial_plots(replayed(tmp_path, None)) == {}
    plots = trial_plots(replayed(tmp_path, "pooled"))
    base, sct = plots["Cora, GCN, 2 layers"]["data"]
    assert list(plots) == ["Cora, GCN, 2 layers"]
    assert base["x"] == sct["x"] == list(range(1, 201))
    assert base["y"][0] == pytest.approx(79.95)
    assert base["y"] == sorted(base["y"])


def test_plotly_knows_every_name(tables, tmp_path):
    plots = {**depth_plots(tables["depth"]), **gain_plots([tables["depth"]])}
    plots |= trial_plots(replayed(tmp_path, None, "pooled"))
    for plot in plots.values():
        graph_objects.Figure(plot)  # refuses what it does not know
