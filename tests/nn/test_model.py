import copy
import inspect

import pytest
import torch
from models import make
from own_model import HopNetwork
from torch.testing import assert_close
from zoo import ZOO

from graphsct import Graph, ModelError, nn
from graphsct.nn import ACTIVATIONS, CONTROLS, GCN, GCNII, MODELS, EnergeticGNN, Model, register
from graphsct.training.config import ModelConfig

KINDS = (None, "pooled", "gated", "gated_full")

#: in_channels, out_channels, connected components
SIZES = {
    "Cora": (1433, 7, 78),
    "Citeseer": (3703, 6, 438),
    "PubMed": (500, 3, 1),
    "Physics": (8415, 5, 1),
    "Arxiv": (128, 40, 1),
}

#: The paper's table of model sizes, every row: data set, model, width, layers, control, norm.
PUBLISHED = [
    ("Cora", GCN, 64, 2, None, None, 100_423),
    ("Cora", GCN, 64, 2, "pooled", None, 110_535),  # printed as a second "GCNII"
    ("Cora", GCNII, 128, 32, None, None, 708_743),
    ("Cora", GCNII, 128, 32, "gated", None, 1_237_127),
    ("Cora", EnergeticGNN, 128, 32, None, None, 712_839),
    ("Cora", EnergeticGNN, 128, 4, "gated", None, 316_551),
    ("Citeseer", GCN, 64, 2, None, None, 245_638),
    ("Citeseer", GCN, 64, 2, "pooled", None, 301_830),
    ("Citeseer", GCNII, 128, 32, None, None, 999_174),
    ("Citeseer", GCNII, 128, 16, "gated", None, 1_001_222),
    ("Citeseer", EnergeticGNN, 128, 16, None, None, 739_078),
    ("Citeseer", EnergeticGNN, 128, 2, "gated", None, 540_934),
    ("PubMed", GCN, 64, 2, None, None, 40_451),
    ("PubMed", GCN, 64, 2, "pooled", None, 40_707),
    ("PubMed", GCNII, 128, 16, None, None, 326_659),
    ("PubMed", GCNII, 128, 16, "gated", None, 590_851),
    ("PubMed", EnergeticGNN, 128, 32, None, None, 592_899),
    ("PubMed", EnergeticGNN, 128, 2, "gated", None, 130_563),
    ("Physics", GCN, 64, 2, None, None, 547_141),
    ("Physics", GCN, 64, 2, "pooled", None, 547_397),
    ("Physics", GCNII, 64, 4, None, None, 555_333),
    ("Physics", GCNII, 64, 2, "gated", None, 555_461),
    ("Physics", EnergeticGNN, 64, 32, None, None, 672_069),
    ("Physics", EnergeticGNN, 64, 4, "gated", None, 572_229),
    ("Arxiv", GCN, 64, 4, None, None, 27_240),
    ("Arxiv", GCN, 64, 4, "pooled", "BatchNorm", 28_392),
    ("Arxiv", GCNII, 64, 16, None, None, 76_392),
    ("Arxiv", GCNII, 64, 16, "pooled", "BatchNorm", 80_616),
    ("Arxiv", EnergeticGNN, 64, 16, None, None, 77_416),
    ("Arxiv", EnergeticGNN, 64, 16, "pooled", "BatchNorm", 81_640),
]


@pytest.fixture(params=["gcn", "gcnii", "egnn"])
def name(request):
    return request.param


def test_the_models_of_the_paper_register_themselves():
    found = {name: (model.title, model.default_control) for name, model in MODELS.items()}
    assert (
        found
        | {
            "gcn": ("GCN", "pooled"),
            "gcnii": ("GCNII", "gated"),
            "egnn": ("EGNN", "gated"),
        }
        == found
    )
    assert MODELS["egnn"] is nn.EnergeticGNN
    assert all(model.name == name for name, model in MODELS.items())


@pytest.mark.parametrize("name", ["gcn", "gcnii", "egnn"])
@pytest.mark.parametrize("control", [None, *CONTROLS])
def test_choices_and_options_are_each_others_inverse(name, control):
    model = MODELS[name]
    space = dict(model.search_space(control))
    assert set(space.get("activation", ())) <= set(ACTIVATIONS)
    for pick in (0, -1):
        chosen = {key: values[pick] for key, values in space.items()} | {"dropout": 0.3}
        options = model.from_choices(chosen)
        assert set(options) <= {*model.options(), "activation", "offset_weight_decay"}
        back = model.to_choices(options)
        assert {key: back[key] for key in chosen} == pytest.approx(chosen)


