"""Results of fit and fit_many are those of earlier versions, bit for bit on the same processor."""

import json

import numpy as np
import pytest
from reference_runs import FILE, cora_runs, machine, zoo_runs


@pytest.fixture(scope="module")
def reference():
    return json.loads(FILE.read_text())


def check(found, expected, exact):
    """Equal bit for bit, or to rounding where another processor adds up in another order."""
    assert found.keys() == expected.keys()
    for name, run in found.items():
        if exact:
            assert run == expected[name], name
            continue
        for key in ("train_loss", "val_loss"):
            new, old = (
                [float.fromhex(loss) for loss in runs[key]] for runs in (run, expected[name])
            )
            np.testing.assert_allclose(new, old, rtol=1e-3, err_msg=f"{name} {key}")


@pytest.mark.slow
def test_runs_on_the_zoo_are_those_of_the_reference(reference):
    check(dict(zoo_runs()), reference["zoo"], exact=machine() == reference["machine"])


def test_runs_on_cora_are_those_of_the_reference(reference, cora):
    check(dict(cora_runs(cora)), reference["cora"], exact=machine() == reference["machine"])
