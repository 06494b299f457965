import pytest
from cells import result

from graphsct.paper.cell import Cell, CellSettings
from graphsct.training import ModelConfig, TrainConfig


@pytest.fixture
def make():
    """A cell whose runs have these test accuracies in percent."""

    def cell(key, accuracies=(), by_loss=(), depth=None, hidden=64):
        model = ModelConfig(key.model, key.control, key.depth or depth, hidden)
        results = [
            result(value, seed, select)
            for select, values in (("val_score", accuracies), ("val_loss", by_loss))
            for seed, value in enumerate(values)
        ]
        return Cell(key, CellSettings(model, TrainConfig()), results=tuple(results))

    return cell
