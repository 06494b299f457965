import json

import pytest

from graphsct.cli import app
from graphsct.distributed.cost import Workload, quote

PAPERS = Workload(111e6, 1.6e9, depth=4, width=128)


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as end:
        app(["plan", *arguments])
    return end.value.code, *capsys.readouterr()


def test_the_command_answers(capsys):
    sizes = ["--nodes", "111e6", "--edges", "1.6e9", "--depth", "4", "--width", "128"]
    code, out, _ = run(capsys, *sizes, "--machines", "1,16", "--json")
    found = json.loads(out)
    assert code == 0
    assert [row["machines"] for row in found["quotes"]] == [1, 16]
    for row in found["quotes"]:
        expected = quote(PAPERS, row["machines"])
        assert row["fits"] is expected.fits
        assert row["seconds"] == pytest.approx(sum(expected.seconds.values()))
    code, out, _ = run(capsys, *sizes, "--machines", "16")
    assert code == 0 and "memory: activations" in out


def test_known_graphs_and_wrong_usage(capsys):
    code, out, _ = run(capsys, "--like", "ogbn-products", "--features", "50", "--json")
    assert code == 0
    job = json.loads(out)["job"]
    assert (job["nodes"], job["features"], job["classes"]) == (2_449_029, 50, 47)
    assert run(capsys, "--nodes", "10")[0] == 2
    assert run(capsys, "--like", "ogbn-products", "--machines", "x")[0] == 2
    code, _, err = run(capsys, "--like", "ogbn-product")
    assert code == 1 and "ogbn-products" in err
