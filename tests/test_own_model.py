"""A new convolution and a new model in one file of 30 lines, in every part of the product."""

import json
import subprocess
import sys

import pytest
import torch
from backends import CONFIG, check_losses, losses, make_data
from torch_geometric.nn import GAT
from typer.testing import CliRunner

from graphsct import diagnose, fit, fit_many
from graphsct.cli import app
from graphsct.errors import ModelError
from graphsct.nn import MODELS
from graphsct.nn.model_file import load_model
from graphsct.search import Task, search
from graphsct.training import ModelConfig, TrainConfig, build_seeds, run_seeds
from graphsct.training.data import SplitData
from graphsct.training.seeding import seeded

pytestmark = pytest.mark.usefixtures("registry")

FILE = """\
import torch

from graphsct.nn import Convolution, LinearForm, Model, SmoothnessControl, register


class LazyConv(Convolution):
    def __init__(self, channels, stay, control, num_components):
        super().__init__()
        self.stay, self.weight = stay, torch.nn.Parameter(torch.eye(channels))
        if control is not None:
            self.control = SmoothnessControl(channels, control, num_components=num_components)

    def forward(self, x, x_0, edge_index, *, pooled_0=None):
        mixed = self.stay * x + (1 - self.stay) * edge_index.propagate(x)
        return self.add_control(mixed @ self.weight, edge_index, x_0, pooled_0)

    def linear_form(self):
        return LinearForm(self.weight, propagated=1 - self.stay, kept=self.stay)


@register
class LazyGCN(Model):
    name, title = "lazy", "Lazy GCN"

    def __init__(self, in_channels, hidden_channels, out_channels, num_layers, *,
                 stay=0.5, control=None, num_components=None, **options):
        settings = stay, control, num_components
        convs = [LazyConv(hidden_channels, *settings) for _ in range(num_layers)]
        super().__init__(in_channels, hidden_channels, out_channels, convs, **options)
"""
WITHOUT_FORM = FILE.replace("def linear_form", "def other_form").replace('"lazy"', '"slow"')
SPACE = """
    @classmethod
    def search_space(cls, control):
        return {"stay": (0.1, 0.5)}
"""
FAST = ("--hidden", 8, "--epochs", 5, "--seeds", 2)
SHORT = TrainConfig(epochs=5)


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "lazy.py"
    path.write_text(FILE)
    return path


@pytest.fixture
def own(file):
    return load_model(f"{file}:LazyGCN")


def test_the_file_is_short():
    assert len(FILE.splitlines()) <= 30


@pytest.mark.parametrize("control", [None, "pooled", "gated"])
def test_engine_and_autograd_give_the_same_losses(tmp_path, control):
    data = make_data(sparse=False)
    found = []
    for text, name in ((FILE, "lazy"), (WITHOUT_FORM, "slow")):
        (tmp_path / f"{name}.py").write_text(text)
        load_model(f"{tmp_path / name}.py:{name}")
        options = {"stay": 0.3, "residual": True}
        config = ModelConfig(
            name, control, depth=3, hidden=6, dropout=0.5, conv_dropout=0.3, options=options
        )
        with seeded(CONFIG.seed):
            model = config.build(data).double()
        for key, weight in model.named_parameters():
            if "control" in key:  # they start at zero
                with torch.no_grad(), seeded(1):
                    weight.normal_(std=0.3)
        data.x = data.x.double()
        found.append(losses(model, SplitData.of(data)))
    (ours, engine), (theirs, autograd) = found
    assert (engine, autograd) == ("engine", "autograd")
    check_losses(ours, theirs)


def test_fit_fit_many_and_several_seeds_agree(own, data):
    def build():
        return own(16, 8, 3, 2, stay=0.2, dropout=0.5)

    configs = [TrainConfig(epochs=5, seed=seed) for seed in range(2)]
    together = fit_many(build_seeds(build, range(2)), data, configs)
    alone = [fit(m, data, c) for m, c in zip(build_seeds(build, range(2)), configs, strict=True)]
    config = ModelConfig("lazy", hidden=8, options={"stay": 0.2})
    by_name = run_seeds(config, data, SHORT, range(2)).runs
    for runs in (alone, by_name):
        assert [r.val_loss for r in runs] == pytest.approx([r.val_loss for r in together])
    assert {run.backend for run in (*together, *alone, *by_name)} == {"engine"}


