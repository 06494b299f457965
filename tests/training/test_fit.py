from contextlib import nullcontext

import pytest
import torch
from torch.nn import functional as F
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv

import graphsct
from graphsct import GraphsctError, ModelError, datasets
from graphsct.nn import GCN, EnergeticGNN
from graphsct.nn.dropout import Masks
from graphsct.training import ModelConfig, TrainConfig, fit
from graphsct.training.seeding import dropout_generator, seeded

SHORT = TrainConfig(epochs=30, patience=5)


def build(seed=0, **settings):
    with seeded(seed):
        return ModelConfig(**{"hidden": 8, **settings}).build(datasets.demo())


@pytest.fixture(scope="module")
def data():
    return datasets.demo()


def weights(model):
    return {name: tensor.tolist() for name, tensor in model.state_dict().items()}


@pytest.mark.parametrize("model", ["gcn", "gcnii", "egnn"])
def test_same_seed_same_result_bit_for_bit(data, model):
    models = [build(model=model, control="pooled"), build(model=model, control="pooled")]
    torch.manual_seed(5)
    first = fit(models[0], data, SHORT)
    torch.manual_seed(6)
    second = fit(models[1], data, SHORT)
    assert first.history == second.history
    assert first.test_score == second.test_score
    assert weights(models[0]) == weights(models[1])
    other = fit(build(model=model, control="pooled"), data, TrainConfig(epochs=30, seed=1))
    assert other.history[0] != first.history[0]


def test_the_callers_random_numbers_are_left_alone(data):
    torch.manual_seed(3)
    expected = torch.rand(4)
    torch.manual_seed(3)
    fit(build(), data, TrainConfig(epochs=2))
    assert torch.equal(torch.rand(4), expected)


