"""Cells of a leaderboard that nobody trained."""

from graphsct.remedies.board_cell import BoardCell, BoardKey, TriedSetting
from graphsct.remedies.budget import BudgetSetting
from graphsct.training.scored_run import ScoredRun

SETTING = BudgetSetting(0.01, 0.5, 5e-4)


def board_cell(remedy, scores, depth=2, *, data="cora", model="gcn", seconds=0.0125, **more):
    """A cell with these test scores by validation metric, and half of each by validation loss."""
    runs = [
        ScoredRun(select, seed, None, score * share, 0.5, 1.0, 9, 20)
        for select, share in (("val_score", 1.0), ("val_loss", 0.5))
        for seed, score in enumerate(scores)
    ]
    tried = (TriedSetting(SETTING, 0.5, 1.0, seconds), TriedSetting(BudgetSetting(0.1, 0.5, 0)))
    values = dict(
        metric="accuracy", chosen=SETTING, runs=tuple(runs), command=f"graphsct {remedy} <&>"
    )
    key = BoardKey(data, model, depth, remedy)
    return BoardCell(key, len(scores), 20, tried=tried, **values | more)
