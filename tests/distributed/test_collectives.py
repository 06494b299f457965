import pytest
import torch
import torch.distributed as dist
from workers import meet

from graphsct import TrainingError
from graphsct.distributed import joined
from graphsct.distributed.collectives import gather, lead, lead_tensors, rank, total, world


def test_alone_all_is_own(alone):
    x = torch.arange(3.0, requires_grad=True)
    total(2 * x).square().sum().backward()
    assert torch.equal(x.grad, 8 * x.detach())
    assert torch.equal(gather(torch.ones(2))[0], torch.ones(2))
    assert (rank(), world(), lead(lambda: {"a": [1, None]})) == (0, 1, {"a": [1, None]})
    found = lead_tensors(lambda: {"x": torch.eye(2), "empty": torch.empty(0), "n": torch.tensor(3)})
    assert torch.equal(found["x"], torch.eye(2))
    assert (found["empty"].shape, int(found["n"])) == ((0,), 3)
    assert lead_tensors(dict) == {}


def test_losing_another_one_is_an_error_of_ours(tmp_path):
    lost = "[/some/gloo/pair.cc:5] Read error [127.0.0.1]:1: Connection reset. Check the logs"
    message = (
        r"process 0 of 1 lost another one, .*\(Read error \[127.0.0.1\]:1: Connection reset\);"
    )
    with pytest.raises(TrainingError, match=message), meet(tmp_path / "a"):
        raise RuntimeError(lost)
    with pytest.raises(RuntimeError, match="shapes"), meet(tmp_path / "b"):
        raise RuntimeError("shapes do not fit")
    assert not dist.is_initialized()


def test_a_restart_does_not_meet_the_dead(monkeypatch):
    """torchrun keeps one store; what an earlier start has written there must not be read."""
    store = dist.TCPStore("localhost", 0, is_master=True, wait_for_workers=False)
    given = {"MASTER_ADDR": "localhost", "MASTER_PORT": store.port, "RANK": 0, "WORLD_SIZE": 1}
    for name, value in {**given, "TORCHELASTIC_USE_AGENT_STORE": True}.items():
        monkeypatch.setenv(name, str(value))
    for start in ("0", "1"):
        monkeypatch.setenv("TORCHELASTIC_RESTART_COUNT", start)
        with joined(20):
            assert world() == 1
    with_prefix = [f"start-{start}" for start in (0, 1)]
    keys = [key for key in store.list_keys() if "start-" in key]
    assert all(any(prefix in key for key in keys) for prefix in with_prefix)
