from dataclasses import replace
from statistics import fmean
from typing import get_type_hints

import pytest
import torch
from torch_geometric.nn import GCNConv, Sequential

from graphsct import fit
from graphsct.datasets import demo, load
from graphsct.nn import MODELS
from graphsct.nn.model_function import ModelFunction
from graphsct.search.blind import BlindData
from graphsct.search.evaluate import Candidate, Score, evaluate
from graphsct.training import ModelConfig, TrainConfig
from graphsct.training.seeding import seeded

TRAIN = TrainConfig(epochs=130, patience=130, select="val_score")
MODEL = ModelConfig(hidden=8)


class Judge:
    def __init__(self, hopeless=()):
        self.given_up = hopeless
        self.rungs, self.scores, self.lost = [], {}, []

    def hopeless(self, candidate, epoch, score):
        self.rungs.append((candidate, epoch))
        return candidate in self.given_up

    def done(self, candidate, score):
        assert candidate not in self.scores
        self.scores[candidate] = score

    def diverged(self, candidate, seconds):
        self.lost.append(candidate)


@pytest.fixture(scope="module")
def data():
    return demo()


@pytest.fixture(scope="module")
def blind(data):
    return BlindData.of(data)


def test_the_objective_is_typed_blind():
    assert get_type_hints(evaluate)["data"] is BlindData
    assert not any("test" in name for name in Score._fields)


def test_a_score_is_the_mean_of_what_fit_validates(data, blind):
    other = replace(MODEL, depth=3, dropout=0.2)
    judge = Judge()
    evaluate([Candidate(MODEL, TRAIN, 2), Candidate(other, TRAIN, 3)], blind, judge)
    assert judge.rungs == [(0, 100), (1, 100)]
    for number, model, runs in ((0, MODEL, 2), (1, other, 3)):
        alone = []
        for seed in range(runs):
            with seeded(seed):
                made = model.build(data)
            alone.append(fit(made, data, replace(TRAIN, seed=seed), progress=False))
        score = judge.scores[number]
        assert score.val_score == pytest.approx(fmean(run.val_score for run in alone))
        assert score.val_loss == pytest.approx(fmean(run.val_loss for run in alone), rel=1e-3)
        assert score.seconds > 0


def test_a_candidate_may_want_rows_that_sum_to_one(blind):
    scaled, judge = load("demo", normalize=True), Judge()
    trials = [Candidate(MODEL, TRAIN, 2, normalize) for normalize in (True, False)]
    evaluate(trials, blind, judge)
    alone = Judge()
    evaluate([Candidate(MODEL, TRAIN, 2)], BlindData.of(scaled), alone)
    assert judge.scores[0]._replace(seconds=0) == alone.scores[0]._replace(seconds=0)
    assert judge.scores[0].val_loss != judge.scores[1].val_loss


def test_the_hopeless_and_the_diverged_leave_the_others(blind):
    wild = replace(TRAIN, learning_rate=1e30)
    trials = [Candidate(MODEL, train, 2) for train in (TRAIN, wild, TRAIN)]
    judge = Judge(hopeless=(2,))
    evaluate(trials, blind, judge)
    assert judge.lost == [1]
    assert judge.rungs == [(0, 100), (2, 100)]
    assert list(judge.scores) == [0]
    alone = Judge()
    evaluate(trials[:1], blind, alone)
    assert judge.scores[0].val_score == pytest.approx(alone.scores[0].val_score, abs=0.02)


def test_it_stops_when_asked_and_tells_nothing(blind):
    asked = []

    def stop():
        asked.append(True)
        return len(asked) > 20

    judge = Judge()
    evaluate([Candidate(MODEL, TRAIN, 2)], blind, judge, stop)
    assert not judge.scores and not judge.rungs
    assert len(asked) < 30


def lazy(data, hidden=4):
    convs = [(GCNConv(-1, hidden), "x, edge_index -> x"), torch.nn.Linear(hidden, 3)]
    return Sequential("x, edge_index", convs)


def test_layers_that_wait_for_their_first_input_get_it(blind, monkeypatch):
    monkeypatch.setitem(MODELS, "f.py:lazy", ModelFunction("f.py:lazy", lazy, "f.py"))
    judge = Judge()
    short = replace(TRAIN, epochs=2)
    evaluate([Candidate(ModelConfig("f.py:lazy"), short, 1)], blind, judge)
    assert judge.scores[0].val_loss > 0


@pytest.mark.parametrize(
    "change", [{"activation": "silu"}, {"norm": "BatchNorm"}, {"model": "pyg:GCN"}]
)
def test_models_that_do_not_fit_the_engine_are_scored_too(data, blind, change):
    model, short = replace(MODEL, **change), replace(TRAIN, epochs=20)
    judge = Judge()
    evaluate([Candidate(model, short, 2)], blind, judge)
    alone = []
    for seed in range(2):
        with seeded(seed):
            made = model.build(data)
        alone.append(fit(made, data, replace(short, seed=seed), progress=False))
    assert judge.scores[0].val_score == fmean(run.val_score for run in alone)
    assert judge.scores[0].val_loss == fmean(run.val_loss for run in alone)