def test_options_are_what_the_constructor_takes():
    of_all = list(inspect.signature(Model).parameters)[4:-1]  # the last one takes the unknown
    for model in (GCN, GCNII, EnergeticGNN):
        *own, rest = list(inspect.signature(model).parameters)[4:]
        assert rest == "options"
        assert model.options() == tuple(dict.fromkeys([*own, *of_all]))
    assert "readout" in of_all
    assert HopNetwork.options() == ("hops", "dropout")


@pytest.mark.parametrize("model", [GCN, GCNII, EnergeticGNN])
def test_unknown_options_are_refused_with_the_nearest(model):
    with pytest.raises(
        ModelError, match=rf"^{model.__name__} has no option 'residul', did you mean 'residual'"
    ):
        model(3, 4, 2, 1, residul=True)


class Wide(GCN):
    def __init__(
        self, in_channels, hidden_channels, out_channels, num_layers, *, times=2, theta=0.1, **more
    ):
        wide = times * hidden_channels
        super().__init__(in_channels, wide, out_channels, num_layers, theta=theta, **more)


def test_options_that_are_passed_on_are_those_of_the_base_class():
    assert Wide.options()[:2] == ("times", "theta")
    assert sorted(Wide.options()) == sorted(("times", *GCN.options()))
    assert Wide(3, 4, 2, 1, init="glorot", residual=True).hidden_channels == 8


def named(**attributes):
    return type("Mine", (GCN,), {"name": "mine", "title": "Mine", **attributes})


class OtherSizes(Model):
    name, title = "other", "Other"

    def __init__(self, channels, num_layers):
        super().__init__(channels, channels, channels, [])


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (type("Mine", (GCN,), {}), "Mine has no name: add name = "),
        (type("Mine", (GCN,), {"name": "mine"}), "Mine has no title"),
        (named(name=3), "Mine has no name"),
        (named(default_control="poled"), "no control 'poled', did you mean 'pooled'"),
        (named(name="gcn"), r"'gcn' belongs to GCN of graphsct\.nn\.gcn: give Mine another name"),
        (
            OtherSizes,
            "first arguments of OtherSizes are channels, num_layers, expected in_channels, h",
        ),
    ],
)
def test_models_that_cannot_be_registered(model, message):
    before = dict(MODELS)
    with pytest.raises(ModelError, match=message):
        register(model)
    assert before == MODELS


def test_a_file_may_be_executed_again(monkeypatch):
    first, second = named(), named()
    monkeypatch.setitem(MODELS, "mine", first)
    assert register(second) is MODELS["mine"] is second
    assert ModelConfig("mine").title == "Mine"


def test_a_class_of_the_same_name_in_another_file_is_another_model():
    with pytest.raises(ModelError, match="'gcn' belongs to GCN of graphsct"):
        register(type("GCN", (GCN,), {"name": "gcn", "title": "GCN"}))


@pytest.mark.parametrize(
    ("dataset", "model", "width", "layers", "control", "norm", "count"), PUBLISHED
)
def test_published_parameter_counts(dataset, model, width, layers, control, norm, count):
    features, classes, m = SIZES[dataset]
    built = model(features, width, classes, layers, control=control, num_components=m, norm=norm)
    assert sum(parameter.numel() for parameter in built.parameters()) == count


@pytest.mark.parametrize("kind", KINDS)
def test_every_input_form_gives_the_same(name, kind, case, x):
    graph = case.graph()
    model = make(MODELS[name], graph, control=kind)
    expected = model(x, graph)
    expected.square().sum().backward()
    gradients = [parameter.grad for parameter in model.parameters()]
    assert_close(model(x, *case.inputs()), expected)
    model.zero_grad()
    sparse = model(x.to_sparse_csr(), graph)
    assert_close(sparse, expected)
    sparse.square().sum().backward()
    assert_close([parameter.grad for parameter in model.parameters()], gradients)


@pytest.mark.parametrize("kind", KINDS)
def test_gradcheck_on_the_whole_zoo(name, kind, graph, x):
    model = make(MODELS[name], graph, control=kind, activation="tanh", num_layers=2)
    assert torch.autograd.gradcheck(lambda a: model(a, graph), x.requires_grad_())


@pytest.mark.parametrize("kind", KINDS[1:])
def test_zero_control_leaves_the_model_unchanged_bit_for_bit(name, kind, graph, x):
    controlled = make(MODELS[name], graph, control=kind)
    for conv in controlled.convs:
        conv.control.reset_parameters()
    plain = MODELS[name](3, 4, 2, 3).double()
    plain.load_state_dict(controlled.state_dict(), strict=False)
    assert controlled(x, graph).equal(plain(x, graph))


