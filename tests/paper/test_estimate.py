from dataclasses import replace

import pytest
from cells import result

from graphsct import datasets
from graphsct.paper.cell import Cell, CellSettings, Key
from graphsct.paper.estimate import estimate
from graphsct.paper.reproduce import Budget
from graphsct.training import ModelConfig, TrainConfig

SHALLOW, DEEP = Key("demo", "gcn", None, 2), Key("demo", "gcn", None, 32)


def load(name, normalize):
    return datasets.demo()


def known(key, seconds):
    settings = CellSettings(ModelConfig(depth=key.depth), TrainConfig())
    return {key: Cell(key, settings, results=(result(50, seconds=seconds),))}


def test_runs_that_are_stored_tell_the_time():
    def seconds(key, **budget):
        return estimate([key], Budget(seeds=5, **budget), load=load, known=known(key, 3.0))

    assert seconds(SHALLOW) == pytest.approx(5 * 3)
    assert seconds(DEEP) == pytest.approx(2 * 5 * 3)
    assert seconds(SHALLOW, trials=4) == pytest.approx(5 * 3 + 4 * 2 * 3)
    assert seconds(SHALLOW, trials=4, workers=2) == pytest.approx(5 * 3 + 4 * 3)
    assert seconds(SHALLOW, trials=4, seconds=10) == pytest.approx(5 * 3 + 10)
    assert seconds(SHALLOW, trials=4, finalists=9) == pytest.approx(5 * 3 + 4 * 2 * 3 + 4 * 10 * 3)


def test_a_few_epochs_tell_the_time_of_others():
    shallow, deep = (
        estimate([key], Budget(seeds=1), load=load, known={}) for key in (SHALLOW, DEEP)
    )
    assert 0 < shallow < deep


def test_cells_add_up():
    stored = known(SHALLOW, 2.0)
    other = replace(stored[SHALLOW], key=SHALLOW._replace(depth=4))
    both = stored | {other.key: other}
    found = estimate(list(both), Budget(seeds=1), load=load, known=both)
    assert found == pytest.approx(4.0)
