import pytest
import torch

from graphsct import datasets, nn
from graphsct.errors import ModelError
from graphsct.paper.probe import probe
from graphsct.smoothness.summary import summarize
from graphsct.training.data import SplitData
from graphsct.training.seeding import seeded

DATA = datasets.demo()
GRAPH = DATA.graph
PROBLEM = SplitData.of(DATA)


def make(layers=2, control="pooled", scale=1.0, **options):
    """A model with a term that is not zero, and the same without it."""
    options = {"num_components": GRAPH.num_components, **options}
    with seeded(0):
        model = nn.GCN(16, 8, 3, layers, control=control, **options)
        base = nn.GCN(16, 8, 3, layers, **options)
        for conv in model.convs:
            for weight in conv.control.parameters():
                torch.nn.init.normal_(weight, std=scale)
    return model, base


def accuracy(scores):
    test = PROBLEM.split.test
    return (scores.argmax(1) == DATA.y)[test].double().mean().item()


@pytest.mark.parametrize("control", ["pooled", "gated", "gated_full"])
def test_removed_is_what_zero_weights_give(control):
    model, base = make(control=control, scale=3.0)
    found = probe(model, base, PROBLEM, 0)
    assert found.accuracy.with_term == accuracy(model(DATA.x, GRAPH))
    assert found.accuracy.base == accuracy(base(DATA.x, GRAPH))
    for conv in model.convs:
        conv.control.reset_parameters()
    scores, layers = model(DATA.x, GRAPH, return_layers=True)
    assert found.accuracy.removed == accuracy(scores)
    for layer, features in zip(found.layers, layers[1:], strict=True):
        expected = summarize(features, GRAPH)
        assert layer.removed.smoothness == expected.smoothness
        assert layer.removed.dead == expected.dead
        assert layer.removed != layer.with_term


def test_the_size_and_the_plain_bias_of_one_layer():
    model, base = make(1, scale=9.0)
    found = probe(model, base, PROBLEM, 0)
    control = model.convs[0].control
    base.load_state_dict(model.state_dict(), strict=False)
    with torch.no_grad():
        z = base.convs[0](base.activations[0](base.input(DATA.x)), GRAPH)
        term = control(z, GRAPH)
        plain = model.output((z + term.mean(0)).relu())
    (layer,) = found.layers
    assert layer.size == pytest.approx((term.norm() / z.norm()).item())
    weights = torch.cat([control.coefficients.weight.flatten(), control.coefficients.bias])
    assert layer.weights == pytest.approx(weights.square().mean().sqrt().item())
    energy = term.square().sum(0)
    assert layer.dimensions == pytest.approx((energy.sum() ** 2 / (energy**2).sum()).item())
    assert (layer.arrives, layer.cosine) == (None, None)
    assert found.accuracy.plain == accuracy(plain)
    ours = model(DATA.x, GRAPH)
    test = PROBLEM.split.test
    changed = (plain.argmax(1) != ours.argmax(1))[test].double().mean().item()
    assert found.changed.plain == changed > 0


def test_without_dropout_the_term_is_frozen_already():
    model, base = make(dropout=0.0)
    found = probe(model, base, PROBLEM, 0)
    assert found.changed.frozen == 0
    assert found.changed.removed > 0
    model, base = make(dropout=0.8)
    assert probe(model, base, PROBLEM, 0).changed.frozen > 0


def test_only_a_term_that_differs_between_dimensions_can_be_shuffled():
    model, base = make()
    assert probe(model, base, PROBLEM, 0).changed.shuffled > 0
    for conv in model.convs:
        torch.nn.init.zeros_(conv.control.coefficients.weight)
        torch.nn.init.constant_(conv.control.coefficients.bias, 9.0)
    found = probe(model, base, PROBLEM, 0)
    assert found.changed.shuffled == 0 < found.changed.removed
    assert found.layers[0].dimensions == pytest.approx(8)


@pytest.mark.parametrize("sign", [-1, 1])
def test_the_next_layer_takes_back_what_arrives_or_adds_to_it(sign):
    model, base = make(activation=torch.nn.LeakyReLU(1.0), init="identity")
    first, second = (conv.control.coefficients for conv in model.convs)
    for part in (first, second):
        torch.nn.init.zeros_(part.weight)
    with torch.no_grad():
        second.bias.copy_(sign * first.bias)
    found = probe(model, base, PROBLEM, 0).layers
    assert found[0].arrives == pytest.approx(1, abs=1e-4)
    assert found[0].cosine == pytest.approx(sign, abs=1e-4)


def test_a_term_that_is_zero_has_no_direction():
    model, base = make(scale=0.0)
    found = probe(model, base, PROBLEM, 0)
    assert set(found.changed) == {0.0, found.changed.base}
    assert found.layers[0].size == found.layers[0].weights == 0
    assert all(
        getattr(found.layers[0], name) is None for name in ("dimensions", "arrives", "cosine")
    )


def test_the_model_is_left_as_it_was():
    model, base = make(dropout=0.5, norm="BatchNorm")
    before = {name: value.clone() for name, value in model.state_dict().items()}
    first = probe(model, base, PROBLEM, 0)
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert not any(part._forward_hooks for part in model.modules())
    assert probe(model, base, PROBLEM, 0) == first


def test_a_model_without_control_is_refused():
    model, base = make()
    with pytest.raises(ModelError, match="no control"):
        probe(base, model, PROBLEM, 0)
