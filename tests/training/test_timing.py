import pytest
import torch
from torch.testing import assert_close

from graphsct.datasets import demo
from graphsct.training.timing import Case, Peer, alternate, make_engine, measure_data, summarize

CASES = [Case("demo", model, 2, 8) for model in ("gcn", "gcnii")]


@pytest.fixture(scope="module")
def data():
    return demo()


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("control", [False, True])
def test_the_peer_is_the_same_mathematics(case, control, data):
    torch.manual_seed(0)
    model = make_engine(case, data, control).models[0].eval()
    peer = Peer(case, data, control).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    with torch.no_grad():
        peer.lin_in.load_state_dict(model.input.state_dict())
        peer.lin_out.load_state_dict(model.output.state_dict())
        for i, (ours, theirs) in enumerate(zip(model.convs, peer.convs, strict=True)):
            found = {k: v for k, v in ours.state_dict().items() if "control" not in k}
            theirs.load_state_dict(found)
            if control and case.model == "gcn":
                peer.scales[i].copy_(ours.control.coefficients.weight)
                peer.shifts[i].copy_(ours.control.coefficients.bias)
            elif control:
                peer.gates[i].load_state_dict(ours.control.coefficients.linear.state_dict())
    assert_close(peer(data.x, data.edge_index), model(data.x, data.graph), rtol=1e-4, atol=1e-5)


def test_rows_and_summary(data):
    rows = [row for case in CASES for row in measure_data(case, data, seconds=0.0, repeats=3)]
    assert [row["control"] for row in rows] == [None, "pooled", None, "gated"]
    for row in rows:
        theirs = min(row["pyg_edge_index_ms"], row["pyg_sparse_ms"])
        assert row["speedup"] == pytest.approx(theirs / row["ours_ms"])
        assert row["over_limit"] == pytest.approx(row["ours_ms"] / row["limit_ms"])
    summary = summarize(rows)
    assert summary["cases"] == rows
    assert summary["speedup_min"] <= summary["speedup_geomean"]
    ratio = (rows[1]["overhead"] * rows[3]["overhead"]) ** 0.5
    assert summary["overhead_geomean"] == pytest.approx(ratio)
    assert summary["limit_geomean"] > 0


def test_alternate_takes_turns():
    calls = []
    times = alternate([lambda: calls.append("a"), lambda: calls.append("b")], 60.0, 4)
    assert calls == ["a", "b"] * 6
    assert len(times) == 2
    assert min(times) >= 0
