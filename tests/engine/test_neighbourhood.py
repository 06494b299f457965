import pytest
import torch
from recording import WIDTH, Net, Problem, check_gradients, shake

from graphsct import Graph
from graphsct.engine.neighbourhood import Neighbourhood, Rows
from graphsct.engine.propagation import PropagateLate
from graphsct.nn import GCNConv
from graphsct.nn.linear import dropout

#: Hops around some nodes, from the middle to the farthest that have a set of their own.
HOPS = Rows.SOME, Rows.ONE_HOP, Rows.TWO_HOPS, Rows.THREE_HOPS


def path(nodes, lonely=0):
    """A path, and behind it pairs of nodes."""
    pairs = torch.arange(nodes, nodes + lonely).view(-1, 2)
    edges = torch.cat(
        [torch.stack([torch.arange(nodes - 1), torch.arange(1, nodes)]), pairs.t()], 1
    )
    return Graph(torch.cat([edges, edges.flip(0)], 1), num_nodes=nodes + lonely)


def test_sets_grow_by_a_hop_and_end_with_whole_components():
    reach = Neighbourhood(path(100, lonely=20), torch.tensor([40, 102]))
    around = [[*range(40 - hop, 41 + hop)] for hop in range(4)]
    assert reach.nodes(Rows.SOME).tolist() == [40, 102]
    for rows, nodes in zip(HOPS[1:], around[1:], strict=True):
        assert reach.nodes(rows).tolist() == [*nodes, 102, 103]
    assert reach.nodes(Rows.REACHED).tolist() == [*range(100), 102, 103]
    assert reach.nodes(Rows.ALL) is None
    assert [reach.count(rows) for rows in Rows] == [2, 5, 7, 9, 102, 120, 11]
    assert [reach.around(rows) for rows in HOPS] == [*HOPS[1:], Rows.REACHED]
    assert [reach.around(rows) for rows in (Rows.REACHED, Rows.ALL)] == [Rows.REACHED, Rows.ALL]


def test_a_set_that_is_hardly_smaller_than_the_next_one_is_not_used():
    reach = Neighbourhood(path(60, lonely=2), torch.arange(2, 60))
    assert [reach.settle(rows) for rows in HOPS] == [Rows.SOME, *[Rows.ALL] * 3]
    assert reach.settle(Rows.REACHED) is reach.around(Rows.SOME) is Rows.ALL


class Far:
    """A path of which one end has labels, far from the other, and pairs of nodes without any."""

    num_nodes = 40

    @staticmethod
    def graph():
        edges = path(28, lonely=12).edge_index
        return Graph(edges, num_nodes=40, dtype=torch.float64)


class FarProblem(Problem):
    """Two runs with labels at the end of a path."""

    def __init__(self, **settings):
        super().__init__(Far, **settings)
        place, none = torch.arange(40), torch.zeros(40, dtype=torch.bool)
        self.splits = [
            type(split)(place < 4 + 2 * run, (place > 6) & (place < 9 + run), none)
            for run, split in enumerate(self.splits)
        ]


def deep(net, x, graph):
    for part in (net.a, net.b, net.c, net.d, net.e):
        x = torch.relu(dropout(part(x, graph), 0.3, net.training))
    return x


def convolutions(**settings):
    return {name: GCNConv(WIDTH, WIDTH, **settings) for name in "abcde"}


@pytest.mark.parametrize("settings", [{}, dict(control="pooled"), dict(bias=False)], ids=str)
@pytest.mark.parametrize("arranged", [False, True], ids=["in order", "arranged"])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("runs", [1, 2])
def test_nodes_that_no_label_depends_on_change_nothing(settings, arranged, sparse, runs):
    if settings.get("control") == "pooled":
        settings = settings | dict(num_components=7)
    models = [shake(Net(deep, **convolutions(**settings)), seed) for seed in range(runs)]
    check_gradients(FarProblem(sparse=sparse, arranged=arranged, runs=runs), models)


def test_the_last_layers_are_computed_near_the_labels_and_all_where_labels_are():
    model = shake(Net(deep, **convolutions(bias=False)), 0)
    tape, _ = FarProblem(runs=1, sparse=True).tapes([model])
    layers = [node for node in tape.nodes if "Propagate" in type(node).__name__]
    assert [node.rows for node in layers] == [Rows.REACHED, *HOPS[::-1]]
    assert [isinstance(node, PropagateLate) for node in layers] == [True, *[False] * 4]
    data, layer, *_ = tape.nodes
    assert layer.rows is Rows.REACHED
    assert data.features.x.shape[0] == layer.count == 28
