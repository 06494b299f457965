import hypothesis.strategies as st
import torch
from hypothesis import given
from recording import WIDTH, Net, Problem, check_gradients, random, shake
from torch.nn import functional as F

from graphsct.engine.neighbourhood import Rows
from graphsct.engine.tape import Gather
from graphsct.nn import GCNConv
from graphsct.nn.linear import dropout


def conv(**settings):
    return GCNConv(WIDTH, WIDTH, bias=False, **settings)


def rows_of(body, *, training=True, **parts):
    """The rows at which each kind of node is computed, from the first node to the last."""
    trained, evaluated = Problem(runs=1).tapes([shake(Net(body, **parts), 0)])
    tape = trained if training else evaluated
    return [(type(node).__name__, node.rows) for node in tape.nodes]


def test_what_follows_the_last_convolution_is_computed_at_the_needed_rows():
    rows = rows_of(
        lambda net, x, graph: torch.tanh(net.last(torch.tanh(net.first(x, graph)), graph)) * 2,
        first=conv(),
        last=conv(),
    )
    kinds = "PropagateLate", "Propagate"
    assert [rows for kind, rows in rows if kind in kinds] == [Rows.ONE_HOP, Rows.SOME]
    assert [rows for kind, rows in rows if kind == "Tanh"] == [Rows.ONE_HOP, Rows.SOME]
    assert rows[-2:] == [("Scale", Rows.SOME), ("CrossEntropy", Rows.SOME)]
    assert all(kind != "Gather" for kind, _ in rows)


def test_a_batch_norm_needs_all_rows_in_training_alone():
    def body(net, x, graph):
        return torch.tanh(net.norm(net.conv(x, graph)))

    parts = dict(conv=conv(), norm=torch.nn.BatchNorm1d(WIDTH))
    trained = dict(rows_of(body, **parts))
    assert trained["PropagateLate"] is trained["BatchNorm"] is Rows.ALL
    assert trained["Gather"] is trained["Tanh"] is Rows.SOME
    evaluated = dict(rows_of(body, training=False, **parts))
    assert evaluated["Propagate"] is evaluated["BatchNorm"] is Rows.SOME


def test_rows_are_gathered_once_for_all_who_need_them():
    def body(net, x, graph):
        return torch.tanh(x) + torch.sigmoid(x) * graph.propagate(x)

    tape, _ = Problem(runs=1).tapes([shake(Net(body), 0)])
    (gather,) = [node for node in tape.nodes if isinstance(node, Gather)]
    assert [type(node).__name__ for node in gather.consumers] == ["Tanh", "Sigmoid"]


def test_what_nobody_reads_is_not_computed():
    def wasteful(net, x, graph):
        graph.propagate(torch.sigmoid(x))
        return torch.tanh(x)

    model, problem = shake(Net(wasteful), 0), Problem(runs=1)
    tape, _ = problem.tapes([model])
    kinds = [type(node).__name__ for node in tape.nodes]
    assert kinds == ["Data", "DenseLayer", "Tanh", "CrossEntropy"]
    assert tape.nodes[1].rows is Rows.SOME
    check_gradients(problem, [model])


def test_a_scaled_gradient_is_not_mixed_with_others(context):
    def body(net, x, graph):
        product = net.linear(x)
        bent = torch.tanh(product)
        return bent + product * 0.5

    context.check(body, linear=torch.nn.Linear(WIDTH, WIDTH))


#: Operations on a list of features, the last of which a chain ends with.
STEPS = {
    "relu": lambda net, xs, graph: F.relu(xs[-1]),
    "elu": lambda net, xs, graph: F.elu(xs[-1]),
    "silu": lambda net, xs, graph: F.silu(xs[-1]),
    "tanh": lambda net, xs, graph: torch.tanh(xs[-1]),
    "softmax": lambda net, xs, graph: torch.softmax(xs[-1], dim=1),
    "scale": lambda net, xs, graph: xs[-1] * 0.5,
    "factor": lambda net, xs, graph: xs[-1] * net.factor,
    "shift": lambda net, xs, graph: xs[-1] + net.factor,
    "offset": lambda net, xs, graph: torch.maximum(xs[-1], net.factor),
    "residual": lambda net, xs, graph: xs[-1] + xs[0],
    "far residual": lambda net, xs, graph: xs[len(xs) // 2] + xs[-1],
    "product": lambda net, xs, graph: torch.tanh(xs[-1]) * xs[len(xs) // 2],
    "lerp": lambda net, xs, graph: torch.lerp(xs[-1], xs[0], 0.3),
    "largest": lambda net, xs, graph: torch.maximum(xs[-1], xs[0]),
    "halves": lambda net, xs, graph: net.halves(torch.cat([xs[-1], xs[0]], dim=1)),
    "linear": lambda net, xs, graph: net.linear(xs[-1]),
    "propagate": lambda net, xs, graph: graph.propagate(xs[-1]),
    "convolution": lambda net, xs, graph: net.conv(xs[-1], graph),
    "biased convolution": lambda net, xs, graph: net.biased(xs[-1], graph),
    "control": lambda net, xs, graph: net.controlled(xs[-1], graph, x_0=xs[0]),
    "layer norm": lambda net, xs, graph: net.layer_norm(xs[-1]),
    "batch norm": lambda net, xs, graph: net.batch_norm(xs[-1]),
    "dropout": lambda net, xs, graph: dropout(xs[-1], 0.3, net.training),
}
OWNED = {
    "factor": ("factor", lambda: torch.nn.Parameter(random(WIDTH))),
    "shift": ("factor", lambda: torch.nn.Parameter(random(WIDTH))),
    "offset": ("factor", lambda: torch.nn.Parameter(random(WIDTH))),
    "halves": ("halves", lambda: torch.nn.Linear(2 * WIDTH, WIDTH)),
    "linear": ("linear", lambda: torch.nn.Linear(WIDTH, WIDTH)),
    "convolution": ("conv", conv),
    "biased convolution": ("biased", lambda: GCNConv(WIDTH, WIDTH)),
    "control": ("controlled", lambda: conv(control="gated")),
    "layer norm": ("layer_norm", lambda: torch.nn.LayerNorm(WIDTH)),
    "batch norm": ("batch_norm", lambda: torch.nn.BatchNorm1d(WIDTH)),
}


@given(
    steps=st.lists(st.sampled_from(sorted(STEPS)), min_size=1, max_size=8),
    sparse=st.booleans(),
    runs=st.sampled_from([1, 2]),
)
def test_random_chains_are_differentiated_as_by_autograd(steps, sparse, runs):
    def chain(net, x, graph):
        xs = [x]
        for step in steps:
            xs.append(STEPS[step](net, xs, graph))
        return xs[-1]

    parts = {OWNED[step][0]: OWNED[step][1]() for step in steps if step in OWNED}
    models = [shake(Net(chain, **parts), seed) for seed in range(runs)]
    check_gradients(Problem(sparse=sparse, runs=runs), models)
