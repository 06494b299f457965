"""The findings of a leaderboard in words: every name and number is computed from its cells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from graphsct.nn.blueprint import get_model
from graphsct.remedies import REMEDIES
from graphsct.remedies.baselines import SHALLOW
from graphsct.remedies.board_cell import BoardCell, BoardKey, data_title
from graphsct.remedies.published import NEAR, published
from graphsct.remedies.rivals import Contest, contests
from graphsct.remedies.standings import boards, fitting
from graphsct.remedies.wins import DATA, DEPTHS, LEVEL, MODELS, win_counts

__all__ = ["DEEP", "BoardFinding", "board_findings", "survivors"]

#: From this depth on a plain stack of layers usually fails.
DEEP = 16

_BASELINES = ("none", "shallower")
_MOST = 4  # names in a list
_TEST = "Paired t-tests of runs with the same seed, 5 %, Holm's correction over all depths."

Board = Sequence[BoardCell]


@dataclass(frozen=True)
class BoardFinding:
    """A question, and the answer of the cells.

    Args:
        question: in a few words
        answer: in a few words
        rule: how the answer was found
        lines: the evidence, one line for each data set and model or depth
    """

    question: str
    answer: str
    rule: str
    lines: tuple[str, ...]


def board_findings(cells: Sequence[BoardCell]) -> list[BoardFinding]:
    """What survives depth and at what cost, what helps and what hurts, and what was not run."""
    own = list(boards(cells).values())
    return [
        _depth(own),
        _gains(own),
        _shallow_models(own),
        _fewer_layers(own),
        _winner(cells),
        _cost(own),
        *_others(cells),
        _missing(own),
    ]


def survivors(board: Board, depth: int) -> tuple[list[BoardCell], list[BoardCell]]:
    """The remedies that lose no more than 2 points against their own best depth.

    Args:
        board: cells with one data set and model
        depth: number of layers

    Returns:
        Their cells at this depth, best first, and those of all remedies that also have a shallower
        cell
    """
    kept, tested = [], []
    for cell in _at(board, depth):
        own = [each for each in board if each.key.remedy == cell.key.remedy and each.runs]
        if cell.key.remedy not in _BASELINES and min(each.key.depth for each in own) < depth:
            tested.append(cell)
            if max(_gain(each, cell) for each in own) <= NEAR:
                kept.append(cell)
    return _ranked(kept), tested


def _gain(cell: BoardCell, other: BoardCell) -> float:
    """How many points one cell is better than another."""
    sign = 1 if cell.measure.larger else -1
    return sign * (cell.mean - other.mean) * (1 if cell.measure.percent else 100)


def _at(board: Board, depth: int) -> list[BoardCell]:
    return [cell for cell in board if cell.key.depth == depth and cell.runs]


def _ranked(cells: Iterable[BoardCell]) -> list[BoardCell]:
    return sorted(cells, key=lambda cell: cell.mean * (-1 if cell.measure.larger else 1))


def _depths(board: Board, least: int = 0) -> list[int]:
    return sorted({cell.key.depth for cell in board if cell.runs and cell.key.depth >= least})


def _list(names: Sequence[str], most: int = _MOST) -> str:
    """Names joined by semicolons, since some contain commas; the last ones are only counted.

    Example:
        >>> _list(["a", "b", "c", "d", "e", "f"])
        'a; b; c; d and 2 more'
    """
    more = len(names) - most
    return "; ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def _numbers(depths: Iterable[int]) -> str:
    return ", ".join(map(str, depths))


def _number(value: float, cell: BoardCell, sign: str = "") -> str:
    """A score of a cell, or a difference of scores, in the unit in which they are shown."""
    return f"{value:{sign}.{1 if cell.measure.percent else 3}f}"


def _title(key: BoardKey) -> str:
    return REMEDIES[key.remedy].title


def _depth(own: Sequence[Board]) -> BoardFinding:
    lines, survived = [], dict[str, list[bool]]()
    for board in own:
        found = {depth: survivors(board, depth) for depth in _depths(board, DEEP)}
        found = {depth: (kept, tested) for depth, (kept, tested) in found.items() if tested}
        if not found:
            continue
        counts = [f"{len(kept)} of {len(at)} at {depth}" for depth, (kept, at) in found.items()]
        depth = max((depth for depth, (kept, _) in found.items() if kept), default=0)
        shown = _survived(board, found[depth][0], depth) if depth else ""
        lines.append(f"{board[0].key.title}: {', '.join(counts)} layers.{shown}")
        kept, tested = found[max(found)]
        for cell in tested:
            survived.setdefault(_title(cell.key), []).append(cell in kept)
    rule = (
        f"A remedy survives if it loses at most {NEAR:g} points against its own best depth, and is "
        f"counted at the greatest depth, {DEEP} layers or more, of each data set and model. Below, "
        "in brackets: the cost of an epoch, as a multiple of that without a remedy."
    )
    answer = _most_often(survived) if survived else "Not known yet: no cell is that deep"
    return BoardFinding("What survives depth, and at what cost?", answer, rule, tuple(lines))


def _most_often(outcomes: Mapping[str, Sequence[bool]]) -> str:
    """The names that have the most outcomes that are true.

    Example:
        >>> _most_often({"a": [True, False], "b": [False], "c": [True, True]})
        'c (2 of 2); a (1 of 2)'
    """
    counts = [(sum(own), len(own), name) for name, own in outcomes.items() if any(own)]
    counts.sort(key=lambda count: (-count[0], count[1]))
    return "; ".join(f"{name} ({k} of {n})" for k, n, name in counts[:_MOST]) or "Nothing"


def _survived(board: Board, kept: Sequence[BoardCell], depth: int) -> str:
    shown = [f"{_title(c.key)} {_number(c.mean, c)}{_multiple(c.cost)}" for c in kept]
    return f" At {depth}: {_list(shown, 5)}."


def _multiple(cost: float | None) -> str:
    return "" if cost is None else f" ({cost:.1f} ×)"


def _tested(own: Sequence[Board], rival: str) -> list[list[Contest]]:
    """The contests of each board with a rival, without those of the other baseline."""
    found = (contests(board, rival) for board in own)
    kept = ([c for c in board if c.cell.key.remedy not in _BASELINES] for board in found)
    return [board for board in kept if board]


def _by_depth(board: Iterable[Contest]) -> dict[int, list[Contest]]:
    found = dict[int, list[Contest]]()
    for contest in sorted(board, key=lambda contest: contest.cell.key.depth):
        found.setdefault(contest.cell.key.depth, []).append(contest)
    return found


def _by_gain(found: Iterable[Contest], verdict: str) -> list[str]:
    """The titles and gains of the contests with a verdict, the largest gain or loss first."""
    own = sorted((c for c in found if c.verdict == verdict), key=lambda c: -abs(c.difference.mean))
    return [f"{_title(c.cell.key)} {_number(c.difference.mean, c.cell, '+')}" for c in own]


def _gains(own: Sequence[Board]) -> BoardFinding:
    lines, counts = [], dict[int, list[str]]()
    for board in _tested(own, "none"):
        by_depth = _by_depth(board)
        better = {depth: _by_gain(at, "better") for depth, at in by_depth.items()}
        shown = [f"{len(better[d])} of {len(at)} at {d}" for d, at in by_depth.items()]
        deepest = max(by_depth)
        most = f" At {deepest}: {_list(better[deepest])}." if better[deepest] else ""
        lines.append(f"{board[0].cell.key.title}: {', '.join(shown)} layers.{most}")
        for depth, at in by_depth.items():
            counts.setdefault(depth, []).extend(contest.verdict for contest in at)
    ends = sorted({min(counts), max(counts)}) if counts else []
    answer = ", ".join(
        f"{counts[d].count('better')} of {len(counts[d])} at {d} layers" for d in ends
    )
    rule = f"Gains over no remedy at the same depth, in points. {_TEST}"
    return BoardFinding(
        "What is better than no remedy?", answer or "Not tested", rule, tuple(lines)
    )


def _shallow_models(own: Sequence[Board]) -> BoardFinding:
    lines, worse, tested = [], 0, 0
    for board in _tested(own, "none"):
        depth, at = next(iter(_by_depth(board).items()))
        found = _by_gain(at, "worse")
        worse, tested = worse + len(found), tested + len(at)
        shown = _list(found, 6) if found else "none"
        lines.append(f"{board[0].cell.key.title}, {depth} layers: {shown}")
    answer = f"{worse} of {tested} do" if tested else "Not tested"
    rule = f"Losses against no remedy in the shallowest model, in points. {_TEST}"
    return BoardFinding("What hurts a shallow model?", answer, rule, tuple(lines))


def _fewer_layers(own: Sequence[Board]) -> BoardFinding:
    lines, winners, names = [], set[str](), dict[str, None]()
    deeper = [[cell for cell in board if cell.key.depth > SHALLOW[-1]] for board in own]
    for board in _tested(deeper, "shallower"):
        better = dict[str, list[int]]()
        for depth, at in _by_depth(board).items():
            for contest in at:
                title = _title(contest.cell.key)
                names[title] = None
                if contest.verdict == "better":
                    better.setdefault(title, []).append(depth)
        winners |= set(better)
        shown = [f"{title} (at {_numbers(depths)})" for title, depths in better.items()]
        lines.append(f"{board[0].cell.key.title}: {_list(shown, 6) if shown else 'none'}")
    never = [title for title in names if title not in winners]
    if never:
        lines.append(f"Not shown to be better at any depth: {_list(never, len(never))}")
    answer = f"{len(winners)} of {len(names)} at some depth" if names else "Not tested"
    shallow = " or ".join(map(str, SHALLOW))
    rule = (
        f"The rival is “a shallower model” of {shallow} layers; deeper models are tested. {_TEST}"
    )
    return BoardFinding("What is better than fewer layers?", answer, rule, tuple(lines))


def _winner(cells: Board) -> BoardFinding:
    found = win_counts(cells)
    named = {
        verdict: [each.title for each in found if each.verdict == verdict]
        for verdict in ("wins", "open")
    }
    wins, still_open = named["wins"], named["open"]
    answer = f"Yes: {_list(wins, len(wins))}" if wins else "Open" if still_open else "No"
    lines = [
        f"{each.title}: better in {each.count('better')}, worse in {each.count('worse')} of "
        f"{each.run()} deep cells that were run, {each.planned - each.run()} of {each.planned} not "
        f"run: {each.verdict}"
        for each in found
    ]
    rule = (
        "A control wins if it is better than no control in two thirds of the deep cells. These are "
        f"{' and '.join(get_model(name).title for name in MODELS)} with {_numbers(DEPTHS)} layers "
        f"on {', '.join(map(data_title, DATA))}. Paired t-tests of runs with the same seed, "
        f"{100 * LEVEL:g} %, Holm's correction over all of them."
    )
    return BoardFinding("Is there a control that wins?", answer, rule, tuple(lines))


def _cost(own: Sequence[Board]) -> BoardFinding:
    lines, everything = [], list[float]()
    for board in own:
        costs = {
            cell.key: cell.cost
            for cell in board
            if cell.cost is not None and cell.key.remedy not in _BASELINES
        }
        depth = max((key.depth for key in costs), default=0)
        at = {key: cost for key, cost in costs.items() if key.depth == depth}
        everything += costs.values()
        if at:
            most = max(at, key=at.__getitem__)
            lines.append(
                f"{most.title}, {depth} layers: {min(at.values()):.1f} to {at[most]:.1f} × "
                f"({_title(most)}), median {median(at.values()):.1f} ×"
            )
    answer = f"{median(everything):.1f} × the time, in the median" if everything else "Not measured"
    rule = (
        "The processor time of an epoch, as a multiple of that without a remedy at the same depth. "
        "Epochs with and without the remedy take turns, and their medians are compared."
    )
    return BoardFinding("What does a remedy cost?", answer, rule, tuple(lines))


def _others(cells: Sequence[BoardCell]) -> list[BoardFinding]:
    found = [each for each in published(cells) if each.both]
    if not found:
        return []
    lines = []
    for title in dict.fromkeys(each.table.title for each in found):
        own = [each for each in found if each.table.title == title]
        unlike = f" (ours {own[0].table.unlike})" if own[0].table.unlike else ""
        gaps = [(gap, each.data, depth) for each in own for depth, gap in each.both.items()]
        holds = sum(len(each.holds) for each in own)
        shown = [
            f"ours is up to {abs(gap):.1f} points {word} ({data_title(data)}, {depth} layers)"
            for word, (gap, data, depth) in (("above", max(gaps)), ("below", min(gaps)))
            if (gap if word == "above" else -gap) > NEAR
        ]
        lines.append("; ".join([f"{title}{unlike}: {holds} of {len(gaps)}", *shown]))
    holds, both = (sum(len(getattr(each, name)) for each in found) for name in ("holds", "both"))
    rule = (
        f"A published score holds if our mean is within {NEAR:g} points of it. Our runs follow the "
        "rules of this page, not the published settings."
    )
    question, answer = "Do published scores by depth hold?", f"{holds} of {both} do"
    return [BoardFinding(question, answer, rule, tuple(lines))]


def _missing(own: Sequence[Board]) -> BoardFinding:
    lines, absent = [], 0
    for board in own:
        key, depths = board[0].key, sorted({cell.key.depth for cell in board})
        missing = len(fitting(key.model)) * len(depths) - len(board)
        diverged = sum(cell.failure is not None for cell in board)
        absent += missing
        lines.append(
            f"{key.title}, {_numbers(depths)} layers: {len(board)} cells run, {missing} not run, "
            f"{diverged} diverged"
        )
    rule = "This counts all remedies that fit the model, at every depth at which any was run."
    return BoardFinding("What was not run?", f"{absent} cells", rule, tuple(lines))