class TwoLayers(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = GCNConv(16, 8), GCNConv(8, 3)

    def forward(self, x, edge_index):
        return self.second(
            F.dropout(self.first(x, edge_index).relu(), 0.5, self.training), edge_index
        )


def check_plain_loop(run, model, data, groups, masks):
    """Compare a run with a loop as a user would write it."""
    optimizer = torch.optim.Adam(groups, lr=0.01)
    best = None
    for epoch, record in enumerate(run.history, start=1):
        model.train()
        optimizer.zero_grad()
        with masks():
            scores = model(data.x, data.edge_index)
        loss = F.cross_entropy(scores[data.train_mask], data.y[data.train_mask])
        loss.backward()
        optimizer.step()
        model.eval()
        with torch.no_grad():
            scores = model(data.x, data.edge_index)
        val_loss = F.cross_entropy(scores[data.val_mask], data.y[data.val_mask]).item()
        right = scores.argmax(1) == data.y
        accuracies = [right[m].double().mean().item() for m in (data.train_mask, data.val_mask)]
        assert record == (epoch, loss.item(), val_loss, *accuracies)
        if best is None or val_loss < best[0]:
            best = val_loss, epoch, right[data.test_mask].double().mean().item()
    assert (run.val_loss, run.best_epoch, run.test_score) == best
    assert run.val_score == run.history[run.best_epoch - 1].val_score


def test_a_plain_loop_with_the_same_masks_gives_the_same_numbers(data):
    config = TrainConfig(epochs=12, conv_weight_decay=0.01)
    model, twin = build(control="gated"), build(control="gated")
    run = fit(hooked(model), data, config)
    assert run.backend == "autograd"
    groups = twin.param_groups(conv_weight_decay=0.01, dense_weight_decay=5e-4)
    masks = Masks(dropout_generator(0), data.train_mask)
    check_plain_loop(run, twin, data, groups, masks.active)


def test_a_plain_loop_of_a_users_model_gives_the_same_numbers(data):
    with seeded(0):
        model, twin = TwoLayers(), TwoLayers()
    twin.load_state_dict(model.state_dict())
    run = fit(model, data, TrainConfig(epochs=12))
    groups = [{"params": twin.parameters(), "weight_decay": 5e-4}]
    with seeded(0, 1):
        check_plain_loop(run, twin, data, groups, nullcontext)


def hooked(model):
    """The same model with a hook that does nothing, which the engine refuses."""
    model.output.register_forward_hook(lambda *args: None)
    return model


def test_a_hook_that_does_nothing_changes_nothing(data):
    config = TrainConfig(epochs=60)
    plain = fit(build(depth=4), data, config)
    other = fit(hooked(build(depth=4)), data, config)
    assert (plain.backend, other.backend) == ("engine", "autograd")
    assert other.history[0].train_loss == pytest.approx(plain.history[0].train_loss, rel=1e-6)
    assert other.best_epoch == plain.best_epoch


def test_edges_without_a_graph_are_trained_by_the_engine_too(data):
    plain = Data(x=data.x, y=data.y, edge_index=data.edge_index)
    plain.train_mask, plain.val_mask, plain.test_mask = data.splits[0]
    run = fit(build(), plain, SHORT)
    assert run.backend == "engine"
    assert run.history == fit(build(), data, SHORT).history


class OfData(torch.nn.Module):
    """Takes the data as its only argument."""

    def __init__(self):
        super().__init__()
        self.inner = TwoLayers()

    def forward(self, data):
        return self.inner(data.x, data.edge_index)


@pytest.mark.parametrize("sparse", [False, True])
def test_a_model_may_take_the_data_as_its_only_argument(data, sparse):
    with seeded(0):
        inner, model = TwoLayers(), OfData()
    model.inner.load_state_dict(inner.state_dict())
    given = data.clone()
    if sparse:
        given.x = data.x.to_sparse_csr()
    expected = fit(inner, data, SHORT)
    assert fit(model, given, SHORT).history == expected.history
    assert (given.x.layout == torch.sparse_csr) is sparse


class Perceptron(torch.nn.Linear):
    def forward(self, x):
        return super().forward(x)


def test_a_model_may_take_less_than_there_is(data):
    assert fit(Perceptron(16, 3), data, SHORT).epochs > 1
    weighted = data.clone()
    weighted.edge_weight = torch.rand(data.edge_index.shape[1])
    with seeded(0):
        first, second = TwoLayers(), TwoLayers()
    second.load_state_dict(first.state_dict())
    assert fit(first, weighted, SHORT).history == fit(second, data, SHORT).history


@pytest.mark.parametrize("make", [lambda: build(), lambda: TwoLayers(), lambda: OfData()])
def test_a_forward_pass_that_fails_says_what_to_do(data, make):
    double = data.clone()
    double.x = data.x.double()
    message = r"has torch.float32 weights, but the features are torch.float64.*cast one of them"
    with pytest.raises(ModelError, match=message):
        fit(make(), double)
    message = r"has weights on meta, but the data are on cpu; move one of them: model.to\('cpu'\)"
    with pytest.raises(ModelError, match=message):
        fit(make().to("meta"), data)


class Mixed(torch.nn.Module):
    """A model that fails where autocast lowers one of two operands."""

    def __init__(self):
        super().__init__()
        self.linear, self.output = torch.nn.Linear(16, 16), torch.nn.Linear(16, 3)

    def forward(self, x, edge_index):
        return self.output(torch.lerp(x, self.linear(x), 0.5))


def test_autocast_trains_what_it_can_and_names_itself_where_it_cannot(data):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert fit(TwoLayers(), data, SHORT).epochs > 1
        assert fit(build(), data, SHORT).backend == "autograd"
        with pytest.raises(ModelError, match=r"failed under torch.autocast.*outside of the"):
            fit(Mixed(), data)
    with pytest.raises(ModelError, match=r"failed under torch.autocast.*without precision=\.\.\."):
        fit(Mixed(), data, TrainConfig(precision="bf16"))


def test_double_features_train_a_double_model(data):
    double = data.clone()
    double.x = data.x.double()  # the graph of the data stays in float32
    run = fit(build().double(), double, SHORT)
    expected = fit(build(), data, SHORT)
    assert run.history[0].train_loss == pytest.approx(expected.history[0].train_loss, rel=1e-5)


class Broken(TwoLayers):
    def forward(self, x, edge_index):
        raise ValueError("no such thing")


def test_other_errors_name_the_model_and_its_arguments(data):
    message = r"Broken failed when called with torch.float32 \(300, 16\), torch.int64 .*no such"
    with pytest.raises(ModelError, match=message):
        fit(Broken(), data)


def test_random_numbers_of_callbacks_do_not_change_the_run(data):
    with seeded(0):
        first, second = TwoLayers(), TwoLayers()
    second.load_state_dict(first.state_dict())
    callbacks = [lambda record: torch.rand(3)]
    expected = fit(first, data, SHORT)
    assert fit(second, data, SHORT, callbacks=callbacks).history == expected.history


def test_the_penalty_is_part_of_the_loss(data):
    models = [build(model="egnn", penalty_weight=w) for w in (1e-9, 1000.0)]
    free, held = (fit(model, data, TrainConfig(epochs=3)) for model in models)
    assert held.history[2].train_loss > free.history[2].train_loss
    assert isinstance(models[0], EnergeticGNN)


def test_patience_and_epochs_end_a_run(data):
    run = fit(build(), data, TrainConfig(epochs=500, patience=4))
    assert run.epochs == run.best_epoch + 4 == len(run.history) < 500
    assert fit(build(), data, TrainConfig(epochs=3)).epochs == 3


def test_the_model_keeps_the_best_weights(data):
    model = build()
    run = fit(model, data, TrainConfig(epochs=300, patience=30))
    assert run.best_epoch < run.epochs
    assert not model.training
    scores = model(data.x, data.graph)
    val_loss = F.cross_entropy(scores[data.val_mask], data.y[data.val_mask]).item()
    assert val_loss == pytest.approx(run.val_loss, rel=1e-5)
    right = scores.argmax(1) == data.y
    assert right[data.test_mask].double().mean().item() == run.test_score


def test_selection_by_accuracy_is_recorded(data):
    run = fit(build(), data, TrainConfig(epochs=60, select="val_score"))
    assert run.val_score == max(record.val_score for record in run.history)
    assert run.to_dict()["config"]["select"] == "val_score"


def test_test_labels_do_not_matter_before_the_end(data):
    other = data.clone()
    other.y = data.y.clone()
    other.y[data.test_mask] = 0
    first, second = fit(build(), data, SHORT), fit(build(), other, SHORT)
    assert first.history == second.history
    assert first.test_score != second.test_score


def test_any_model_on_any_data(data):
    plain = Data(x=data.x, y=data.y, edge_index=data.edge_index)
    plain.train_mask, plain.val_mask, plain.test_mask = data.splits[0]
    with seeded(0):
        model = TwoLayers()
    run = graphsct.fit(model, plain, TrainConfig(epochs=60))
    assert run.test_score > 0.6
    ours = fit(GCN(16, 8, 3, 2), plain, TrainConfig(epochs=5))  # from the edge_index
    assert ours.epochs == 5
    sparse = data.clone()
    sparse.x = data.x.to_sparse_csr()
    with seeded(0):
        model = TwoLayers()
    again = fit(model, sparse, TrainConfig(epochs=60))
    assert again.history == run.history


def test_layers_that_wait_for_their_input_get_their_weights_from_the_seed(data):
    runs = []
    for _ in range(2):
        model = TwoLayers()
        model.first = GCNConv(-1, 8)
        with seeded(0):
            torch.nn.init.xavier_uniform_(model.second.lin.weight)
        runs.append(fit(model, data, TrainConfig(epochs=3)))
    assert runs[0].history == runs[1].history


class Constant(torch.nn.Module):
    def forward(self, x, edge_index):
        return x[:, :3]


def test_a_model_with_nothing_to_train_is_refused(data):
    with pytest.raises(ModelError, match="Constant has no parameter to train"):
        fit(Constant(), data)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"config": {"epochs": 3}}, "config is {'epochs': 3}, expected a TrainConfig"),
        ({"split": "first"}, "split 'first' is not among them"),
        ({"callbacks": print}, "callbacks is <.*>, expected a list of functions"),
        ({"callbacks": [3]}, r"callbacks is \[3\], expected a list of functions"),
    ],
)
def test_arguments_of_a_wrong_kind_are_refused(data, options, message):
    with pytest.raises(GraphsctError, match=message):
        fit(build(), data, **options)


