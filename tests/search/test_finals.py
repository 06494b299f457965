import json
import os
import signal
from dataclasses import replace

import pytest
from together import FAST, PROCESSES, TASK, press_ctrl_c, slow_down, wait_for

from graphsct import TrainingError, datasets
from graphsct.search import search
from graphsct.search.blind import BlindData
from graphsct.search.evaluate import evaluate
from graphsct.search.finals import TIMES
from graphsct.search.progress import SearchProgress
from graphsct.search.worker import Plan


def rows_of(folder):
    return [json.loads(line) for line in (folder / "trials.jsonl").read_text().splitlines()]


def finals_of(folder):
    """Scores in the finals by the number of the trial."""
    scores = {row["trial"]: row["final_val_score"] for row in rows_of(folder)}
    return {number: score for number, score in scores.items() if score is not None}


class Seen:
    """Keeps what it is told."""

    def hopeless(self, candidate, epoch, score):
        return False

    def done(self, candidate, score):
        self.score = score


@pytest.mark.parametrize("select", ["val_score", "val_loss"])
def test_the_best_trials_get_more_runs_and_the_best_of_these_is_taken(tmp_path, select):
    task = replace(TASK, select=select)
    found = search(task, trials=8, finalists=3, storage=tmp_path, **FAST)
    sign = -1 if select == "val_score" else 1
    rows = sorted(rows_of(tmp_path), key=lambda row: sign * row[select])
    finals = [row for row in rows if row[f"final_{select}"] is not None]
    assert len(finals) == found.finalists == 3
    assert max(sign * row[select] for row in finals) <= sign * rows[3][select]
    best = min(finals, key=lambda row: sign * row[f"final_{select}"])
    assert found.score == best[f"final_{select}"]
    assert found.train.learning_rate == best["learning_rate"]
    assert found.seconds > sum(row["seconds"] for row in rows)

    blind = BlindData.of(datasets.demo())
    plan = Plan(task, 8, seed=0, runs=2, **FAST, until=None, folder=None)
    candidate, judge = plan.candidate({k: best[k] for k in list(best)[8:]}), Seen()
    evaluate([replace(candidate, runs=2 * TIMES)], blind, judge)
    assert getattr(judge.score, select) == pytest.approx(found.score, abs=1e-6)


def test_more_finalists_leave_the_others_as_they_are(tmp_path):
    first = search(TASK, trials=6, finalists=2, storage=tmp_path, **FAST)
    before = finals_of(tmp_path)
    again = search(TASK, trials=6, finalists=2, storage=tmp_path, **FAST)
    assert again == first
    more = search(TASK, trials=6, finalists=4, storage=tmp_path, **FAST)
    assert more.finalists == 4
    assert before.items() <= finals_of(tmp_path).items()


def test_trials_that_come_later_get_into_the_finals_without_being_asked(tmp_path):
    search(TASK, trials=2, finalists=2, storage=tmp_path, **FAST)
    found = search(TASK, trials=10, storage=tmp_path, **FAST)
    rows = sorted(rows_of(tmp_path), key=lambda row: (-row["val_score"], row["val_loss"]))
    assert {row["trial"] for row in rows[:2]} <= set(finals_of(tmp_path))
    assert found.score == max(finals_of(tmp_path).values())


def test_there_can_be_fewer_trials_than_finalists_and_workers_can_share_them(tmp_path):
    found = search(TASK, trials=3, finalists=9, workers=2, storage=tmp_path, **FAST)
    assert (found.trials, found.finalists) == (3, 3)


def test_ctrl_c_in_the_finals_keeps_those_that_were_held(tmp_path, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(SearchProgress, "__call__", press_ctrl_c("finalists", 1))
        found = search(TASK, trials=4, finalists=3, storage=tmp_path, **FAST)
    assert (found.interrupted, found.finalists) == (True, 1)
    (held,) = finals_of(tmp_path).items()
    found = search(TASK, trials=4, finalists=3, storage=tmp_path, **FAST)
    assert (found.interrupted, found.finalists) == (False, 3)
    assert held in finals_of(tmp_path).items()


def _slowly(folder):
    slow_down()
    search(TASK, trials=4, finalists=3, storage=folder, **FAST)


def test_a_process_that_is_killed_in_the_finals_loses_one_finalist_at_most(tmp_path):
    whole = search(TASK, trials=4, finalists=3, storage=tmp_path / "whole", **FAST)
    killed = PROCESSES.Process(target=_slowly, args=(tmp_path / "killed",))
    killed.start()
    plan = Plan(TASK, 4, seed=0, runs=2, **FAST, until=None, folder=tmp_path / "killed")
    with plan.open(BlindData.of(datasets.demo())) as study:
        wait_for(study.finals, [killed])
        os.kill(killed.pid, signal.SIGKILL)
        killed.join()
        held = study.finals()
        assert 1 <= len(held) < 3
    found = search(TASK, trials=4, finalists=3, storage=tmp_path / "killed", **FAST)
    assert found.score == whole.score and found.model == whole.model
    assert finals_of(tmp_path / "killed") == finals_of(tmp_path / "whole")
    with plan.open(BlindData.of(datasets.demo())) as study:
        assert held.items() <= study.finals().items()  # their times too: not trained again


def test_less_than_none_is_refused():
    with pytest.raises(TrainingError, match="finalists is -1, expected at least 0"):
        search(TASK, trials=1, finalists=-1, **FAST)