def test_equivariant_to_the_order_of_nodes(name):
    case = ZOO["weighted"]
    edge_index, edge_weight = case.inputs()
    model = make(MODELS[name], case.graph(), control="gated")
    x = torch.randn(5, 3, dtype=torch.float64)
    order = torch.tensor([3, 0, 4, 1, 2])
    permuted = Graph(torch.argsort(order)[edge_index], 5, edge_weight)
    assert_close(model(x[order], permuted), model(x, case.graph())[order])


@pytest.mark.parametrize("activation", ["leaky_relu", "srelu", "elu", "selu", "silu", "tanh"])
def test_activation_by_name(name, activation):
    graph = ZOO["path"].graph()
    x = torch.randn(7, 3, dtype=torch.float64)
    out = make(MODELS[name], graph, activation=activation)(x, graph)
    assert not torch.allclose(out, make(MODELS[name], graph, activation="relu")(x, graph))


def test_dropout_acts_in_training_alone(name):
    graph = ZOO["path"].graph()
    x = torch.randn(7, 3, dtype=torch.float64)
    model = make(MODELS[name], graph, dropout=0.5)
    for features in (x, x.to_sparse_csr()):
        assert not model(features, graph).equal(model(features, graph))
    model.eval()
    assert model(x, graph).equal(model(x, graph))
    assert_close(model(x, graph), make(MODELS[name], graph)(x, graph))


def test_dropout_before_convolutions_is_set_apart(name):
    graph = ZOO["path"].graph()
    x = torch.randn(7, 3, dtype=torch.float64)
    default = make(MODELS[name], graph, dropout=0.3)
    assert default.conv_dropout == (0.0 if name == "gcn" else 0.3)
    seen = []
    for model in (
        make(MODELS[name], graph, conv_dropout=0.5),
        make(MODELS[name], graph, dropout=0.5, conv_dropout=0),
    ):
        hook = model.convs[1].register_forward_hook(lambda m, inputs, out: seen.append(inputs[0]))
        _, layers = model(x, graph, return_layers=True)
        seen.append(layers[1])
        hook.remove()
    assert not seen[0].equal(seen[1])
    assert seen[2].equal(seen[3])


def test_norms_stand_before_every_activation(name):
    graph = ZOO["path"].graph()
    model = make(MODELS[name], graph, norm="BatchNorm", activation=torch.nn.Identity())
    _, layers = model(torch.randn(7, 3, dtype=torch.float64), graph, return_layers=True)
    for h in layers:
        assert_close(h.mean(0), torch.zeros(4, dtype=torch.float64), rtol=0, atol=1e-10)


def test_param_groups_hold_every_parameter_once(name):
    graph = ZOO["many_components"].graph()
    model = make(MODELS[name], graph, control="pooled", norm="BatchNorm", activation="srelu")
    groups = model.param_groups(
        conv_weight_decay=0.01, dense_weight_decay=5e-4, offset_weight_decay=0.1
    )
    decay = {id(p): group["weight_decay"] for group in groups for p in group["params"]}
    assert len(decay) == sum(len(group["params"]) for group in groups)
    for key, parameter in model.named_parameters():
        place = key.split(".")[0]
        expected = {"convs": 0.01, "activations": 0.1}.get(place, 5e-4)
        assert decay[id(parameter)] == expected, key
    assert len(decay) == len(list(model.parameters()))
    torch.optim.Adam(groups, lr=0.1)
    plain = make(MODELS[name], graph, activation="relu").param_groups()
    assert [group["name"] for group in plain] == ["conv", "dense"]


def test_reset_parameters_brings_the_first_day_back(name):
    torch.manual_seed(9)
    settings = dict(control="gated", norm="BatchNorm", activation="srelu")
    model = MODELS[name](3, 4, 2, 3, **settings)
    for parameter in model.parameters():
        parameter.data.fill_(7.0)
    torch.manual_seed(9)
    model.reset_parameters()
    for key, value in model.state_dict().items():
        assert not value.eq(7).any(), key


def test_copies_state_and_dtype(name, graph, x):
    model = make(MODELS[name], graph, control="pooled")
    out = model(x, graph)
    assert copy.deepcopy(model)(x, graph).equal(out)
    other = make(MODELS[name], graph, control="pooled")
    other.reset_parameters()
    other.load_state_dict(model.state_dict())
    assert other(x, graph).equal(out)
    assert_close(model.float()(x.float(), graph.float()).double(), out, rtol=1e-3, atol=1e-3)
    assert all(p.device.type == "meta" for p in model.to("meta").parameters())


def test_hooks_see_every_layer_and_nothing_they_hold_is_changed(name, graph, x):
    model = make(MODELS[name], graph, control="gated", norm="BatchNorm", dropout=0.5)
    if graph.num_nodes == 1:
        model.eval()  # a batch norm has nothing to train on
    held = []

    def hold(module, inputs, output):
        held.extend((t, t._version, t.detach().clone()) for t in (*inputs, output) if is_matrix(t))

    def is_matrix(value):
        return isinstance(value, torch.Tensor)

    for module in model.modules():
        module.register_forward_hook(hold)
    model(x, graph).square().sum().backward()
    assert len(held) > 2 * (4 + 3 + 3 + 3)
    for tensor, version, value in held:
        assert tensor._version == version
        assert tensor.equal(value)


