from dataclasses import replace

import pytest
from cells import result

from graphsct.paper.cell import Cell, CellSettings, Key
from graphsct.paper.replay import Replay, ReplayTrial
from graphsct.paper.report.overview import overview
from graphsct.paper.tables import build, experiments
from graphsct.training import ModelConfig, TrainConfig


@pytest.fixture(scope="module")
def found(tables, drawings):
    return {finding.question: finding for finding in overview(tables, drawings)}


def test_gains_are_counted(found):
    finding = found["Does SCT help on the citation sets?"]
    assert finding.answer == "In 1 of 3 pairs"
    assert finding.counts == (("helps", 1), ("unclear", 1), ("hurts", 1))
    assert "We ran 3 of them, all tuned with one budget" in finding.text
    assert "The mean gain is -1.6 points; the paper's is +3.3 for the same pairs." in finding.text
    assert "from -10.0 [-10.8, -9.2] (GCN-SCT with 16 layers on Cora)" in finding.text
    other = found["Does SCT help on the heterophilic sets?"]
    assert other.answer == "In 1 of 1 pairs"
    assert "(GCN-SCT on Texas)" in other.text


def test_what_has_no_runs_says_so(found):
    finding = found["Does SCT help EGNN with SReLU?"]
    assert finding.answer == "Not known yet"
    assert finding.counts == ()
    assert "in 18 of 20 pairs. We ran none of them" in finding.text


def test_the_rest_is_counted(found):
    reached = found["Do we reach the paper's accuracies?"]
    assert reached.counts == (("above", 2), ("agrees", 3), ("below", 1))
    assert reached.answer == "In 5 of 6 cells"
    assert any("(our mean is below in 2)" in item for item in reached.items)
    assert found["Does it matter which rule selects the epoch?"].answer == "In 1 of 1 deep pairs"
    assert found["Are models and data the same?"].answer == "30 of 30 models"
    assert "not run yet (" in found["What is missing?"].text


def test_figures_are_digested(found, drawings):
    smooth = found["Do features become smooth in deep layers?"]
    rows = drawings[2].digest.rows
    number = sum(r.verdict == "smooth" for r in rows if r.network == "GCN")
    assert smooth.answer.startswith(f"GCN in {number} of 3, GCN-SCT in ")
    assert "GCNII-SCT in 0 of 1" in found["Do gradients vanish?"].text


def test_without_any_run(tmp_path):
    tables = {name: build(name, cells=tmp_path, root=tmp_path) for name in experiments()}
    findings = overview(tables, [])
    assert [finding.answer for finding in findings[:3]] == 3 * ["Not known yet"]
    assert [finding.question for finding in findings[3:]] == [
        "Are models and data the same?",
        "What is missing?",
    ]


def test_statistics_that_differ_need_a_reason(tables):
    first = tables["statistics"].rows[0]
    rows = [
        replace(first, quantity=quantity, paper=paper, ours=ours, why=why, counts=counts)
        for quantity, paper, ours, why, counts in (
            ("nodes", 5, 5, None, None),
            ("edges", 9, 8, None, "with loops"),
            ("nodes", 7, 6, "a misprint", None),
            ("classes", 3, 2, None, None),
            ("classes", 3, None, None, None),
            ("split", "1/1/1", "2/2/2", None, None),
        )
    ]
    changed = {**tables, "statistics": replace(tables["statistics"], rows=tuple(rows))}
    (text,) = [f.text for f in overview(changed, []) if f.question.startswith("Are models")]
    assert "Of 4 numbers of nodes, edges, features and classes, 1 equal our counts, 2 are" in text
    assert "and 1 differ for a reason we do not know" in text


def test_the_best_model_is_chosen_by_validation(tables):
    rows = tables["depth"].rows
    better = [
        replace(row, validation=90.0) if row.cell == "cora-gcn-pooled-16" else row for row in rows
    ]
    changed = {**tables, "depth": replace(tables["depth"], rows=tuple(better))}
    (finding,) = (f for f in overview(changed, []) if "best model" in f.question)
    assert finding.answer == "As good as the paper's on 0 of 1 sets"
    assert finding.items == (
        "Cora: 65.0 ± 0.9 (GCN-SCT, 16 layers); the paper's best has 85.5; without SCT 81.1 ± 0.9 "
        "(GCN, 2 layers); with SCT by validation loss 70.0 ± 0.9 (GCN-SCT, 16 layers).",
    )


def test_narrow_networks_are_counted_apart(tables):
    rows = [replace(row, our_limit=16 if row.depth == 16 else 64) for row in tables["depth"].rows]
    changed = {**tables, "depth": replace(tables["depth"], rows=tuple(rows))}
    text = overview(changed, [])[0].text
    assert text.endswith(
        "Split by the largest width in the search, with more channels SCT helps in 1 and hurts in "
        "0 of 2 pairs, with a mean gain of +2.6 points; with at most 16 channels SCT helps in 0 "
        "and hurts in 1 of 1 pairs, with a mean gain of -10.0 points."
    )
    assert "by the largest width" not in overview(tables, [])[1].text


def test_protocol_and_authors_settings(tmp_path, tables):
    for control, test in ((None, 0.80), ("pooled", 0.82)):
        trials = (ReplayTrial("relu", 0.5, 0.8, test),) * 200
        Replay(Key("cora", "gcn", control, 2), trials).write(tmp_path)
    for control, mean in ((None, 80.0), ("gated", 78.0), ("bias", 81.0)):
        key = Key("cora", "gcnii", control, 64)
        results = [result(mean + seed % 2, seed, "val_loss") for seed in range(10)]
        model = ModelConfig("gcnii", control, 64)
        Cell(key, CellSettings(model, TrainConfig()), results=tuple(results)).write(
            tmp_path / "authors"
        )
    own = {name: build(name, cells=tmp_path) for name in ("replay", "authors")}
    found = {f.question: f for f in overview({**tables, **own}, [])}
    protocol = found["How much of the printed gain is the protocol's?"]
    assert protocol.answer == "+2.0 of +1.8 points"
    assert "0 of 2 numbers of the paper lie between" in protocol.text
    authors = found["Does SCT help at the settings of its base's authors?"]
    assert authors.answer == "In 0 of 1 cells"
    assert "SCT gains -2.0 points on average, a bias in its place +1.0." in authors.text
    assert authors.counts == (("helps", 0), ("unclear", 0), ("hurts", 1))
