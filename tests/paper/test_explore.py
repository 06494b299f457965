import json
import math
import re
from dataclasses import replace
from itertools import combinations

import pytest
import torch

from graphsct.paper.explore import SMALL_GRAPHS, SmallGraph, page


def test_graphs_are_what_their_names_say():
    graphs = {small.name: small.graph for small in SMALL_GRAPHS}
    assert graphs["Path"].degree.tolist() == [2, 3, 3, 3, 2]
    assert graphs["Two nodes"].degree.tolist() == [2, 2]
    assert graphs["Star"].degree.tolist() == [7, 2, 2, 2, 2, 2, 2]
    assert graphs["Cycle"].degree.tolist() == [3] * 6
    assert graphs["Two components"].component.tolist() == [0, 0, 0, 1, 1, 1]
    assert graphs["Petersen graph"].degree.tolist() == [4] * 10
    # Its adjacency matrix has the eigenvalues 3, 1 and -2.
    assert graphs["Petersen graph"].extreme_eigenvalues == pytest.approx((0.5, -0.25))
    assert [graph.num_components for graph in graphs.values()] == [1, 1, 1, 1, 2, 1]


@pytest.mark.parametrize("small", SMALL_GRAPHS, ids=lambda small: small.name)
def test_graphs_can_be_drawn_and_dragged(small):
    assert len(small.z) == len(small.places) == small.graph.num_nodes
    assert all(abs(value) <= 2 for value in small.z)
    assert all(abs(part) <= 1 for place in small.places for part in place)
    assert min(math.dist(*pair) for pair in combinations(small.places, 2)) > 0.4


def test_the_page_holds_what_the_graph_is():
    text = page(SMALL_GRAPHS)
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    data = json.loads(found[1])
    for small, told in zip(SMALL_GRAPHS, data["graphs"], strict=True):
        edges = torch.tensor(told["edges"]).t()
        assert small.graph.num_edges == edges.shape[1]
        assert torch.equal(torch.tensor(told["degree"]), small.graph.degree.float())
        assert told["basis"] == small.graph.basis.tolist()
        assert told["component"] == small.graph.component.tolist()
    assert data["figure"]["weight"] == 1.2
    assert len(data["figure"]["starts"]) == 20
    assert page(SMALL_GRAPHS) == text


def test_nothing_is_fetched_and_names_are_escaped():
    name = "</script><b>bold</b>"
    text = page([replace(SMALL_GRAPHS[0], name=name)])
    assert "<b>bold" not in text
    assert "&lt;/script&gt;&lt;b&gt;bold&lt;/b&gt;" in text
    assert "default-src 'none'" in text
    addresses = re.findall(r'\b(?:src|href|srcset|action)="([^"]*)"', text)
    assert len(addresses) >= 4
    assert all(address.startswith("#") for address in addresses)


def test_a_graph_of_ones_own():
    small = SmallGraph("Isolated", ((0, 1),), ((0, 0), (1, 0), (0, 1)), (1, 0, -1))
    assert small.describe()["component"] == [0, 0, 1]
    assert small.describe()["degree"] == [2, 2, 1]
