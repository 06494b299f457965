"""What CONTRIBUTING.md adds of each kind is there afterwards, and its commands run."""

import re
import runpy
import shlex
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from graphsct.cli import app
from graphsct.datasets.catalog import CATALOG
from graphsct.nn import CONTROLS, MODELS
from graphsct.remedies import REMEDIES
from graphsct.smoothness import MEASURES

TESTS = Path(__file__).parent
TEXT = (TESTS.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## Add a (.*?)\n(.*?)(?=^## |\Z)", TEXT, re.DOTALL | re.M))
REGISTRIES = {
    "model": MODELS,
    "control": CONTROLS,
    "remedy": REMEDIES,
    "measure": MEASURES,
    "data set": CATALOG,
}


def blocks(kind, language):
    return "".join(re.findall(rf"^```{language}\n(.*?)^```", SECTIONS[kind], re.DOTALL | re.M))


@pytest.fixture
def added(kind):
    """Do what the page says, and give the name of what is new; it is forgotten afterwards."""
    registry = REGISTRIES[kind]
    known = dict(registry)
    exec(compile(blocks(kind, "python"), f"Add a {kind}", "exec"), {"__name__": "contributed"})
    (new,) = set(registry) - set(known)
    yield new
    registry.clear()
    registry.update(known)


@pytest.fixture
def roads(tmp_path, monkeypatch):
    """A file of the data set that the page adds: a circle."""
    nodes = np.arange(30)
    masks = np.stack([np.roll(nodes % 3, i) for i in range(10)])
    folder = tmp_path / "data" / "HeterophilousGraph" / "roads" / "raw"
    folder.mkdir(parents=True)
    np.savez(
        folder / "roads.npz",
        node_features=np.random.default_rng(0).normal(size=(30, 4)).astype(np.float32),
        node_labels=nodes // 2 % 2,
        edges=np.stack([nodes, np.roll(nodes, -1)], 1),
        **{f"{part}_masks": masks == i for i, part in enumerate(("train", "val", "test"))},
    )
    monkeypatch.setenv("GRAPHSCT_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("GRAPHSCT_CACHE", str(tmp_path / "cache"))


def test_there_is_a_section_of_each_kind():
    assert list(SECTIONS) == list(REGISTRIES)


@pytest.mark.parametrize("kind", REGISTRIES)
@pytest.mark.usefixtures("roads")
def test_what_the_page_adds_is_known_to_the_commands(kind, added, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for line in blocks(kind, "sh").splitlines():
        assert f" {added}" in line
        result = CliRunner().invoke(app, shlex.split(line)[1:])
        assert result.exit_code == 0, f"{line}: {result.output}"


@pytest.mark.parametrize("kind", ["measure"])
def test_the_measure_lists_its_axioms_and_no_others(added):
    axioms = runpy.run_path(str(TESTS / "smoothness" / "test_axioms.py"))
    for name, axiom in axioms["PAIRS"]:
        if name == added and (name, axiom) in axioms["LISTED"]:
            axioms["test_listed_axioms_hold"](name=name, axiom=axiom)
        elif name == added:
            axioms["test_other_axioms_have_a_counterexample"](name, axiom)


@pytest.mark.parametrize("kind", ["remedy"])
def test_the_remedy_is_complete(added):
    tests = runpy.run_path(str(TESTS / "remedies" / "test_remedies.py"))
    tests["test_it_is_complete"](REMEDIES[added])
