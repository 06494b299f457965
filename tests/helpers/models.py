"""Models of the paper with random weights, and a check of their equations."""

import torch
from torch.testing import assert_close


def make(kind, graph, num_layers=3, **settings):
    torch.manual_seed(4)
    settings = dict(num_components=graph.num_components) | settings
    model = kind(3, 4, 2, num_layers, **settings).to(graph.dtype)
    for parameter in model.parameters():
        if parameter.dim() == 2:
            parameter.data.add_(torch.randn_like(parameter), alpha=0.3)
    return model


def check_equations(kind, convolve, graph, dense, x):
    """Compare a model with gated control to ``convolve(conv, beta, h, h_0)``, layer by layer."""
    model = make(kind, graph, control="gated", activation="tanh")
    h = h_0 = torch.tanh(x @ model.input.weight.T + model.input.bias)
    layers = [h]
    for layer, conv in enumerate(model.convs, start=1):
        beta = torch.tensor(0.5 / layer + 1, dtype=torch.float64).log()
        z = convolve(conv, beta, h, h_0)
        linear = conv.control.coefficients.linear
        pooled, pooled_0 = dense.Q.T @ z, dense.Q.T @ h_0
        a = pooled.softmax(1) * linear((1 - beta) * pooled + beta * pooled_0)
        h = torch.tanh(z + dense.Q @ a)
        layers.append(h)
    expected = h @ model.output.weight.T + model.output.bias
    out, got = model(x, graph, return_layers=True)
    assert_close(out, expected, rtol=1e-10, atol=1e-10)
    assert_close(got, layers, rtol=1e-10, atol=1e-10)
    assert_close(model(x, graph), out)
