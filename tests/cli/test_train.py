import json
import math
import os
import signal
import sys
from pathlib import Path

import pytest
import torch
from shapes import shapes
from typer.testing import CliRunner

from graphsct import datasets
from graphsct.cli import app
from graphsct.diagnosis import seed_watches
from graphsct.diagnosis.page import runs
from graphsct.training import ModelConfig, TrainConfig
from graphsct.training.progress import Progress
from graphsct.training.seeds import run_seeds

FAST = ("--hidden", 8, "--epochs", 6, "--seeds", 2)


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in ("train", *arguments)])


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


def test_it_prints_mean_and_deviation_and_writes_a_folder(out):
    result = run("--data", "demo", "--control", "pooled", "--depth", 4, *FAST, "--out", out)
    assert result.exit_code == 0, result.output
    model = ModelConfig(control="pooled", depth=4, hidden=8)
    expected = run_seeds(model, datasets.demo(), TrainConfig(epochs=6), range(2))
    mean, std = 100 * expected.test_mean, 100 * expected.test_std
    assert f"{mean:.1f} ± {std:.1f}" in result.stdout
    assert "validation accuracy" in result.stdout
    assert "difference" not in result.stdout
    assert result.stderr == ""
    names = {path.name for path in out.glob("[!.]*")}
    assert names == {"config.json", "page.html", "results.json", "seed-0", "seed-1"}
    assert f"{mean:.1f} ± {std:.1f}" in (out / "page.html").read_text(encoding="utf-8")
    assert result.stdout.endswith(f"Written to {out}; the page is {out / 'page.html'}\n")


def test_without_plotly_all_but_the_page_is_there(out, monkeypatch):
    monkeypatch.setitem(sys.modules, "plotly", None)
    result = run(*FAST, "--out", out)
    assert result.exit_code == 0, result.output
    assert result.stderr == (
        'page.html is left out: plotly is not installed; run: pip install "graphsct[report]"\n'
    )
    assert {path.name for path in out.iterdir()} >= {"results.json", "seed-0"}
    assert not (out / "page.html").exists()
    assert result.stdout.endswith(f"Written to {out}\n")


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_a_page_that_fails_leaves_the_result(out, monkeypatch, more):
    def fail(*args):
        raise ValueError("math domain error")

    monkeypatch.setattr(runs, "write_trained", fail)
    for again in ((), ("--resume",)):
        result = run(*FAST, "--out", out, *again, *more)
        assert result.exit_code == 0, result.output
        assert "page.html is left out: ValueError: math domain error (unexpected" in result.stderr
        assert "test" in result.stdout
    assert (out / "results.json").is_file()


def test_json_is_one_object_with_the_promised_names(out):
    result = run("--control", "gated", "--compare", "--json", *FAST, "--out", out)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert {"history", "seeds", "test_mean", "test_std", "without_control"} <= set(found)
    assert len(found["history"]) == len(found["seeds"]) == 2
    assert [record["epoch"] for record in found["history"][0]] == [1, 2, 3, 4, 5, 6]
    accuracies = [row["test_score"] for row in found["seeds"]]
    assert found["test_mean"] == pytest.approx(sum(accuracies) / 2)
    assert found["train"]["select"] == "val_score"
    assert found["without_control"]["model"]["control"] is None
    difference = found["test_mean"] - found["without_control"]["test_mean"]
    assert found["difference_mean"] == pytest.approx(difference)


def test_compare_prints_both_and_the_difference(out):
    result = run("--control", "pooled", "--compare", *FAST, "--out", out)
    lines = result.stdout.splitlines()
    for start in ("pooled ", "none ", "difference, paired "):
        assert any(line.startswith(start) and "±" in line for line in lines)


def test_an_existing_folder_is_refused_resumed_or_replaced(out):
    assert run(*FAST, "--out", out).exit_code == 0
    before = (out / "seed-0" / "run.json").read_bytes()
    refused = run(*FAST, "--out", out)
    assert refused.exit_code == 1
    assert refused.stderr.startswith(f"graphsct: {out} holds a run already; use --resume")
    assert run(*FAST, "--out", out, "--resume").exit_code == 0
    assert (out / "seed-0" / "run.json").read_bytes() == before
    other = run(*FAST, "--out", out, "--resume", "--depth", 3)
    assert other.exit_code == 1
    assert "model.depth is 2 there, 3 here" in other.stderr
    assert run(*FAST, "--out", out, "--force", "--depth", 3).exit_code == 0
    assert json.loads((out / "config.json").read_text())["model"]["depth"] == 3


