import copy

import pytest
import torch
from shapes import shapes
from torch.testing import assert_close
from torch_geometric.data import Data, InMemoryDataset
from torch_geometric.nn import GIN, Sequential, global_mean_pool

from graphsct import DataError, GraphsctError, ModelError, TrainingError, fit, nn
from graphsct.datasets import Fractions, GraphList, from_graphs
from graphsct.training import TrainConfig
from graphsct.training.graphs import as_graphs, read_data

pytestmark = pytest.mark.usefixtures("seed")


@pytest.fixture(scope="module")
def graphs():
    return from_graphs(shapes(), split=Fractions())


class Named(torch.nn.Module):
    """Takes all that a batch may have by name, and its features and edges by position."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(2, 2)

    def forward(self, features, edges, batch, edge_attr=None, y=None):
        self.seen = edge_attr, y
        return self.linear(global_mean_pool(features, batch))


class Whole(Named):
    def forward(self, data):
        return super().forward(data.x, data.edge_index, data.batch)


def alone(model, graph):
    """The scores of a single graph, whatever arguments the model takes."""
    batch = torch.zeros(graph.num_nodes, dtype=torch.long)
    if isinstance(model, Whole):
        return model(Data(x=graph.x, edge_index=graph.edge_index, batch=batch))
    return model(graph.x, graph.edge_index, batch=batch)


@pytest.mark.parametrize(
    "make",
    [
        lambda: nn.GCN(2, 4, 2, 3, control="gated", readout="mean"),
        lambda: nn.GCNII(2, 4, 2, 3, control="gated_full", readout="sum"),
        Named,
        Whole,
    ],
)
def test_a_row_of_scores_for_each_graph(graphs, make):
    own, model = read_data(graphs), make().eval()
    for weight in model.parameters():  # those of a control are zero at first
        torch.nn.init.normal_(weight, std=0.3)
    scores = own.scores(model)
    assert_close(scores, torch.cat([alone(model, graph) for graph in graphs]))
    some = torch.tensor([31, 4, 17])
    assert_close(own.scores_of(model, some), scores[some])


def test_models_without_names_get_features_edges_and_batch(graphs):
    steps = [
        (GIN(2, 4, num_layers=1, out_channels=2), "x, edge_index -> x"),
        (global_mean_pool, "x, batch -> x"),
    ]
    model = Sequential("x, edge_index, batch", steps)
    assert read_data(graphs).scores(model).shape == (60, 2)


def test_attributes_of_edges_are_given_by_name_and_targets_are_not():
    graphs = shapes(10)
    for graph in graphs:
        graph.edge_attr = torch.randn(graph.num_edges, 3)
        graph.edge_weight = torch.ones(graph.num_edges)
    model = Named()
    read_data(as_graphs(graphs)).scores(model)
    edge_attr, y = model.seen
    assert edge_attr.shape == (sum(graph.num_edges for graph in graphs), 3)
    assert y is None


def test_large_lists_are_evaluated_in_parts():
    own = read_data(as_graphs(shapes(150)))
    sizes = []
    model = Named()
    model.register_forward_hook(lambda *call: sizes.append(len(call[2])))
    assert own.evaluate(model).shape == (150, 2)
    assert sizes == [128, 22]


def test_blind_data_have_no_test_graphs(graphs):
    own = read_data(graphs)
    blind = own.blind()
    seen = (own.train | own.val).nonzero()[:, 0].tolist()
    assert [id(graph) for graph in blind.graphs] == [id(graphs[number]) for number in seen]
    assert len(blind.y) == len(blind.train) == len(blind.graphs) < len(own.graphs)
    assert bool((blind.train | blind.val).all()) and not hasattr(blind, "split")
    assert blind.blind() is blind


def test_normalized_rows_sum_to_one(graphs):
    own = read_data(graphs)
    rows = own.normalized()
    assert_close(rows.x.sum(dim=1), torch.ones(len(rows.x)))
    assert_close(rows.graphs[3].x, own.graphs[3].x / own.graphs[3].x.sum(dim=1, keepdim=True))


def test_fingerprints_tell_lists_apart(graphs):
    first = read_data(graphs).fingerprint
    assert read_data(from_graphs(shapes(), split=Fractions())).fingerprint == first
    joined = copy.copy(graphs)
    joined.graphs = [copy.copy(graph) for graph in graphs]
    joined.graphs[0].edge_index = graphs[0].edge_index[:, :-2]
    assert read_data(joined).fingerprint != first


def test_lists_and_datasets_become_checked_lists(graphs):
    assert as_graphs(graphs) is graphs
    found = as_graphs(shapes())
    assert torch.equal(found.train_mask, Fractions().draw(found.y).train)
    single = shapes(1)[0]
    assert as_graphs(single) is single


class Shapes(InMemoryDataset):
    def __init__(self, graphs):
        super().__init__()
        self.data, self.slices = self.collate(graphs)


def test_datasets_of_pytorch_geometric_are_lists():
    found = as_graphs(Shapes(shapes(20)))
    assert isinstance(found, GraphList)
    assert torch.equal(found[7].edge_index, from_graphs(shapes(20))[7].edge_index)
    assert fit(Named(), Shapes(shapes(20)), TrainConfig(epochs=2)).epochs == 2


def test_models_of_nodes_are_told_to_pool(graphs):
    for model in (nn.GCN(2, 4, 2, 2), GIN(2, 4, num_layers=2, out_channels=2)):
        with pytest.raises(ModelError, match=r"expected scores of shape \(48, outputs\): pool .*"):
            fit(model, graphs)


def test_too_few_outputs_name_the_graph(graphs):
    with pytest.raises(DataError, match=r"graphs: the label 1 of graph 1 is not among"):
        fit(nn.GCN(2, 4, 1, 2, readout="mean"), graphs)


def test_failures_of_a_model_show_its_arguments(graphs):
    with pytest.raises(ModelError, match=r"GIN failed .*float32 .*int64 .*mat1 and mat2"):
        fit(GIN(3, 4, num_layers=2, out_channels=2), graphs)


def test_a_single_graph_has_no_batches(data):
    with pytest.raises(TrainingError, match="batch_size=8 is for lists of graphs, but demo"):
        fit(nn.GCN(16, 4, 3, 2), data, TrainConfig(batch_size=8))


def directed(graph):
    graph.edge_index = graph.edge_index[:, 1:]


def wider(graph):
    graph.x = torch.randn(graph.num_nodes, 3)


def nodeless(graph):
    graph.x, graph.edge_index = torch.empty(0, 2), torch.empty(2, 0, dtype=torch.long)


def without_target(graph):
    del graph.y


def without_features(graph):
    graph.num_nodes = graph.num_nodes
    del graph.x


def edgeless(graph):
    graph.edge_index = torch.empty(2, 0, dtype=torch.long)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (directed, "graph 5 of data.*symmetrize=True"),
        (wider, "graph 5 of data has 3 features, graph 0 has 2"),
        (nodeless, "graph 5 of data"),
        (without_target, "graph 5 of data has no y, but others have"),
        (without_features, "graph 5 of data has no features.*features='degree'"),
        (edgeless, "graph 5 of data: the graph has 5 nodes and no edges at all.*self-loops"),
    ],
)
def test_mixed_lists_are_refused(spoil, message):
    graphs = shapes(10)
    spoil(graphs[5])
    with pytest.raises(GraphsctError, match=message):
        fit(nn.GCN(2, 4, 2, 2, readout="mean"), graphs)
