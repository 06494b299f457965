"""The picture at the top of the README: what tells nodes apart fades from layer to layer.

``python benchmarks/picture.py docs/images`` trains PyTorch Geometric's GCN with 32 layers on Cora,
and draws for every node and layer the part of the features that tells the node from others of its
component: in ``fading.png`` beside the verdict of ``graphsct.diagnose``, and in
``fading_narrow.png``, for telephones, above it.
"""

import sys
import textwrap
from pathlib import Path
from typing import Any

import torch
from torch_geometric.nn import GCN

import graphsct
from graphsct.diagnosis import Recorder
from graphsct.diagnosis.measure import Contrast
from graphsct.plotting.style import RED, styled
from graphsct.training import TrainConfig

DEPTH, NODES, LEAST = 32, 400, 1e-4


def shares(model: torch.nn.Module, data: Any) -> torch.Tensor:
    """The part that tells a node apart over the size of all features; shape: (layers, nodes)."""
    with torch.no_grad(), Recorder(model.eval(), ["convs"], data.num_nodes) as recorder:
        model(data.x, data.edge_index)
    contrast = Contrast(data.graph)
    features = [layer.features for layer in recorder.layers()]
    sizes = [x.norm() / len(x) ** 0.5 for x in features]
    own = [contrast(x).norm(dim=1) / size for x, size in zip(features, sizes, strict=True)]
    return torch.stack(own)


def draw(values: torch.Tensor, verdict: str, path: Path, *, narrow: bool) -> None:
    """Draw the heat map and write the verdict beside it, or below it."""
    from matplotlib import pyplot as plt
    from matplotlib.colors import LogNorm

    shape: dict[str, Any] = {"ncols": 2, "figsize": (13, 5), "width_ratios": (6, 5)}
    if narrow:
        shape = {"nrows": 2, "figsize": (6.5, 9), "height_ratios": (5, 4.6)}
    with styled():
        figure, (above, below) = plt.subplots(**shape, layout="constrained")
        image = above.imshow(
            values.t(),
            norm=LogNorm(LEAST, 1, clip=True),
            cmap="inferno",
            aspect="auto",
            interpolation="nearest",
            extent=(0.5, len(values) + 0.5, values.shape[1], 0),
        )
        above.set(xlabel="layer", ylabel="node", title=f"A GCN with {DEPTH} layers on Cora")
        figure.colorbar(image, ax=above, label="what tells a node from the others")
        below.axis("off")
        first, *others = verdict.splitlines()
        lines = [textwrap.fill(first, 50), ""]
        lines += [textwrap.fill(line, 50, subsequent_indent="    ") for line in others]
        below.text(0, 1, "graphsct.diagnose(model, data)", va="top", family="monospace", size=13)
        below.text(0, 0.9, "\n".join(lines), va="top", size=12.5, color=RED, linespacing=1.35)
        figure.savefig(path, dpi=110)


def main() -> None:
    """Train, measure and draw."""
    torch.manual_seed(0)
    data = graphsct.datasets.load("cora")
    model = GCN(data.num_features, 64, num_layers=DEPTH, out_channels=data.num_classes)
    graphsct.fit(model, data, TrainConfig(epochs=150))
    found = graphsct.diagnose(model, data)
    print(found.verdict)
    order = data.y.argsort(stable=True)[:: data.num_nodes // NODES]
    values = shares(model, data)[:, order]
    for name, narrow in {"fading": False, "fading_narrow": True}.items():
        draw(values, found.verdict, Path(sys.argv[1]) / f"{name}.png", narrow=narrow)


if __name__ == "__main__":
    main()