def test_settings_come_from_a_file_and_options_before_it(out, tmp_path):
    assert (
        run(
            *FAST, "--control", "pooled", "--select", "val_score", "--normalize", "--out", out
        ).exit_code
        == 0
    )
    again = tmp_path / "again"
    line = ("--config", out / "config.json", "--seeds", 2, "--depth", 3, "--control", "none")
    result = run(*line, "--out", again)
    assert result.exit_code == 0, result.output
    found = json.loads((again / "config.json").read_text())
    assert found["train"] == json.loads((out / "config.json").read_text())["train"]
    assert (found["model"]["hidden"], found["model"]["depth"]) == (8, 3)
    assert found["model"]["control"] is None
    assert found["data"]["normalize"] is True
    raw = tmp_path / "raw"
    assert run(*line, "--no-normalize", "--out", raw).exit_code == 0
    assert json.loads((raw / "config.json").read_text())["data"]["normalize"] is False


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--model", "gnc"), "there is no model 'gnc', did you mean 'gcn'?"),
        (("--control", "poled"), "there is no control 'poled', did you mean 'pooled'?"),
        (("--data", "coar"), "cora"),
        (("--epochs", 0), "epochs is 0, expected at least 1"),
        (("--select", "test"), "select is 'test'"),
        (("--dropout", 1), "dropout is 1.0, expected a number in [0, 1)"),
        (("--resume", "--force"), "choose one"),
        (("--device", "cdua"), "device is 'cdua', which is not available here; the devices here "),
        (("--device", "cdua"), "cpu, and --device auto takes the first"),
        (("--precision", "bf8"), "there is no precision 'bf8'; choose from bf16, fp16"),
        (("--precision", "fp16", "--device", "cpu"), "use --precision bf16, or --device cuda"),
        (("--option", "options=3"), "options is 3, expected an object with settings"),
        (("--compare",), "there is no control to compare with"),
        (("--config", "nowhere.json"), "nowhere.json: No such file"),
    ],
)
def test_wrong_settings_are_one_line_and_leave_no_folder(out, arguments, message):
    result = run(*arguments, "--seeds", 1, "--out", out)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert message in result.stderr
    assert result.stderr.startswith("graphsct: ")
    assert result.stderr.count("\n") == 1
    assert not (out / "config.json").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not valid JSON"),
        ("[]", "has no settings: neither 'model' nor 'train'"),
        ('{"train": {"epoch": 3}}', "no setting 'epoch', did you mean 'epochs'"),
        ('{"train": {}, "normalize": 1}', "normalize is 1, expected true or false"),
        ('{"model": 2}', "c.json: model is 2, expected an object with settings"),
        ('{"train": null}', "c.json: train is None, expected an object with settings"),
        ('{"train": {"patience": 1e999}}', "patience is inf, expected a whole number"),
        (f'{{"train": {{"patience": {10**30}}}}}', f"patience is {10**30}, expected a whole num"),
        (
            f'{{"train": {{"learning_rate": {10**400}}}}}',
            "expected a number between -2^63 and 2^63",
        ),
        ('{"model": {"depth": 1000000000}}', "num_layers is 1000000000, expected a whole number"),
        ("[" * 100_000, "c.json is not valid JSON: its lists and objects are nested too deeply"),
    ],
)
def test_wrong_files_of_settings(out, tmp_path, text, message):
    (tmp_path / "c.json").write_text(text)
    result = run("--config", tmp_path / "c.json", "--out", out)
    assert result.exit_code == 1
    assert message in result.stderr
    assert "unexpected" not in result.stderr


def test_options_beside_a_file_whose_options_are_no_object(out, tmp_path):
    (tmp_path / "c.json").write_text('{"model": {"options": [1]}}')
    result = run("--config", tmp_path / "c.json", "--option", "residual=true", "--out", out)
    assert result.exit_code == 1
    assert "options is [1], expected an object with settings" in result.stderr


def test_a_folder_that_is_no_run_folder(tmp_path):
    (tmp_path / "thesis.tex").write_text("mine")
    result = run(*FAST, "--out", tmp_path, "--force")
    assert result.exit_code == 1
    assert "is not empty and not a run folder" in result.stderr
    assert (tmp_path / "thesis.tex").read_text() == "mine"


@pytest.fixture
def real(monkeypatch, tmp_path):
    if "GRAPHSCT_DATA" not in os.environ:
        pytest.skip("GRAPHSCT_DATA is not set: the real data sets are not here")
    monkeypatch.setenv("GRAPHSCT_CACHE", str(tmp_path / "cache"))


