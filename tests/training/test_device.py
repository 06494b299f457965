import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.nn import GAT, GCNConv

from graphsct import TrainingError, datasets, fit, fit_many
from graphsct.training import ModelConfig, TrainConfig, build_seeds
from graphsct.training.data import SplitData
from graphsct.training.device import Mover, find_device, name_device
from graphsct.training.seeding import seeded

META = torch.device("meta")
SHORT = TrainConfig(epochs=4)

needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
needs_mps = pytest.mark.skipif(not torch.backends.mps.is_available(), reason="no MPS device")


@pytest.fixture(scope="module")
def data():
    return datasets.demo()


def build(**settings):
    with seeded(0):
        return ModelConfig(**{"hidden": 8, "control": "pooled", **settings}).build(datasets.demo())


def test_a_device_is_found_by_its_name():
    for name in ("cpu", torch.device("cpu")):
        assert find_device(name) == torch.device("cpu")
    assert name_device(torch.device("cpu")) == "cpu"
    if not torch.cuda.is_available() and not torch.backends.mps.is_available():
        assert find_device("auto") == torch.device("cpu")


@pytest.mark.parametrize("name", ["cdua", "meta", "cuda:99", 3.5])
def test_one_that_is_not_there_is_refused_with_those_that_are(name):
    with pytest.raises(
        TrainingError, match=rf"device is '{name}', .* devices here are .*cpu, and device="
    ):
        find_device(name)


def test_data_are_moved_once_and_the_callers_stay(data):
    move = Mover(META)
    moved, own = move(data), SplitData.of(data).moved_by(move)
    assert data.x.device.type == "cpu"
    assert {tensor.device for tensor in (own.x, own.y, own.train, *own.split)} == {META}
    assert own.x is moved.x
    assert own.train is own.split.train
    assert own.objective is not None
    assert move(data) is moved


def test_a_graph_is_moved_and_not_built_again(data):
    graph, move = data.graph, Mover(META)
    moved = move(data)
    assert moved.graph.device == META
    assert moved.graph.adjacency is graph.adjacency
    assert SplitData.of(data).moved_by(move).edges[0] is moved.graph
    plain = Data(x=data.x, edge_index=torch.tensor([[0, 1], [1, 0]]))
    assert Mover(META)(plain).edge_index.device == META


def test_the_data_that_a_model_takes_are_moved_with_it(data):
    class Whole(torch.nn.Module):
        def forward(self, data):
            return data.x

    own = SplitData.of(data, model=Whole()).moved_by(Mover(META))
    (given,) = own.inputs
    assert given.x is own.x
    assert given.edge_index is own.edges[0]


def test_fit_leaves_the_model_on_the_device_and_says_which(data):
    model = build()
    run = fit(model, data, SHORT, device="auto")
    there = find_device("auto")
    assert {weight.device for weight in model.parameters()} == {there}
    assert run.versions["device"] == name_device(there)


def test_on_a_cpu_a_device_changes_nothing(data):
    runs = [fit(build(dropout=0.5), data, SHORT, device=device) for device in (None, "cpu")]
    assert runs[0].history == runs[1].history
    assert runs[0].backend == runs[1].backend == "engine"


def test_many_models_are_moved_and_masks_of_the_users_own_with_them(data):
    split = (data.train_mask, data.val_mask, data.test_mask)
    models = build_seeds(lambda: GAT(16, 8, 2, 3), range(2))
    runs = fit_many(models, data, SHORT, splits=[split] * 2, device="cpu")
    assert [run.versions["device"] for run in runs] == ["cpu", "cpu"]


@needs_cuda
def test_auto_is_cuda_where_there_is_one():
    assert find_device("auto").type == "cuda"
    assert find_device("cuda").index is not None


@needs_cuda
@pytest.mark.parametrize("model", ["gcn", "gcnii", "egnn"])
@pytest.mark.parametrize("control", [None, "pooled", "gated", "gated_full"])
def test_without_dropout_cuda_gives_the_losses_of_a_cpu(data, model, control):
    settings = {"model": model, "control": control, "dropout": 0.0}
    runs = [fit(build(**settings), data, SHORT, device=device) for device in ("cpu", "cuda")]
    assert [run.backend for run in runs] == ["engine", "autograd"]
    for ours, theirs in zip(runs[1].history, runs[0].history, strict=True):
        assert ours.train_loss == pytest.approx(theirs.train_loss, rel=1e-4)


@needs_cuda
def test_weights_that_wait_for_their_input_are_those_of_a_cpu(data):
    class Lazy(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = GCNConv(-1, 3)

        def forward(self, x, edge_index):
            return self.conv(x, edge_index)

    runs = [fit(Lazy(), data, SHORT, device=device) for device in ("cpu", "cuda")]
    assert runs[0].history[0].train_loss == pytest.approx(runs[1].history[0].train_loss, rel=1e-4)


@needs_cuda
@pytest.mark.parametrize("precision", [None, "bf16", "fp16"])
def test_a_run_on_cuda_continues(data, tmp_path, precision):
    config = TrainConfig(epochs=10, checkpoint_every=5, precision=precision)

    class StopError(Exception):
        pass

    def stop(record):
        if record.epoch == 7:
            raise StopError

    whole = fit(build(), data, config, device="cuda")
    with pytest.raises(StopError):
        fit(build(), data, config, device="cuda", folder=tmp_path, callbacks=[stop])
    again = fit(build(), data, config, device="cuda", folder=tmp_path)
    for ours, theirs in zip(again.history, whole.history, strict=True):
        assert ours.train_loss == pytest.approx(theirs.train_loss, rel=1e-3)
    with pytest.raises(TrainingError, match=r"data\.device is 'cuda' there, missing here"):
        fit(build(), data, config, folder=tmp_path)


@needs_mps
def test_a_model_of_edges_trains_on_mps(data):
    assert fit(GAT(16, 8, 2, 3), data, SHORT, device="mps").versions["device"] == "mps"


@needs_mps
def test_sparse_features_are_dense_on_mps(data):
    assert Mover(find_device("mps"))(data.x.to_sparse_csr()).layout == torch.strided