@pytest.mark.parametrize("workers", [1, 2])
def test_search(file, workers, tmp_path):
    file.write_text(FILE + SPACE)
    load_model(f"{file}:lazy")
    task = Task("demo", "lazy", "gated", 2, max_hidden=16, options={"jumping": "max"})
    found = search(task, trials=4, epochs=5, workers=workers, storage=tmp_path / "study")
    assert (found.trials, found.failed) == (4, 0)
    assert found.model.options["stay"] in (0.1, 0.5)
    assert found.model.options["jumping"] == "max"


SCRIPT = """
from graphsct.search import Task, search

if __name__ == "__main__":
    task = Task("demo", "lazy", None, 2, max_hidden=16)
    print(search(task, trials=2, epochs=2, workers=2).trials)
"""


def test_search_in_a_script_that_defines_the_model(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(FILE + SCRIPT)
    result = subprocess.run([sys.executable, path], capture_output=True, text=True, check=False)
    assert (result.stdout, result.stderr) == ("2\n", "")


def test_a_model_that_other_processes_cannot_find_is_refused(own, data):
    own.__module__ = "notebook"
    task = Task("demo", "lazy", None, 2, max_hidden=16)
    with pytest.raises(ModelError, match="cannot find the model 'lazy': define LazyGCN at the top"):
        search(task, trials=2, epochs=2, workers=2)
    assert search(task, trials=2, epochs=2).trials == 2


def test_diagnose(own, data):
    found = diagnose(own(16, 8, 3, 4), data)
    assert [layer.name for layer in found.layers] == [f"convs.{i}" for i in range(4)]


@pytest.mark.parametrize("name", ["LazyGCN", "lazy"])
def test_the_command_trains_and_resumes(file, name, tmp_path):
    out = tmp_path / "out"
    line = ("train", "--model", f"{file}:{name}", "--option", "stay=0.25", *FAST, "--out", out)
    result = run(*line, "--control", "gated", "--compare")
    assert result.exit_code == 0, result.output
    assert result.stderr == f"executing {file}\n"
    assert "Lazy GCN, 2 layers" in result.stdout
    config = json.loads((out / "config.json").read_text())
    assert (config["model"]["model"], config["model"]["options"]) == ("lazy", {"stay": 0.25})
    rows = json.loads((out / "results.json").read_text())["seeds"]
    assert [row["backend"] for row in rows] == ["engine"] * 2
    before = (out / "seed-0" / "run.json").read_bytes()
    assert run(*line, "--control", "gated", "--compare", "--resume").exit_code == 0
    assert (out / "seed-0" / "run.json").read_bytes() == before
    other = run(*line, "--option", "stay=0.5", "--control", "gated", "--resume")
    assert other.exit_code == 1
    assert "model.options.stay is 0.25 there, 0.5 here" in other.stderr


def test_a_file_with_other_settings_is_not_resumed(file, tmp_path):
    line = ("train", "--model", f"{file}:lazy", *FAST, "--out", tmp_path / "out")
    assert run(*line).exit_code == 0
    file.write_text(FILE.replace("stay=0.5", "stay=0.75"))
    result = run(*line, "--resume")
    assert result.exit_code == 1
    assert "model.convs.0.stay is 0.5 there, 0.75 here" in result.stderr


def test_the_command_searches_and_trains_the_best(file, tmp_path):
    file.write_text("print('hello')\n" + FILE + SPACE)
    target, study, best = f"{file}:LazyGCN", tmp_path / "study", tmp_path / "study" / "best.json"
    fixed = ("--option", "stay=0.1", "--option", "residual=true")
    limits = ("--depth", 2, "--max-hidden", 16, "--epochs", 5, "--trials", 3, "--workers", 2)
    line = ("search", "--model", target, *fixed, *limits, "--out", study)
    result = run(*line)
    assert result.exit_code == 0, result.output
    assert result.stdout.endswith(f"--config {best} --model {target}\n")
    chosen = json.loads(best.read_text())["model"]
    assert chosen["options"] == {"stay": 0.1, "residual": True}
    found = json.loads(run(*line, "--trials", 4, "--json").stdout)
    assert found["trials"] == 4
    train = ("train", "--config", best, "--seeds", 2, "--json", "--out", tmp_path / "out")
    assert json.loads(run(*train, "--model", target).stdout)["model"] == found["model"]
    MODELS.pop("lazy")
    unknown = run(*train)
    assert unknown.exit_code == 1
    assert "no model 'lazy'" in unknown.stderr
    assert unknown.stderr.endswith("or add your own with --model FILE.py:NAME\n")


@pytest.mark.parametrize("name", ["LazyGCN", "lazy"])
def test_the_command_diagnoses(file, name):
    options = ("--depth", 3, "--hidden", 8, "--epochs", 2, "--option", "jumping=cat", "--json")
    result = run("diagnose", f"{file}:{name}", *options, "--try", "--seeds", 1)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert len(found["layers"]) == 3
    assert found["run"]["backend"] == "engine"
    by_option = json.loads(run("diagnose", "--model", f"{file}:{name}", *options).stdout)
    assert by_option["layers"] == found["layers"]


FUNCTION = """\
from torch_geometric.nn import SAGEConv, Sequential
from torch import nn

space = {"wide": (False, True), "hidden": (4, 8), "learning_rate": (0.01, 0.1)}

def build(data, hidden=6, num_layers=3, wide=False):
    hidden = 2 * hidden if wide else hidden
    widths = [data.num_features, *[hidden] * num_layers]
    layers = []
    for ins, outs in zip(widths, widths[1:]):
        layers += [(SAGEConv(ins, outs), "x, edge_index -> x"), nn.ReLU()]
    return Sequential("x, edge_index", [*layers, nn.Linear(hidden, data.num_classes)])
"""


@pytest.fixture
def function(tmp_path):
    path = tmp_path / "own.py"
    path.write_text(FUNCTION)
    return f"{path}:build"


def test_the_command_trains_a_function_and_resumes(function, tmp_path):
    out = tmp_path / "out"
    line = ("train", function, "--option", "wide=true", "--epochs", 4, "--seeds", 2, "--out", out)
    result = run(*line, "--control", "gated", "--compare")
    assert result.exit_code == 0, result.output
    assert "own.py:build, 3 layers of width 6, control gated" in result.stdout
    config = json.loads((out / "config.json").read_text())["model"]
    assert (config["model"], config["depth"], config["options"]) == ("own.py:build", 3, {"wide": 1})
    assert (out / "page.html").is_file()
    before = (out / "seed-1" / "run.json").read_bytes()
    assert run(*line, "--control", "gated", "--compare", "--resume").exit_code == 0
    assert (out / "seed-1" / "run.json").read_bytes() == before
    other = run(*line, "--control", "pooled", "--resume")
    assert (other.exit_code, "control is 'gated' there" in other.stderr) == (1, True)


@pytest.mark.parametrize("workers", [1, 2])
def test_the_command_searches_a_function(function, workers, tmp_path):
    study = tmp_path / "study"
    limits = ("--trials", 3, "--epochs", 4, "--depth", 2, "--workers", workers)
    result = run("search", function, *limits, "--out", study)
    assert result.exit_code == 0, result.output
    best = json.loads((study / "best.json").read_text())
    assert best["trials"] - best["failed"] == 3
    assert set(best["model"]["options"]) == {"wide"}
    assert best["model"]["hidden"] in (4, 8)
    assert best["train"]["learning_rate"] in (0.01, 0.1)
    again = ("train", function, "--config", study / "best.json", "--seeds", 1, "--json")
    found = json.loads(run(*again, "--out", tmp_path / "out").stdout)
    assert found["model"] == best["model"]


def test_the_command_diagnoses_a_function_and_tries_remedies(function):
    line = ("diagnose", function, "--depth", 4, "--epochs", 2, "--try", "--seeds", 1, "--json")
    result = run(*line)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert len(found["layers"]) == 4
    assert found["effects"][0]["name"] == "as it is"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("train", "--model", "gcn"), "build and --model gcn are two models: choose one"),
        (("search", "--model", "gcn"), "build and --model gcn are two models: choose one"),
        (("diagnose", "--model", "gcn"), "build and --model gcn are two models: choose one"),
        (("train", "--option", "wyde=1"), "build has no option 'wyde', did you mean 'wide'"),
        (("train", "--dropout", 0.1), "own.py:build has no option 'dropout'"),
        (("train", "--option", "num_layers=3"), "is its depth: pass --depth 3"),
        (("search", "--activation", "elu"), "own.py:build has no option 'activation'"),
    ],
)
def test_wrong_settings_of_a_function_are_one_line(function, arguments, message):
    command, *options = arguments
    result = run(command, function, *options)
    assert result.exit_code == 1
    assert message in result.stderr.splitlines()[-1]