def test_the_seeds_of_texas_go_through_its_ten_splits(real, out):
    result = run("--data", "texas", "--epochs", 3, "--seeds", 12, "--out", out)
    assert result.exit_code == 0, result.output
    assert "seed i on split i mod 10" in " ".join(result.stdout.split())
    rows = json.loads((out / "results.json").read_text())["seeds"]
    assert [row["split"] for row in rows] == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1]


def test_cora_is_learnt_from_its_sparse_features(real, out):
    line = ("--data", "cora", "--seeds", 1, "--out", out)
    result = run(*line, "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["test_mean"] > 0.78
    assert json.loads((out / "config.json").read_text())["data"]["normalize"] is False
    other = run(*line, "--normalize", "--resume")
    assert other.exit_code == 1
    assert "data.normalize is False there, True here" in other.stderr


def test_ctrl_c_says_how_to_go_on(out, monkeypatch):
    def press(self, record):
        if record.epoch == 3:
            os.kill(os.getpid(), signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(Progress, "__call__", press)
        result = run(*FAST, "--out", out)
    assert result.exit_code == 130
    assert "seeds 0 to 1;" in result.stdout  # they were under way together
    assert result.stderr == (f"interrupted: the same command with --resume continues in {out}\n")
    assert run(*FAST, "--out", out, "--resume").exit_code == 0
    expected = run(*FAST, "--out", out.with_name("whole"), "--json")
    seeds = json.loads((out / "results.json").read_text())["seeds"]
    for row, other in zip(seeds, json.loads(expected.stdout)["seeds"], strict=True):
        assert row["best_epoch"] == other["best_epoch"]
        assert row["val_loss"] == pytest.approx(other["val_loss"], rel=1e-4)


def test_threads_are_set_and_recorded(out):
    before = torch.get_num_threads()
    try:
        assert run(*FAST, "--threads", 2, "--out", out).exit_code == 0
    finally:
        torch.set_num_threads(before)
    assert json.loads((out / "config.json").read_text())["versions"]["threads"] == 2


def test_device_and_precision_are_recorded(out):
    line = ("--device", "cpu", "--precision", "bf16", *FAST, "--out", out)
    result = run(*line)
    assert result.exit_code == 0, result.output
    of_run, of_all = (
        json.loads((out / name).read_text()) for name in ("seed-0/run.json", "results.json")
    )
    assert of_run["versions"]["device"] == of_all["versions"]["device"] == "cpu"
    assert (of_run["backend"], of_run["config"]["precision"]) == ("autograd", "bf16")
    assert run(*line, "--resume").exit_code == 0
    result = run(*FAST, "--out", out, "--resume")
    assert "train.precision is 'bf16' there, missing here" in result.stderr


@pytest.fixture
def patient(monkeypatch):
    """Diagnoses may take any time."""
    monkeypatch.setattr(seed_watches, "SHARE", math.inf)


def epochs(folder):
    lines = (folder / "layers.jsonl").read_text().splitlines()
    return [json.loads(line)["epoch"] for line in lines]


SEEDS = [
    place / seed for place in (Path(), Path("without-control")) for seed in ("seed-0", "seed-1")
]


def test_seeds_are_watched_and_trained_the_same(out, patient):
    line = (*FAST, "--control", "pooled", "--depth", 3, "--dropout", 0.5, "--compare")
    result = run(*line, "--watch", 2, "--out", out)
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    plain = out.with_name("plain")
    assert run(*line, "--out", plain).exit_code == 0
    for seed in SEEDS:
        assert epochs(out / seed) == [1, 2, 4, 6]
        histories = [(folder / seed / "history.jsonl").read_bytes() for folder in (out, plain)]
        assert histories[0] == histories[1]
    first, second = ((out / seed / "layers.jsonl").read_text() for seed in SEEDS[:2])
    assert first != second
    assert not list(plain.rglob("layers.jsonl"))
    assert run(*line, "--out", out, "--force").exit_code == 0
    assert not list(out.rglob("layers.jsonl"))


def test_a_resumed_run_is_watched_from_its_checkpoint(out, patient, monkeypatch):
    def press(self, record):
        if record.epoch == 3:
            os.kill(os.getpid(), signal.SIGINT)

    line = (*FAST, "--out", out, "--watch", 2)
    with monkeypatch.context() as patch:
        patch.setattr(Progress, "__call__", press)
        assert run(*line).exit_code == 130
    assert epochs(out / "seed-0") == [1, 2]
    before = (out / "seed-0" / "layers.jsonl").read_text()
    result = run(*line, "--resume")
    assert result.exit_code == 0, result.output
    assert epochs(out / "seed-0") == [1, 2, 4, 6]
    whole = (out / "seed-0" / "layers.jsonl").read_text()
    assert whole.startswith(before)
    assert run(*line, "--resume").exit_code == 0
    assert (out / "seed-0" / "layers.jsonl").read_text() == whole  # the run was over


def test_skipped_diagnoses_are_counted_in_one_line(out, monkeypatch):
    monkeypatch.setattr(seed_watches, "SHARE", 0.0)
    result = run(*FAST, "--watch", 2, "--out", out, "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["seeds"]
    assert result.stderr == (
        "skipped diagnoses: 6, because all together may take at most 0% of the training time\n"
    )
    assert [epochs(out / seed) for seed in SEEDS[:2]] == [[1], [1]]


@pytest.mark.parametrize("rest", [(), ("--depth", 3)])
def test_watch_needs_no_number(out, patient, rest):
    line = ("--hidden", 8, "--epochs", 51, "--patience", 51, "--seeds", 1, "--out", out)
    result = run(*line, "--watch", *rest)
    assert result.exit_code == 0, result.output
    assert epochs(out / "seed-0") == [1, 50]


def test_what_cannot_be_watched_leaves_no_folder(out, tmp_path, registry):
    (tmp_path / "flat.py").write_text(
        "import torch\n"
        "class Flat(torch.nn.Module):\n"
        "    def __init__(self, data):\n"
        "        super().__init__()\n"
        "        self.weight = torch.nn.Parameter(torch.ones(16, 3))\n"
        "    def forward(self, x, edge_index):\n"
        "        return x @ self.weight\n"
    )
    line = (f"{tmp_path}/flat.py:Flat", "--epochs", 2, "--seeds", 1, "--out", out)
    result = run(*line, "--watch", 2)
    assert result.exit_code == 1
    assert "no part of Flat returns features" in result.stderr
    assert not out.exists()
    assert run(*line).exit_code == 0


def test_a_warm_up_is_kept_with_the_result(out):
    result = run("--data", "demo", *FAST, "--warm-up", 4, "--out", out)
    assert result.exit_code == 0, result.output
    assert json.loads((out / "results.json").read_text())["train"]["warm_up"] == 4
    refused = run("--data", "demo", *FAST, "--warm-up", -1, "--out", out)
    assert refused.exit_code == 1
    assert "-1, expected at least 0" in refused.stderr


def write_graphs(folder, graphs):
    """The text layout of TUDatasets: nodes and graphs are numbered from 1."""
    folder.mkdir()
    starts = torch.tensor([0, *(graph.num_nodes for graph in graphs)]).cumsum(0).tolist()
    pairs = zip(graphs, starts, strict=False)
    edges = torch.cat([graph.edge_index + start + 1 for graph, start in pairs], dim=1)
    owners = [number for number, g in enumerate(graphs, 1) for _ in range(g.num_nodes)]
    for name, rows in {
        "A": edges.t().tolist(),
        "graph_indicator": [[owner] for owner in owners],
        "graph_labels": [graph.y.tolist() for graph in graphs],
        "node_attributes": [row for graph in graphs for row in graph.x.tolist()],
    }.items():
        lines = "".join(f"{', '.join(map(str, row))}\n" for row in rows)
        (folder / f"SHAPES_{name}.txt").write_text(lines)


def test_a_folder_of_graphs_is_trained_in_batches(tmp_path, out):
    write_graphs(tmp_path / "SHAPES", shapes())
    command = ["--data", tmp_path / "SHAPES", "--control", "gated", "--compare", "--out", out]
    result = run(*command, "--batch-size", 16, "--hidden", 16, "--epochs", 20, "--seeds", 2)
    assert result.exit_code == 0, result.output
    found = json.loads((out / "results.json").read_text())
    assert (found["train"]["batch_size"], len(found["seeds"])) == (16, 2)
    assert found["test_mean"] > 0.9
    page = (out / "page.html").read_text(encoding="utf-8")
    assert "the loss of the training graphs" in page
    refused = run("--data", tmp_path / "SHAPES", "--control", "pooled", "--out", out)
    assert refused.exit_code == 1
    assert "one weight for each component of one graph" in refused.stderr


def test_batches_of_a_single_graph_are_refused(out):
    result = run("--batch-size", 8, "--out", out)
    assert result.exit_code == 1
    assert "--batch-size 8 is for lists of graphs, but demo" in result.stderr
    assert not out.exists()
