"""Children of a server that has imported everything: real processes that start at once."""

import multiprocessing

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(
    [
        "torch_geometric.data",
        "graphsct.cli.data",
        "graphsct.cli.remedies",
        "graphsct.cli.reproduce",
        "graphsct.cli.search",
        "graphsct.cli.train",
        "graphsct.datasets.graph_data",
        "graphsct.diagnosis.page.runs",
        "graphsct.diagnosis.seed_watches",
        "graphsct.distributed",
        "graphsct.nn",
        "graphsct.paper.tables",
        "graphsct.remedies.leaderboard",
        "graphsct.search.figure",
        "graphsct.search.study",
        "graphsct.training.compare",
        "plotly.graph_objects",
        "plotly.io",
        "pydantic",
    ]
)
