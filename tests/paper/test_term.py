import json
import os
import signal
import threading
import time
from dataclasses import replace

import pytest

from graphsct import datasets
from graphsct.errors import ExperimentError
from graphsct.extras import stored_results
from graphsct.paper.cell import Cell, CellSettings, Key
from graphsct.paper.term import Term, measure_terms
from graphsct.training import ModelConfig, TrainConfig
from graphsct.training.seeds import run_seeds

TRAIN = TrainConfig(epochs=6, select="val_score")
POOLED = Cell(
    Key("demo", "gcn", "pooled", 2), CellSettings(ModelConfig(control="pooled", hidden=8), TRAIN)
)
GATED = Cell(
    Key("demo", "gcnii", "gated"), CellSettings(ModelConfig("gcnii", "gated", 3, hidden=8), TRAIN)
)


@pytest.fixture
def measure(tmp_path):
    def go(*cells, seeds=2):
        places = dict(out=tmp_path / "out", work=tmp_path / "work")
        return list(measure_terms(cells, seeds, load=lambda *_: datasets.demo(), **places))

    return go


def test_the_models_are_those_of_the_cell(measure, tmp_path):
    pooled, gated = (found.stored for found in measure(POOLED, GATED))
    for term, cell in ((pooled, POOLED), (gated, GATED)):
        expected = run_seeds(cell.settings.model, datasets.demo(), TRAIN, range(2)).runs
        assert [run.seed for run in term.runs] == [0, 1]
        for run, other in zip(term.runs, expected, strict=True):
            assert run.probed.accuracy.with_term == other.test_score
            assert run.best_epoch.with_term == other.best_epoch
            assert [layer.layer for layer in run.probed.layers] == [
                *range(1, cell.settings.model.depth + 1)
            ]
    assert Term.read_all(tmp_path / "out") == {POOLED.key: pooled, GATED.key: gated}
    assert pooled.command == "graphsct reproduce term --data demo --model gcn --depth 2 --seeds 2"
    assert gated.command == "graphsct reproduce term --data demo --model gcnii --seeds 2"
    assert pooled.versions["threads"] == 1
    assert not list((tmp_path / "work").glob("**/*.safetensors"))


def test_both_models_start_from_the_same_weights(measure):
    train = replace(TRAIN, epochs=1, learning_rate=1e-12)
    cell = replace(GATED, settings=replace(GATED.settings, train=train))
    for run in measure(cell)[0].stored.runs:
        assert run.probed.changed.base == 0
        for layer in run.probed.layers:
            assert layer.base == pytest.approx(layer.with_term, rel=1e-4)


def test_what_is_there_is_not_measured_again_and_more_seeds_are_added(measure, tmp_path):
    first = measure(POOLED)[0].stored
    path = tmp_path / "out" / "terms" / f"{POOLED.key.name}.json"
    before = path.stat().st_mtime_ns
    assert measure(POOLED)[0].stored == first
    assert path.stat().st_mtime_ns == before
    more = measure(POOLED, seeds=3)[0].stored
    assert more.runs[:2] == first.runs and more.runs[2].seed == 2
    assert more.command.endswith("--seeds 3")
    assert measure(POOLED, seeds=1)[0].stored == more


def test_other_settings_are_measured_anew(measure):
    measure(POOLED, seeds=3)
    settings = replace(POOLED.settings, model=replace(POOLED.settings.model, hidden=4))
    (found,) = measure(replace(POOLED, settings=settings))
    assert found.stored.settings == settings
    assert len(found.stored.runs) == 2


def test_one_cell_that_fails_does_not_stop_the_others(measure, tmp_path):
    wild = replace(POOLED.settings, train=replace(TRAIN, learning_rate=1e30, epochs=50))
    failed, good = measure(replace(POOLED, settings=wild), GATED)
    assert failed.stored is None and "learning_rate" in failed.reason
    assert good.stored.key == GATED.key and len(good.stored.runs) == 2
    path = tmp_path / "out" / "terms" / f"{GATED.key.name}.json"
    path.write_text(json.dumps({"dataset": "demo"}))
    (damaged,) = measure(GATED)
    assert str(path) in damaged.reason
    with pytest.raises(ExperimentError, match=r"is not a term: .* is missing; mend it"):
        Term.read_all(tmp_path / "out")


def test_nothing_measured(tmp_path):
    assert Term.read_all(tmp_path) == {}


def test_a_file_has_the_name_of_its_cell(measure, tmp_path):
    measure(POOLED, seeds=1)
    folder = tmp_path / "out" / "terms"
    (folder / f"{POOLED.key.name}.json").rename(folder / "other.json")
    with pytest.raises(ExperimentError, match="is the term demo-gcn-pooled-2; give it that"):
        Term.read_all(tmp_path / "out")


PATHS = sorted((stored_results("paper") / "terms").glob("*.json"))


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_packaged_terms_are_complete(path):
    (term,) = (term for term in Term.read_all().values() if term.key.name == path.stem)
    assert term.settings.model.control == term.key.control is not None
    assert [run.seed for run in term.runs] == list(range(len(term.runs)))
    assert len(term.runs) >= 3
    assert {len(run.probed.layers) for run in term.runs} == {term.settings.model.depth}
    assert term.command.startswith("graphsct reproduce term --data")
    assert term.versions["torch"]


def test_after_ctrl_c_it_goes_on_and_comes_to_the_same(measure, tmp_path):
    train = replace(TRAIN, epochs=120, checkpoint_every=10)
    cell = replace(POOLED, settings=replace(POOLED.settings, train=train))

    def press():
        while not list((tmp_path / "work").glob("**/checkpoint.safetensors")):
            time.sleep(0.002)
        os.kill(os.getpid(), signal.SIGINT)

    impatient = threading.Thread(target=press, daemon=True)
    impatient.start()
    with pytest.raises(KeyboardInterrupt):
        measure(cell)
    impatient.join()
    assert list((tmp_path / "work").glob("**/checkpoint.safetensors"))
    assert not any((tmp_path / "out").iterdir())
    (found,) = measure(cell)
    expected = run_seeds(cell.settings.model, datasets.demo(), train, range(2)).runs
    for run, other in zip(found.stored.runs, expected, strict=True):
        assert run.probed.accuracy.with_term == pytest.approx(other.test_score, abs=0.02)
