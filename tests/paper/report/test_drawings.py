import base64
import csv

import pytest

from graphsct.paper.report import drawings as module
from graphsct.paper.report.drawings import (
    digest_gradients,
    digest_smoothness,
    find_drawings,
)


def cell(**values):
    values = {"model": "GCN", "start": "glorot", "conv_weight_decay": "0.0", **values}
    return {name: str(value) for name, value in values.items()}


def test_digest_of_smoothness_leaves_dead_dimensions_out():
    rows = [
        cell(layer=layer, smoothness=s, dead=dead, test_score=0.5)
        for layer in (13, 14)
        for s, dead in ((0.5, 0), (0.7, 0), (0.6, 0), (1.0, 1))
    ]
    (found,) = digest_smoothness(rows).rows
    assert (found.smoothness, found.dead, found.verdict) == (0.6, 25, "not smooth")
    dead = [cell(layer=14, smoothness=1.0, dead=1, test_score=0.5)]
    (found,) = digest_smoothness(dead).rows
    assert (found.smoothness, found.dead, found.verdict) == (None, 100, "smooth")


@pytest.mark.parametrize(("first", "verdict"), [(1e-5, "vanishes"), (0.1, "does not vanish")])
def test_digest_of_gradients_looks_at_the_last_epoch(first, verdict):
    rows = [
        cell(epoch=epoch, layer=layer, jacobian_norm=norm)
        for epoch, norms in ((0, (1, 1, 1)), (1, (7, first, 1)))
        for layer, norm in enumerate(norms)
    ]
    (found,) = digest_gradients(rows).rows
    assert (found.input, found.first, found.last) == (7, first, 1)
    assert found.verdict == verdict


def test_files_that_are_there_are_used(drawings, figures):
    assert [drawing.number for drawing in drawings] == [1, 2, 3, 4, 5]
    head, _, code = drawings[0].source.partition(",")
    assert head == "data:image/svg+xml;base64"
    assert base64.b64decode(code) == (figures / "figure1.svg").read_bytes()
    assert len(drawings[2].digest.rows) == 6
    assert len(drawings[3].digest.rows) == 8
    assert all(drawing.why is None for drawing in drawings)


def test_others_are_drawn_or_say_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "FIGURES", {k: module.FIGURES[k] for k in (2, 3)})
    monkeypatch.setenv("GRAPHSCT_DATA", str(tmp_path))
    monkeypatch.setenv("GRAPHSCT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")  # nobody listens there
    drawn, absent = find_drawings(tmp_path / "figures")
    assert drawn.svg.stat().st_size > 10_000
    with (tmp_path / "figures" / "figure2.csv").open(newline="") as file:
        assert len(list(csv.DictReader(file))) > 100
    assert absent.svg is None
    assert "GRAPHSCT_DATA" in absent.why
