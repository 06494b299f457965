import sys
import time

import pytest

from graphsct.errors import MissingExtraError
from graphsct.training import MLflow, WeightsAndBiases
from graphsct.training.loggers import EpochLogger
from graphsct.training.run import Epoch


class Notes(EpochLogger):
    def __init__(self):
        self.lines, self.closed = [], False

    def log(self, scalars, step):
        self.lines.append((step, scalars))

    def close(self):
        self.closed = True


def test_an_epoch_is_logged_by_its_names():
    with Notes() as notes:
        notes(Epoch(3, 1.0, 0.75, 0.5, 0.25))
        assert not notes.closed
    expected = {"loss/train": 1.0, "loss/val": 0.75, "score/train": 0.5, "score/val": 0.25}
    assert notes.lines == [(3, expected)]
    assert notes.closed


@pytest.mark.parametrize(("logger", "module"), [(WeightsAndBiases, "wandb"), (MLflow, "mlflow")])
def test_the_extra_is_named(logger, module, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=rf"{module} is not .*graphsct\[{module}\]"):
        logger(tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_an_offline_run_of_weights_and_biases(tmp_path):
    pytest.importorskip("wandb", reason="the extra wandb is not installed")
    with WeightsAndBiases(tmp_path / "new") as logger:
        logger.log({"norm/01 convs.0 (2)": 0.5}, 3)
        logger.log({"healthy": 1.0}, 3)
        logger.log({"healthy": 0.0}, 4)  # a step is complete when the next one begins
        assert logger.run.offline
        names = ("_step", "norm/01 convs.0 (2)", "healthy")
        assert [logger.run.summary[name] for name in names] == [3, 0.5, 1.0]
    assert list((tmp_path / "new").rglob("*.wandb"))


def test_two_runs_of_weights_and_biases_at_once(tmp_path):
    pytest.importorskip("wandb", reason="the extra wandb is not installed")
    with WeightsAndBiases(tmp_path / "a") as a, WeightsAndBiases(tmp_path / "b") as b:
        a.log({"norm/of a": 0.5}, 9)
        b.log({"norm/of b": 0.5}, 3)
    until = time.monotonic() + 60  # its service writes the last of a file after the run is finished
    for folder, name in (("a", b"norm/of a"), ("b", b"norm/of b")):
        (file,) = (tmp_path / folder).glob("wandb/offline-run-*/*.wandb")
        while name not in file.read_bytes():
            assert time.monotonic() < until
            time.sleep(0.1)


@pytest.mark.filterwarnings("ignore:.*noload:DeprecationWarning")  # of MLflow about SQLAlchemy
def test_a_local_run_of_mlflow(tmp_path, monkeypatch):
    pytest.importorskip("mlflow", reason="the extra mlflow is not installed")
    monkeypatch.chdir(tmp_path)
    many = {f"norm/{number} convs.0 (2)": float(number) for number in range(1001)}
    with MLflow("new") as logger:
        logger.log(many, 3)
    found = logger.client.get_metric_history(logger.run_id, "norm/1000 convs.0 _2_")
    assert [(metric.step, metric.value) for metric in found] == [(3, 1000.0)]
    assert logger.client.get_run(logger.run_id).info.status == "FINISHED"
    assert [path.name for path in tmp_path.iterdir()] == ["new"]
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["mlflow.db"]
