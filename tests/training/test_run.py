import platform

import pytest
import torch
from runs import make_run

from graphsct import TrainingError, __version__
from graphsct.training.run import Epoch, Run, versions


def test_a_record_has_no_history_and_gets_it_back():
    run = make_run(0.5, history=(Epoch(1, 0.9, 0.8, 0.5, 0.25),), backend="engine")
    values = run.to_dict()
    assert "history" not in values
    assert Run.from_dict({**values, "history": [epoch._asdict() for epoch in run.history]}) == run


def test_what_a_result_depends_on_is_recorded():
    found = versions()
    assert found["graphsct"] == __version__
    assert found["torch"] == torch.__version__
    assert found["python"] == platform.python_version()
    assert found["threads"] == torch.get_num_threads()


@pytest.mark.parametrize("change", [{"epochs": "many"}, {"surprise": 1}])
def test_other_records_are_refused(change):
    values = {**make_run(0.5).to_dict(), "history": [], **change}
    with pytest.raises(TrainingError, match=next(iter(change))):
        Run.from_dict(values)
