import pytest

from graphsct.diagnosis.seed_watches import SeedWatches
from graphsct.diagnosis.watch import SHARE
from graphsct.training import ModelConfig

pytestmark = pytest.mark.usefixtures("seed")


def test_runs_that_are_trained_together_share_the_time(data, tmp_path, capsys):
    watches = SeedWatches(data, every=2)
    model = ModelConfig(depth=3, hidden=8).build(data)
    first, second = (watches(model, tmp_path / name, 0, 4) for name in ("a", "b"))
    assert first.share == second.share == SHARE / 4
    assert (first.every, first.path) == (2, tmp_path / "a" / "layers.jsonl")
    assert watches.num_skipped == 0
    assert first.step(1) is not None
    assert first.step(2) is None  # at once, so there was no training
    assert first.skipped == [2]
    assert second.skipped == []
    assert watches.num_skipped == 1
    assert watches.notice.startswith("skipped diagnoses: 1, because all together may take")
    assert capsys.readouterr() == ("", "")
