import copy
from dataclasses import replace

import pytest

from graphsct.diagnosis.page.runs import Judged, judge_seeds, trained_page, write_trained
from graphsct.training import ModelConfig, TrainConfig
from graphsct.training.compare import compare_control

NAME = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def named(data):
    data = copy.copy(data)
    data.name = NAME
    return data


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("runs") / "run"


@pytest.fixture(scope="module")
def found(named, folder):
    model = ModelConfig(control="pooled", depth=12, hidden=8, init="glorot")
    return compare_control(model, named, TrainConfig(epochs=8), range(3), folder=folder)


@pytest.fixture(scope="module")
def path(found, named, folder):
    return write_trained(found, named, folder)


def test_every_seed_is_judged_and_the_worst_is_shown(found, named, folder):
    judged = judge_seeds(found.results, named, folder)
    assert isinstance(judged, Judged)
    worst = min(found.results.runs, key=lambda run: (run.val_score, -run.val_loss))
    assert judged.worst.run is worst
    assert judged.worst.works is False
    assert judged.note.startswith("0 of 3 seeds work; 3 of 3 have findings in layers. The")
    assert judged.worst.standing.model.val == pytest.approx(worst.val_score)
    assert len(judged.worst.layers) == 12


def test_a_seed_that_fails_is_worse_than_one_that_works(named, tmp_path):
    model = ModelConfig(depth=2, hidden=8)
    found = compare_control(
        model, named, TrainConfig(epochs=60), range(2), folder=tmp_path / "a", compare=False
    )
    judged = judge_seeds(found.results, named, tmp_path / "a")
    assert judged.worst.works
    assert judged.note.startswith("2 of 2 seeds work; 0 of 2 have findings in layers.")


@pytest.fixture(scope="module")
def opened(path, browser):
    browser.open(path)
    return browser


def test_both_models_stand_side_by_side(found, opened):
    assert opened.messages() == []
    assert opened.overflow() <= 0
    assert opened.too_pale() == []
    headings = "[...document.querySelectorAll('#verdict h3')].map((part) => part.textContent)"
    assert opened.run(headings) == ["Control pooled", "Without control"]
    for row in ("#verdict .side > *", "#history .side > *", "#maps .side > *", "#curves .side > *"):
        first, second = opened.run(
            f"[...document.querySelectorAll('{row}')].slice(0, 2).map((part) => "
            "[part.getBoundingClientRect().x, part.getBoundingClientRect().y])"
        )
        assert first[1] == second[1]
        assert second[0] - first[0] > 500
    scales = opened.run(
        "['maps-2', 'curves-1', 'curves-4', 'curves-6', 'history-1'].map((name) => [1, 2].map("
        "(part) => { const { data, layout } = document.getElementById(`${name}-${part}`);"
        "return [data[0].zmin, data[0].zmax, ...layout.yaxis.range]; }))"
    )
    assert all(first == second for first, second in scales)
    rows = opened.run(
        "[...document.querySelectorAll('#results tbody tr')].map((row) =>"
        "[...row.cells].map((cell) => cell.textContent))"
    )
    assert [row[0] for row in rows[:3]] == ["pooled", "none", "difference, paired"]
    mean, std = 100 * found.results.test_mean, 100 * found.results.test_std
    assert rows[0][1] == f"{mean:.1f} ± {std:.1f}"
    assert [float(row[2]) for row in rows[3:6]] == [
        round(100 * run.test_score, 1) for run in found.results.runs
    ]


def test_names_are_escaped_and_the_history_is_that_of_python(path, found, opened):
    text = path.read_text(encoding="utf-8")
    assert NAME not in text
    assert "on &lt;script&gt;" in text
    for number, results in enumerate(found.parts, 1):
        traces = opened.run(
            f"document.getElementById('history-1-{number}').data.map(({{ y }}) => Array.from(y))"
        )
        for own, run in zip(traces[3:6], results.runs, strict=True):
            assert own == pytest.approx([epoch.val_loss for epoch in run.history], rel=1e-5)


def test_a_phone_in_the_dark_shows_all_of_it(path, browser):
    browser.open(path, width=390, dark=True)
    assert browser.messages() == []
    assert browser.fetched() == []
    assert browser.overflow() <= 0
    assert browser.run("document.querySelectorAll('.plot .hm').length") == 4
    stars = "document.querySelectorAll('#history .scatterlayer .point').length"
    assert browser.run(stars) == 4 * 3
    browser.run("document.querySelectorAll('details').forEach((part) => part.open = true)")
    assert browser.overflow() <= 0
    assert browser.too_pale() == []


def test_one_model_and_no_diagnosis(found, named, folder):
    alone = replace(found, without=None)
    stopped = tuple(replace(run, interrupted=True) for run in found.results.runs)
    interrupted = replace(alone, results=replace(found.results, runs=stopped), interrupted=True)
    look = judge_seeds(interrupted.results, named, folder)
    assert look == "no run is finished"
    text = trained_page(interrupted, named, [look])
    assert "No diagnosis: no run is finished." in text
    assert "<code>--resume</code> finishes the runs" in text
    assert 'id="maps"' not in text
    assert 'id="history-1"' in text
