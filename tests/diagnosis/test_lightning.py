import csv
import json
import math
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch.nn import functional
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GCN

from graphsct import diagnose
from graphsct.diagnosis import LightningWatch
from graphsct.errors import MissingExtraError, ModelError
from graphsct.training.seeding import seeded

pytestmark = pytest.mark.usefixtures("seed")


@pytest.fixture
def lightning():
    return pytest.importorskip("lightning.pytorch", reason="the extra lightning is not installed")


@pytest.fixture
def make(lightning):
    class Net(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = GCN(16, 8, 3, 3, dropout=0.5)
            self.losses = []

        def forward(self, x, edge_index):
            return self.net(x, edge_index)

        def training_step(self, batch, _):
            scores = self(batch.x, batch.edge_index)[batch.train_mask]
            loss = functional.cross_entropy(scores, batch.y[batch.train_mask])
            self.losses.append(loss.item())
            return loss

        def configure_optimizers(self):
            return torch.optim.Adam(self.parameters(), lr=0.01)

    return Net


@pytest.fixture
def fit(lightning, make, data, tmp_path):
    def train(*callbacks, epochs=5, logger=False, start=None):
        with seeded(0):
            module = make()
            trainer = lightning.Trainer(
                max_epochs=epochs,
                accelerator="cpu",
                callbacks=list(callbacks),
                logger=logger,
                log_every_n_steps=1,
                default_root_dir=tmp_path,
                enable_checkpointing=False,
                enable_model_summary=False,
                enable_progress_bar=False,
            )
            trainer.fit(module, DataLoader([data], batch_size=1), ckpt_path=start)
        return module, trainer

    return train


def lines(folder):
    return [json.loads(line) for line in (folder / "layers.jsonl").read_text().splitlines()]


def test_a_trainer_diagnoses_and_trains_the_same(data, fit, tmp_path):
    watch = LightningWatch(data, tmp_path / "new", every=2, share=math.inf)
    module, _ = fit(watch)
    assert module.losses == fit()[0].losses
    assert module.training
    found = lines(tmp_path / "new")
    assert [line["epoch"] for line in found] == [0, 2, 4]
    expected = diagnose(module, data, reach=False)
    assert found[-1]["layers"] == json.loads(json.dumps(expected.to_dict()["layers"]))
    assert [layer.name for layer in expected.layers] == [f"net.convs.{i}" for i in range(3)]


def test_the_loggers_of_the_trainer_get_the_numbers(data, fit, lightning, tmp_path):
    logger = lightning.loggers.CSVLogger(tmp_path)
    _, trainer = fit(LightningWatch(data, tmp_path, every=2, share=math.inf), logger=logger)
    written = (Path(trainer.logger.log_dir) / "metrics.csv").read_text().splitlines()
    rows = [row for row in csv.DictReader(written) if row["norm/01 net.convs.0"]]
    assert [(row["epoch"], row["step"]) for row in rows] == [("0", "0"), ("2", "2"), ("4", "4")]
    expected = [line["layers"][0]["norm"] for line in lines(tmp_path)]
    assert [float(row["norm/01 net.convs.0"]) for row in rows] == pytest.approx(expected)


def test_a_part_of_the_module(data, fit, tmp_path):
    watch = LightningWatch(data, tmp_path, part="net", layers=["convs.1"], share=math.inf)
    module, _ = fit(watch, epochs=1)
    assert watch.watch.model is module.net
    assert [layer["name"] for layer in lines(tmp_path)[0]["layers"]] == ["convs.1"]
    with pytest.raises(ModelError, match="Net has no part 'nett', did you mean 'net'"):
        fit(LightningWatch(data, tmp_path, part="nett"))


def test_a_resumed_training_replaces_what_comes_after(data, fit, tmp_path):
    def watch():
        return LightningWatch(data, tmp_path, every=2, share=math.inf)

    _, trainer = fit(watch(), epochs=3)
    trainer.save_checkpoint(tmp_path / "last.ckpt")
    fit(watch(), epochs=5)
    before = lines(tmp_path)
    fit(watch(), epochs=5, start=tmp_path / "last.ckpt")
    after = lines(tmp_path)
    assert [line["epoch"] for line in after] == [0, 2, 3, 4]  # the first one is always diagnosed
    assert after[:2] == before[:2]


def test_only_the_first_process_diagnoses(data, fit, lightning, tmp_path, monkeypatch):
    monkeypatch.setattr(lightning.Trainer, "is_global_zero", property(lambda trainer: False))
    fit(LightningWatch(data, tmp_path / "new"), epochs=1)
    assert not (tmp_path / "new").exists()


def test_it_is_a_callback_of_lightning(data, lightning, tmp_path):
    watch = LightningWatch(data, tmp_path)
    assert isinstance(watch, LightningWatch)
    assert isinstance(watch, lightning.Callback)


def test_lightning_is_imported_at_first_use():
    code = "import graphsct.diagnosis, sys; print('lightning' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


def test_the_extra_is_named(data, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "lightning", None)
    with pytest.raises(MissingExtraError, match=r"lightning is not .*graphsct\[lightning\]"):
        LightningWatch(data, tmp_path)