def test_a_wrong_name_in_the_space_is_one_line(function, tmp_path):
    (tmp_path / "own.py").write_text(FUNCTION.replace('"wide"', '"wyde"'))
    result = run("search", function, "--trials", 1, "--out", tmp_path / "study")
    assert result.exit_code == 1
    assert (
        "space has 'wyde', but own.py:build has no such argument, did you mean 'wide'"
        in result.stderr
    )


def test_a_name_that_is_no_file_is_no_argument():
    result = run("train", "gcn")
    assert result.exit_code == 1
    assert result.stderr.endswith("for a model by name: --model gcn\n")


@pytest.mark.parametrize("control", ["none", "pooled", "gated", "bias"])
def test_the_command_trains_a_model_of_pytorch_geometric(control, tmp_path):
    line = ("train", "--model", "pyg:GAT", "--hidden", 8, "--depth", 3, "--option", "heads=2")
    fast = ("--epochs", 3, "--seeds", 2, "--out", tmp_path / "out", "--json")
    result = run(*line, *fast, "--control", control)
    assert result.exit_code == 0, result.output
    assert [row["backend"] for row in json.loads(result.stdout)["seeds"]] == ["autograd"] * 2


BAD = """
import torch
from graphsct.nn import Model

class Net(torch.nn.Module):
    pass

def build():
    pass

class Nameless(Model):
    pass

class Failing(Model):
    name, title = "failing", "Failing"

    def __init__(self, in_channels, hidden_channels, out_channels, num_layers, dropout=0):
        raise RuntimeError("no\\nmemory")
"""


