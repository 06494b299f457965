import json

from typer.testing import CliRunner

from graphsct.cli import app
from graphsct.remedies import REMEDIES


def run(*arguments):
    return CliRunner().invoke(app, ["remedies", *map(str, arguments)])


def test_list_names_every_remedy():
    found = run("list")
    assert found.exit_code == 0
    assert all(name in found.output for name in REMEDIES)
    assert "edge_dropout 0.3 or 0.6" in found.output
    listed = json.loads(run("list", "--json").output)["remedies"]
    assert [remedy["name"] for remedy in listed] == list(REMEDIES)


def test_show_has_the_line_to_write():
    found = run("show", "appnp")
    assert found.exit_code == 0
    for part in (
        "https://arxiv.org/abs/1810.05997",
        "APPNP(..., num_layers=10, alpha=0.1)",
        "alpha 0.1 or 0.2",
        "fits       gcn\n",
    ):
        assert part in found.output
    shown = json.loads(run("show", "drop_edge", "--json").output)
    assert shown == REMEDIES["drop_edge"].to_dict()


def test_an_unknown_name_comes_with_the_nearest():
    found = run("show", "pairnorm")
    assert (found.exit_code, found.stdout) == (1, "")
    assert "there is no remedy 'pairnorm', did you mean 'pair_norm'?" in found.stderr
