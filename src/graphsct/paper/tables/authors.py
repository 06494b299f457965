"""The table of models with the settings that their authors publish, with SCT and without."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from graphsct.errors import ExperimentError
from graphsct.pages.tables import Column, Field, Table
from graphsct.paper.author_settings import author_cells, published_score, repeated_score
from graphsct.paper.cell import Cell, Key
from graphsct.paper.keys import Choice, control_of
from graphsct.paper.paper import MODELS, TITLES
from graphsct.paper.reproduce import Budget, is_done
from graphsct.paper.tables.experiment import Experiment, Request, Root, run_all
from graphsct.paper.tables.rows import DATA, MODEL, effect_of, judged
from graphsct.training.metrics import deviation
from graphsct.training.significance import LEVEL, Difference, adjusted, compare_pairs

__all__ = ["EXPERIMENTS", "AtAuthorsSettings", "AuthorRow", "MeanScore"]

_FOLDER = "authors"
_RULES = {"val_loss": "validation loss", "val_score": "validation accuracy"}


@dataclass(frozen=True, kw_only=True)
class MeanScore:
    """Test accuracies of runs, in percent.

    Args:
        mean: their mean
        std: their standard deviation
        n: their number
    """

    mean: float
    std: float
    n: int


@dataclass(frozen=True, kw_only=True)
class AuthorRow:
    """A model with its authors' settings; what was not run is ``None``.

    Args:
        dataset: our name of the data set
        model: ``gcnii`` or ``egnn``
        depth: number of layers
        data_title: title of the data set
        model_title: title of the model
        published: accuracy that the authors publish, without SCT
        repeated: the same in an independent repetition
        base: the model as it is
        sct: with SCT
        bias: with a bias instead
        sct_gain: with SCT minus without, seed by seed
        bias_gain: likewise with a bias
        p_holm: p of the gain of SCT, with Holm's correction over the table
        verdict: ``helps``, ``hurts`` or ``unclear``
    """

    dataset: str
    model: str
    depth: int
    data_title: str
    model_title: str
    published: float | None
    repeated: float | None
    base: MeanScore | None
    sct: MeanScore | None
    bias: MeanScore | None
    sct_gain: Difference | None
    bias_gain: Difference | None
    p_holm: float | None
    verdict: str | None


def _score(name: str) -> Column[AuthorRow]:
    def show(row: AuthorRow) -> Field:
        score: MeanScore | None = getattr(row, name)
        if score is None:
            return Field("not run", "missing")
        few = "" if score.n >= 10 else f" ({score.n} runs)"
        return Field(f"{score.mean:.1f} ± {score.std:.1f}{few}")

    titles = {"base": "without SCT", "sct": "with SCT", "bias": "with a bias"}
    return Column(titles[name], show)


_GAIN = "{{{0}.mean:+z.1f}} [{{{0}.low:+z.1f}}, {{{0}.high:+z.1f}}]"
_COLUMNS: tuple[Column[AuthorRow], ...] = (
    DATA,
    MODEL,
    Column("layers", "{depth:d}"),
    Column("published", "{published:.1f}"),
    Column("repeated", "{repeated:.1f}"),
    *map(_score, ("base", "sct", "bias")),
    Column("SCT gains", _GAIN.format("sct_gain")),
    Column("p", "{p_holm:.2g}"),
    Column("SCT", lambda row: judged(row.verdict), right=False),
    Column("a bias gains", _GAIN.format("bias_gain")),
)
_NOTES = (
    "Mean ± standard deviation of the test accuracy over ten runs, if no other number is given. "
    "Settings, seeds and first weights are the same without SCT, with it, and with a bias in its "
    "place; nothing was searched.",
    "Settings: scripts of the authors of GCNII and EGNN. They leave the heterophilic graphs "
    "directed; ours are symmetric.",
    "published: by the authors, as the paper copied it. repeated: mean of ten or 100 runs in an "
    "independent repetition, by validation loss.",
    "A bias is trained with the learning rate of the other weights. Features whose rows sum to one "
    "are small compared with it.",
    "gains: mean difference of runs with the same seed, with its 95% confidence interval. p has "
    f"Holm's correction over the table; SCT helps or hurts where it is below {LEVEL:g}.",
)


class AtAuthorsSettings(Experiment):
    """One row for each model, data set and depth with published settings."""

    def build(self, cells: Path, root: Root) -> Table[AuthorRow]:
        """Build the table for the authors' rule, validation loss, and a part for the other."""
        ours = Cell.read_all(cells / _FOLDER)
        titles = (
            "At the authors' settings (ours, not in the paper), accuracy, %",
            f"The same runs, with the epoch selected by {_RULES['val_score']}",
        )
        tables = [
            Table(title, _COLUMNS, _rows(ours, rule), sections=("dataset", "model"))
            for title, rule in zip(titles, _RULES, strict=True)
        ]
        first, second = tables
        return Table(
            first.title, _COLUMNS, first.rows, _NOTES, (second,) if ours else (), first.sections
        )

    def run(self, request: Request) -> bool:
        """Run the missing cells, and report on each."""
        budget, known = Budget(seeds=request.seeds or 10), author_cells()
        there = Cell.read_all(request.out / _FOLDER)
        todo = [
            key
            for key in known
            if request.choice.takes(key.dataset, key.model, key.control is not None, key.depth)
            and not is_done(there.get(key), budget)
        ]
        return run_all(
            request,
            todo,
            budget,
            known=known,
            table=self.name,
            folder=_FOLDER,
            same_start=True,
        )

    def nothing_left(self, choice: Choice, cells: Path) -> ExperimentError:
        """Return the error for a choice without any published settings."""
        return ExperimentError(
            "no settings are published for these choices; 'graphsct reproduce "
            f"{self.name} --report' lists all"
        )


