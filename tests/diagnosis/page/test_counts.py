import pytest

from graphsct.diagnosis.card import GraphCard
from graphsct.diagnosis.page.counts import card_view

pytestmark = pytest.mark.usefixtures("seed")


def test_the_card_says_what_there_is():
    card = GraphCard(7, 4, 3, ((0, 1), (1, 5), (3, 1)), ((1, 1), (2, 1), (4, 1)), 0.625)
    view = card_view(card)
    facts = view.facts
    assert facts["connected components"] == "3"
    assert facts["nodes in the largest"] == "4 (57%)"
    assert facts["nodes without a neighbour"] == "1"
    assert facts["neighbours of a node"] == "0 to 3, mean 1.1, median 1"
    assert facts["edges inside a class (homophily)"] == "0.62"
    degrees, sizes = (drawn.figure["data"][0] for drawn in view.figures)
    assert (degrees["x"], degrees["y"]) == ([1, 3], [5, 1])
    assert (sizes["x"], sizes["y"]) == ([1, 2, 4], [1, 1, 1])
    assert view.figures[1].figure["layout"]["xaxis"]["tickvals"] == [1, 2, 4]
    assert view.figures[1].figure["layout"]["yaxis"]["ticktext"] == ["1"]


def test_the_card_of_one_component_without_labels():
    view = card_view(GraphCard(2, 1, 1, ((1, 2),), ((2, 1),), None))
    assert len(view.figures) == 1
    assert view.facts["edges inside a class (homophily)"] == "unknown without labels"
    lonely = card_view(GraphCard(1, 0, 1, ((0, 1),), ((1, 1),), None))
    assert lonely.facts["edges inside a class (homophily)"] == "no edges"
