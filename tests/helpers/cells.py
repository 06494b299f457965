"""Results and origins of cells in which one thing matters and the rest is made up."""

from graphsct.paper.cell import Result
from graphsct.paper.origin import Allowed, Origin


def result(accuracy, seed=0, select="val_score", seconds=1.0):
    """A run with this test accuracy, in percent."""
    return Result(select, seed, None, accuracy / 100, 0.8, 0.5, 9, 10, seconds)


def origin(trials=20, of=None, **allowed):
    """A search that was allowed so many trials, and made them."""
    return Origin(
        trials=trials,
        pruned=1,
        failed=0,
        allowed=Allowed(trials=trials, **{"seconds": None, **allowed}),
        seed=0,
        runs=2,
        select="val_score",
        score=0.5,
        seconds=3.0,
        command="graphsct search",
        of=of,
    )
