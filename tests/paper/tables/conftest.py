import pytest

from graphsct.paper.cell import RESULT, Cell, CellSettings
from graphsct.training import ModelConfig, TrainConfig


@pytest.fixture
def make():
    """A cell whose runs have these test accuracies in percent."""

    def cell(key, accuracies=(), by_loss=(), depth=None, hidden=64):
        model = ModelConfig(key.model, key.control, key.depth or depth, hidden)
        results = [
            dict(zip(RESULT, (select, seed, None, value / 100, 0.8, 0.5, 9, 10, 1.0), strict=True))
            for select, values in (("val_score", accuracies), ("val_loss", by_loss))
            for seed, value in enumerate(values)
        ]
        return Cell(key, CellSettings(model, TrainConfig()), results=tuple(results))

    return cell
