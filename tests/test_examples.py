import re
import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


def test_there_is_one_a_model():
    assert {path.stem for path in EXAMPLES} >= {"gcn", "gcnii", "energetic_gnn"}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_runs_and_learns(path, capsys):
    runpy.run_path(str(path), run_name="__main__")
    accuracies = [
        float(value) for value in re.findall(r"accuracy ([\d.]+)", capsys.readouterr().out)
    ]
    assert accuracies
    assert min(accuracies) > 0.7  # a third by chance