EXPERIMENTS = (AtAuthorsSettings("authors"),)


def _rows(cells: Mapping[Key, Cell], rule: str) -> tuple[AuthorRow, ...]:
    bases = [key for key in author_cells() if key.control is None]
    bases.sort(key=lambda key: (list(TITLES).index(key.dataset), key.model != "gcnii"))
    gains = {
        key: _gain(cells, key._replace(control=control_of(key.model)), key, rule) for key in bases
    }
    p_values = adjusted(gains)
    return tuple(_row(key, cells, rule, gains[key], p_values.get(key)) for key in bases)


def _row(
    key: Key, cells: Mapping[Key, Cell], rule: str, gain: Difference | None, p: float | None
) -> AuthorRow:
    controls = {"base": None, "sct": control_of(key.model), "bias": "bias"}
    scores = {
        name: _scored(cells.get(key._replace(control=control)), rule)
        for name, control in controls.items()
    }
    return AuthorRow(
        dataset=key.dataset,
        model=key.model,
        depth=key.depth or 0,
        data_title=TITLES[key.dataset],
        model_title=MODELS[key.model],
        published=published_score(key),
        repeated=repeated_score(key),
        **scores,
        sct_gain=gain,
        bias_gain=_gain(cells, key._replace(control="bias"), key, rule),
        p_holm=p,
        verdict=None if gain is None or p is None else effect_of(gain.mean, p),
    )


def _scored(cell: Cell | None, rule: str) -> MeanScore | None:
    values = [] if cell is None else cell.accuracies(rule)
    if not values:
        return None
    return MeanScore(mean=statistics.fmean(values), std=deviation(values), n=len(values))


def _gain(cells: Mapping[Key, Cell], one: Key, other: Key, rule: str) -> Difference | None:
    """The difference over the seeds that both have."""
    if one not in cells or other not in cells:
        return None
    runs = [
        {run.seed: 100 * run.test_score for run in cells[key].runs(rule)} for key in (one, other)
    ]
    seeds = sorted(runs[0].keys() & runs[1].keys())
    return compare_pairs(*([own[seed] for seed in seeds] for own in runs))
