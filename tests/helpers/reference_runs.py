"""Short training runs whose every number is compared with those of an earlier version.

``python tests/helpers/reference_runs.py`` writes ``reference_runs.json`` beside this file with the
graphsct that is installed. The file was written by the version before the engine became a tape, and
again when layers began to leave out nodes without influence: most runs stayed as they were, the
losses of the others moved by less than 1e-5 of their size.
"""

import hashlib
import json
import platform
import sys
from pathlib import Path

import numpy as np
import torch
from torch_geometric.data import Data

sys.path.append(str(Path(__file__).parent))

from zoo import ZOO

import graphsct
from graphsct import nn
from graphsct.training import TrainConfig

FILE = Path(__file__).with_name("reference_runs.json")

MODELS = {"gcn": nn.GCN, "gcnii": nn.GCNII, "egnn": nn.EnergeticGNN}
CONTROLS = (None, "pooled", "gated", "gated_full")
LOSS = "val_loss"  # the default of that version


def machine():
    """What decides the last bit: the processor's instructions and PyTorch's version."""
    return " ".join(
        (platform.machine(), torch.backends.cpu.get_cpu_capability(), torch.__version__)
    )


def zoo_data(name, dtype):
    """Features, labels and masks on a graph of the zoo."""
    case = ZOO[name]
    edge_index, edge_weight = case.inputs()
    n = case.num_nodes
    generator = torch.Generator().manual_seed(11)
    data = Data(
        x=torch.randn(n, 5, generator=generator, dtype=torch.float64).to(dtype),
        edge_index=edge_index,
        y=torch.arange(n) % 3,
        num_nodes=n,
    )
    if edge_weight is not None:
        data.edge_weight = edge_weight.to(dtype)
    data.graph = graphsct.Graph.from_data(data, dtype=dtype)
    for part, name in enumerate(("train_mask", "val_mask", "test_mask")):
        data[name] = torch.arange(n) % 3 == part
    # With a graph of its own the run is the engine's, in the version before as well.
    data.graph = graphsct.Graph.from_data(data, dtype=dtype)
    return data


def build(kind, control, data, components, *, depth=3, hidden=8, **settings):
    model = MODELS[kind](
        data.num_features,
        hidden,
        3 if data.num_features == 5 else int(data.y.max()) + 1,
        depth,
        control=control,
        num_components=components if control == "pooled" else None,
        **settings,
    )
    return model.to(data.x.dtype) if data.x.dtype == torch.float64 else model


def summary(run, model):
    """Losses and accuracies of all epochs to the last bit, and a hash of the best weights."""
    digest = hashlib.sha256()
    for name, weight in sorted(model.state_dict().items()):
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(weight.numpy()).tobytes())
    return {
        "train_loss": [epoch.train_loss.hex() for epoch in run.history],
        "val_loss": [epoch.val_loss.hex() for epoch in run.history],
        "val_accuracy": [epoch.val_score.hex() for epoch in run.history],
        "best_epoch": run.best_epoch,
        "test_accuracy": run.test_score.hex(),
        "weights": digest.hexdigest(),
    }


def zoo_runs():
    """Names and runs of all models on the zoo, each alone and three at once."""
    large = [name for name, case in ZOO.items() if case.num_nodes > 2]
    for place, name in enumerate(large):
        data = zoo_data(name, torch.float32)
        components = ZOO[name].num_components
        for kind in MODELS:
            for control in CONTROLS:
                activation = ("relu", "leaky_relu", "tanh", "elu", "srelu", "selu")[place % 6]
                rates = dict(dropout=0.5, conv_dropout=0.3 if place % 2 else 0.0)

                def make(
                    seed, own=(kind, control, data, components), activation=activation, rates=rates
                ):
                    torch.manual_seed(seed)
                    return build(*own, activation=activation, **rates)

                config = TrainConfig(epochs=6, seed=1, conv_weight_decay=1e-3, select="val_score")
                model = make(1)
                run = graphsct.fit(model, data, config, progress=False)
                yield f"{name}/{kind}/{control}/fit", summary(run, model)
                models = [make(seed) for seed in range(3)]
                configs = [
                    TrainConfig(
                        epochs=6, seed=seed, learning_rate=0.01 * (seed // 2 + 1), select=LOSS
                    )
                    for seed in range(3)
                ]
                runs = graphsct.fit_many(models, data, configs)
                for seed in range(3):
                    yield (
                        f"{name}/{kind}/{control}/many-{seed}",
                        summary(runs[seed], models[seed]),
                    )


def cora_runs(data):
    """Names and runs of all models on Cora, as published and in the form that searches find."""
    components = data.graph.num_components
    for kind in MODELS:
        for control in CONTROLS[:3]:

            def make(seed, kind=kind, control=control):
                torch.manual_seed(seed)
                settings = dict(depth=4, hidden=16, dropout=0.5, conv_dropout=0.6)
                return build(kind, control, data, components, **settings)

            model = make(3)
            config = TrainConfig(epochs=10, seed=3, select=LOSS)
            run = graphsct.fit(model, data, config, progress=False)
            yield f"cora/{kind}/{control}/fit", summary(run, model)
            models = [make(seed) for seed in range(2)]
            configs = [TrainConfig(epochs=10, seed=seed, select=LOSS) for seed in range(2)]
            runs = graphsct.fit_many(models, data, configs)
            for seed in range(2):
                yield f"cora/{kind}/{control}/many-{seed}", summary(runs[seed], models[seed])


def main():
    torch.set_num_threads(1)
    found = {"machine": machine(), "zoo": dict(zoo_runs())}
    found["cora"] = dict(cora_runs(graphsct.datasets.load("cora")))
    FILE.write_text(json.dumps(found, separators=(",", ":")))


if __name__ == "__main__":
    main()
