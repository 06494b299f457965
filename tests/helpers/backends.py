"""The same runs by every backend: what they are, and how they are compared."""

from itertools import product

import torch

from graphsct import datasets
from graphsct.training import ModelConfig, TrainConfig
from graphsct.training.runner import Runner
from graphsct.training.seeding import seeded

CONFIG = TrainConfig(epochs=20, patience=20, conv_weight_decay=1e-3, seed=4)
CONTROLS = {"gcn": (None, "pooled", "gated"), "gcnii": (None, "gated"), "egnn": (None, "pooled")}
CASES = [
    dict(model=model, control=control, depth=3, hidden=6, dropout=0.5, conv_dropout=0.3)
    for model, controls in CONTROLS.items()
    for control in controls
]
CASES += [dict(model=model, control="bias", depth=3, hidden=6) for model in CONTROLS]
CASES += [
    dict(control="normalized", depth=3, hidden=6, dropout=0.5, options={"control_options": more})
    for more in ({"first": 2}, {"first": 1, "mix": 0.2})
]
#: One mask is missing, or all of them.
CASES += [
    dict(depth=2, hidden=6, dropout=dropout, conv_dropout=conv_dropout)
    for dropout, conv_dropout in product((0.0, 0.5), (0.0, 0.6))
]
#: What the engine and autograd can do, besides: norms, connections, edges left out.
ENGINE_CASES = [
    dict(control=control, depth=3, hidden=6, dropout=0.5, conv_dropout=0.3, **more)
    for control in (None, "pooled", "gated")
    for more in (
        *(
            dict(norm=norm)
            for norm in ("BatchNorm", "LayerNorm", "PairNorm", "MeanSubtractionNorm")
        ),
        dict(activation="silu"),
        dict(options={"output_dropout": 0.0}),
        dict(options={"output_dropout": 0.2}, model="egnn"),
        dict(options={"residual": True}),
        dict(options={"residual": "linear"}),
        dict(options={"residual": "linear"}, norm="BatchNorm", model="gcnii"),
        dict(options={"residual": True}, norm="BatchNorm", activation="leaky_relu"),
        dict(options={"residual": "initial", "residual_options": {"share": 0.2}}),
        dict(options={"residual": "dense"}),
        dict(norm="PairNorm", options={"norm_options": {"scale": 3.0, "scale_individually": True}}),
        dict(options={"jumping": "cat"}),
        dict(options={"jumping": "max"}),
        dict(options={"edge_dropout": 0.3}),
        dict(options={"edge_dropout": 0.5}, model="gcnii"),
        dict(options={"edge_dropout": 0.5}, model="egnn"),
    )
]


def name_of(case):
    return " ".join(str(value) for value in case.values())


def make_data(sparse):
    """Several components, and training nodes that are neither first nor last."""
    data = datasets.csbm(90, 180, num_classes=3, num_components=4, num_features=7, seed=2)
    if sparse:
        data.x = torch.where(data.x.abs() < 0.4, 0, data.x).to_sparse_csr()
    data.splits = [datasets.Split(*((torch.arange(90) + 1) % 3 == part for part in range(3)))]
    return data


def build(data, case, hooked=False):
    """A model in float64, perhaps with a hook that does nothing."""
    with seeded(0):
        model = ModelConfig(**case).build(data).double()
    for name, weight in model.named_parameters():
        if "control" in name:  # they start at zero, and so would their gradients
            with torch.no_grad(), seeded(1):
                weight.normal_(std=0.3)
    if hooked:
        model.convs[0].register_forward_hook(lambda *args: None)
    return model


def losses(model, data, backend=None):
    """Training and validation losses of all epochs, and the name of the backend."""
    runner = Runner([model], [data], [CONFIG], backend)
    for _ in runner.epochs():
        pass
    history = [(epoch.train_loss, epoch.val_loss) for epoch in runner.histories[0]]
    return torch.tensor(history, dtype=torch.float64), runner.backend.name


def check_losses(ours, theirs):
    assert ours.shape == (20, 2)
    torch.testing.assert_close(ours, theirs, rtol=1e-10, atol=1e-10)