def test_callbacks_see_every_epoch(data):
    seen = []
    run = fit(build(), data, TrainConfig(epochs=4), callbacks=[seen.append])
    assert tuple(seen) == run.history


class Looking:
    """Keeps the weights that it finds in a model at every other epoch."""

    def __init__(self, model):
        self.model, self.found = model, {}

    def looks(self, record):
        return record.epoch % 2 == 0

    def __call__(self, record):
        weights = self.model.state_dict().items()
        self.found[record.epoch] = {name: tensor.clone() for name, tensor in weights}


@pytest.mark.parametrize("model", ["gcn", "gcnii"])
def test_a_callback_that_looks_finds_the_weights_of_its_epoch(data, model):
    looking = Looking(build(model=model))
    run = fit(looking.model, data, TrainConfig(epochs=4), callbacks=[looking])
    assert run.history == fit(build(model=model), data, TrainConfig(epochs=4)).history
    other = build(model=model)
    fit(other, data, TrainConfig(epochs=2, patience=1))
    assert run.best_epoch == 4  # so that each short run ends with its last weights
    for name, tensor in other.state_dict().items():
        assert torch.equal(tensor, looking.found[2][name])
        assert not torch.equal(looking.found[2][name], looking.found[4][name])
        assert torch.equal(looking.found[1][name], build(model=model).state_dict()[name])
