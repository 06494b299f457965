"""The keys of our cells for those of the paper, and settings that cells borrow from each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from graphsct import nn
from graphsct.errors import ExperimentError
from graphsct.names import nearest
from graphsct.paper.cell import Cell, CellSettings, Key
from graphsct.paper.paper import MODELS, TITLES, PaperCell, PaperTable
from graphsct.training.config import OF_ACTIVATION

__all__ = ["Choice", "base_of", "borrow", "control_of", "key_of", "keys_of"]

_CITATION = ("cora", "citeseer", "pubmed", "physics", "physics_egnn", "arxiv")


def key_of(cell: PaperCell) -> Key:
    """Return the key of our cell for a cell of the paper.

    EGNN without SCT has SReLU; on the heterophilic sets all models have leaky ReLU.

    Example:
        >>> key_of(PaperCell(84.6, "cora", "gcnii", False, 16))
        Key(dataset='cora', model='gcnii', control=None, depth=16, activation=None)
    """
    assert cell.dataset is not None and cell.model is not None
    base = base_of(Key(cell.dataset, cell.model, None, cell.depth))
    if not cell.sct:
        return base
    activation = cell.activation if cell.dataset in _CITATION else base.activation
    return base._replace(control=control_of(cell.model, cell.dataset), activation=activation)


def control_of(model: str, dataset: str = "") -> str:
    """Return the control that SCT means, by the paper's table of sizes: the model's default, but
    ``pooled`` on Ogbn-arxiv.
    """
    return "pooled" if dataset == "arxiv" else nn.MODELS[model].default_control


def base_of(key: Key) -> Key:
    """Return the key without control, with the activation of the paper's rows without SCT."""
    activation = "srelu" if key.model == "egnn" else None
    if key.dataset not in _CITATION:
        activation = "leaky_relu"
    return key._replace(control=None, activation=activation)


def keys_of(table: PaperTable) -> list[Key]:
    """Return the keys of all cells of a table, each after its base, the key without control."""
    keys: dict[Key, None] = {}
    for cell in table.cells:
        key = key_of(cell)
        keys |= {base_of(key): None, key: None}
    return list(keys)


def borrow(key: Key, cells: Mapping[Key, Cell]) -> Cell | None:
    """Return the cell whose activation was searched, with the activation of ``key`` instead.

    Two activations are thus compared with all other settings equal. If the search chose this very
    activation, the cell keeps its runs.

    Args:
        key: a cell with a fixed activation
        cells: the cells to borrow from
    """
    source = cells.get(key._replace(activation=None))
    if source is None or key.activation is None:
        return None
    settings = _with_activation(source.settings, key.activation)
    found = None if source.found is None else replace(source.found, of=source.key.name)
    same = settings == source.settings
    return Cell(key, settings, found, source.results if same else (), versions=source.versions)


def _with_activation(settings: CellSettings, activation: str) -> CellSettings:
    others: dict[str, Any] = {n: None for n, owner in OF_ACTIVATION.items() if owner != activation}
    return replace(settings, model=replace(settings.model, activation=activation, **others))


@dataclass(frozen=True)
class Choice:
    """A choice of a table's cells; an empty field chooses all.

    Args:
        datasets: our names of data sets
        models: ``gcn``, ``gcnii``, ``egnn``
        depths: numbers of layers
        controls: ``none``, ``sct``
    """

    datasets: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    depths: tuple[int, ...] = ()
    controls: tuple[str, ...] = ()

    @classmethod
    def parse(
        cls,
        datasets: str | None = None,
        models: str | None = None,
        depths: str | None = None,
        controls: str | None = None,
    ) -> Choice:
        """Read lists with commas.

        Example:
            >>> Choice.parse("cora,texas", depths="2,4")
            Choice(datasets=('cora', 'texas'), models=(), depths=(2, 4), controls=())
        """
        numbers = _split(depths)
        for number in numbers:
            if not number.isdigit():
                raise ExperimentError(f"the depth is {number!r}, expected a number of layers")
        return cls(
            _known(datasets, TITLES, "data set"),
            _known(models, MODELS, "model"),
            tuple(int(number) for number in numbers),
            _known(controls, ("none", "sct"), "choice of control"),
        )

    def takes(
        self, dataset: str | None, model: str | None, sct: bool | None, depth: int | None
    ) -> bool:
        """Whether a cell is chosen; a value that the table does not give excludes nothing."""
        return all(
            given is None or not chosen or given in chosen
            for given, chosen in (
                (dataset, self.datasets),
                (model, self.models),
                (depth, self.depths),
                (None if sct is None else "sct" if sct else "none", self.controls),
            )
        )

    def includes(self, row: Any) -> bool:
        """Whether a row of a table is chosen, by its data set, model, SCT and depth."""
        names = ("dataset", "model", "sct", "depth")
        return self.takes(*(getattr(row, name, None) for name in names))

    def keys(self, table: PaperTable) -> list[Key]:
        """Return the keys of a table's chosen cells, or raise an error if there is none."""
        found = [
            key
            for key in keys_of(table)
            if self.takes(key.dataset, key.model, key.control is not None, key.depth)
        ]
        if not found:
            raise self.nothing_left(table)
        return found

    def nothing_left(self, table: PaperTable) -> ExperimentError:
        """Return the error for a choice without any cell of a table."""
        return ExperimentError(
            f"these choices leave no cell of table {table.number} ({table.name}); choose more "
            "data sets, models, depths or controls"
        )


def _split(text: str | None) -> list[str]:
    return [part.strip().lower() for part in (text or "").split(",") if part.strip()]


def _known(text: str | None, names: Iterable[str], what: str) -> tuple[str, ...]:
    parts = _split(text)
    for part in parts:
        if part not in names:
            raise ExperimentError(f"there is no {what} {part!r}{nearest(part, names)}")
    return tuple(parts)