@pytest.mark.parametrize("command", ["train", "search"])
@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        (None, "Net", "there is no file {}"),
        (BAD, "Nett", "{} does not define 'Nett', did you mean 'Net'?"),
        (BAD, "build", "bad.py:build returned a NoneType, expected a torch.nn.Module"),
        (BAD, "Nameless", "Nameless has no name: add name = "),
        (BAD, "Failing", "Failing cannot be built: RuntimeError: no memory"),
        ("x = (\n", "Net", "{}, line 1: SyntaxError: '(' was never closed"),
        ("\nimport nowhere\n", "Net", "{}, line 2: ModuleNotFoundError: No module named"),
        ("exit(3)\n", "Net", "{}, line 1: SystemExit: 3"),
        (FILE.replace('"lazy"', '"gcn"'), "LazyGCN", "the name 'gcn' belongs to GCN of graphsct"),
    ],
)
def test_bad_files_are_one_line(tmp_path, command, text, name, message):
    path = tmp_path / "bad.py"
    if text is not None:
        path.write_text(text)
    result = run(command, "--model", f"{path}:{name}", "--out", tmp_path / "out")
    assert result.exit_code == 1
    assert result.stdout == ""
    *before, last = result.stderr.splitlines()
    assert last.startswith("graphsct: ")
    assert message.format(path) in last
    assert before == ([f"executing {path}"] if text is not None else [])


def test_the_help_says_that_the_file_is_executed():
    for command in ("train", "search", "diagnose"):
        wide = CliRunner(env={"COLUMNS": "200", "TERMINAL_WIDTH": "200"})
        assert "THE FILE IS EXECUTED" in wide.invoke(app, [command, "--help"]).stdout


def test_any_module_with_several_seeds(data):
    def build():
        return GAT(data.num_features, 8, 2, data.num_classes, dropout=0.5)

    configs = [TrainConfig(epochs=4, seed=seed) for seed in range(3)]
    runs = fit_many(build_seeds(build, range(3)), data, configs)
    assert {run.backend for run in runs} == {"autograd"}
    assert len({run.val_loss for run in runs}) == 3
    (again,) = build_seeds(build, [2])
    assert fit(again, data, configs[2]).history == runs[2].history
