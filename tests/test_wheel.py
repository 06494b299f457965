"""The wheels, built and installed into environments that have nothing but their dependencies."""

import os
import re
import subprocess
import sys
import venv
from importlib.metadata import distribution, distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]


def pip(*arguments):
    subprocess.run([sys.executable, "-m", "pip", "--quiet", *map(str, arguments)], check=True)


def needed(dist):
    """The distributions that one needs without extras, itself left out, all the way down."""
    found, todo = {}, [(dist, set())]
    while todo:
        current, extras = todo.pop()
        for line in current.requires or ():
            one = Requirement(line)
            wanted = (
                (one.marker.evaluate({"extra": e}) for e in ("", *extras)) if one.marker else [1]
            )
            if any(wanted) and (one.name, *sorted(one.extras)) not in found:
                there = found[(one.name, *sorted(one.extras))] = distribution(one.name)
                todo.append((there, one.extras))
    return found.values()


class Environment:
    """A virtual environment with the given wheels and links to all that they need."""

    def __init__(self, folder, *wheels):
        self.folder, self.bin = folder, folder / "env" / "bin"
        venv.create(folder / "env")
        pip("--python", self.bin / "python", "install", "--no-index", "--no-deps", *wheels)
        (site,) = (folder / "env").glob("lib/python*/site-packages")
        for own in list(distributions(path=[str(site)])):
            for dist in needed(own):
                for top in {file.parts[0] for file in dist.files} - {"..", "__pycache__"}:
                    if not (site / top).exists():
                        (site / top).symlink_to(dist.locate_file(top))

    def run(self, *words):
        """Run the command, in the folder, without this process's path to the source."""
        clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        line = [self.bin / "graphsct", *map(str, words)]
        return subprocess.run(line, capture_output=True, text=True, cwd=self.folder, env=clean)


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheels")
    for project in (ROOT, ROOT / "src" / "graphsct_results"):
        pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, project)
    code, results = sorted(folder.iterdir(), key=lambda path: path.name)
    return code, results


def test_without_extras_it_reads_text_diagnoses_and_says_first_what_is_missing(wheels, tmp_path):
    code, _ = wheels
    assert code.stat().st_size < 1_000_000
    alone = Environment(tmp_path, code)
    assert alone.run("--version").stdout == f"graphsct {code.name.split('-')[1]}\n"

    demo = alone.run("demo", "--seeds", 2, "--epochs", 2)
    assert demo.returncode == 0, demo.stderr
    assert re.findall("(.*) is left out", demo.stderr) == ["page.html", "every figure"]
    assert "The model does not work" in demo.stdout

    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "edges.csv").write_text("a,b\nb,c\nc,d\nd,e\ne,f\nf,a\n")
    (tmp_path / "mine" / "labels.csv").write_text("a,0\nb,1\nc,0\nd,1\ne,0\nf,1\n")
    settings = ("--features", "one_hot", "--split", "1,1", "--depth", 2, "--epochs", 2)
    found = alone.run("diagnose", "--data", "mine", "--symmetrize", *settings)
    assert found.returncode == 0, found.stderr
    assert "GCN on mine" in found.stdout

    for words, extra in {
        ("figure", 3): "plot",
        ("search", "--data", "demo"): "search",
        ("reproduce", "table1", "--report"): "results",
        ("remedies", "report"): "results",
    }.items():
        refused = alone.run(*words)
        assert refused.returncode == 1, refused
        assert refused.stderr.endswith(f'is not installed; run: pip install "graphsct[{extra}]"\n')
        assert refused.stdout == "" and refused.stderr.count("\n") == 1


def test_stored_results_are_found_in_their_own_wheel(wheels, tmp_path):
    shown = Environment(tmp_path, *wheels).run("reproduce", "table1", "--report", "--json")
    assert shown.returncode == 0, shown.stderr
    assert '"ours"' in shown.stdout