def test_trains(name):
    graph = ZOO["many_components"].graph(torch.float32)
    torch.manual_seed(0)
    x, y = torch.randn(9, 3), (graph.component == 1).long()
    model = MODELS[name](3, 16, 2, 4, control="pooled", num_components=3)
    optimizer = torch.optim.Adam(model.param_groups(), lr=0.02)
    for _ in range(200):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x, graph), y) + 0.01 * model.penalty()
        loss.backward()
        optimizer.step()
    assert (model(x, graph).argmax(1) == y).all()


@pytest.mark.filterwarnings("ignore:The .grad attribute:UserWarning")  # torch looks at its own
def test_same_result_when_compiled(name):
    case = ZOO["many_components"]
    graph = case.graph(torch.float32)
    model = make(MODELS[name], graph, control="gated", num_layers=1)
    x = torch.randn(9, 3)
    torch.compiler.reset()
    compiled = torch.compile(model, backend="aot_eager")
    features, edges = {
        "gcn": (x, graph),
        "gcnii": (x.to_sparse_csr(), graph),
        "egnn": (x, case.inputs()[0]),
    }[name]
    expected = model(features, edges)
    (wanted,) = torch.autograd.grad(expected.sin().sum(), model.input.weight)
    out = compiled(features, edges)
    (got,) = torch.autograd.grad(out.sin().sum(), model.input.weight)
    assert_close(out, expected)
    assert_close(got, wanted)


def test_errors_teach(name):
    model = MODELS[name]
    graph = ZOO["many_components"].graph(torch.float32)
    for message, call in {
        "3 is no class of models: register a subclass": lambda: register(3),
        "num_layers is 0": lambda: model(3, 4, 2, 0),
        "num_layers is 2.0": lambda: model(3, 4, 2, 2.0),
        "in_channels is -3": lambda: model(-3, 4, 2, 2),
        "out_channels is None": lambda: model(3, 4, None, 2),
        "hidden_channels is 0": lambda: model(3, 0, 2, 2),
        "^dropout is 1": lambda: model(3, 4, 2, 2, dropout=1),
        "conv_dropout is -0.1": lambda: model(3, 4, 2, 2, conv_dropout=-0.1),
        "no activation 'rellu', did you mean 'relu'": lambda: model(3, 4, 2, 2, activation="rellu"),
        "no control 'gate', did you mean 'gated'": lambda: model(3, 4, 2, 2, control="gate"),
        "no norm 'Batchnorm', did you mean 'BatchNorm'": lambda: model(
            3, 4, 2, 2, norm="Batchnorm"
        ),
        "num_components=graph.num_components": lambda: model(3, 4, 2, 2, control="pooled"),
        "num_components=5, this graph has 3.*'gated', which transfers": lambda: model(
            3, 4, 2, 2, control="pooled", num_components=5
        )(torch.ones(9, 3), graph),
        r"shape \(9, 5\), expected \(n, 3\): build with in_channels=5": lambda: model(3, 4, 2, 2)(
            torch.ones(9, 5), graph
        ),
    }.items():
        with pytest.raises(ModelError, match=message):
            call()


def test_residual_connections_add_the_input_or_a_linear_map_of_it():
    graph = Graph([[0, 1, 1, 2], [1, 0, 2, 1]])
    x = torch.randn(3, 4, generator=torch.Generator().manual_seed(0))
    plain = GCN(4, 5, 2, num_layers=1, init="glorot")
    added = GCN(4, 5, 2, num_layers=1, init="glorot", residual=True)
    mapped = GCN(4, 5, 2, num_layers=1, init="glorot", residual="linear")
    added.load_state_dict(plain.state_dict())
    mapped.load_state_dict(plain.state_dict(), strict=False)
    _, (first, last) = plain(x, graph, return_layers=True)
    assert torch.equal(added(x, graph, return_layers=True)[1][1], last + first)
    expected = (plain.convs[0](first, graph) + mapped.skips[0](first)).relu()
    assert torch.allclose(mapped(x, graph, return_layers=True)[1][1], expected)
    groups = {group["name"]: group["params"] for group in mapped.param_groups()}
    assert any(weight is mapped.skips[0].weight for weight in groups["conv"])
    with pytest.raises(ModelError, match=r"residual is 'lin'.*did you mean 'linear'"):
        GCN(4, 5, 2, num_layers=1, residual="lin")
