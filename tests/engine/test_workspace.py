import torch
from recording import Net, Problem, shake

from graphsct.engine.weights import Weights
from graphsct.engine.workspace import GraphOperators, Workspace
from graphsct.nn import GCN


def workspace(model, weights=None):
    return Workspace(GraphOperators(Problem().graph), weights or Weights.view(model), model)


def test_operators_are_made_once_for_the_same_rows_and_numbers():
    operators = GraphOperators(Problem().graph)
    rows, others = torch.tensor([0, 2]), torch.tensor([0, 2])
    assert operators.operators(rows, control=True) is operators.operators(rows, control=True)
    assert operators.operators(rows, control=True) is not operators.operators(rows, control=False)
    assert operators.operators(rows) is not operators.operators(None)
    assert operators.operators(rows) is not operators.operators(others)
    assert operators.operators(rows) is not operators.operators(rows, rows)
    assert operators.neighbourhood(rows) is operators.neighbourhood(rows)
    assert operators.neighbourhood(rows) is not operators.neighbourhood(others)
    assert operators.eigenspace(rows) is operators.eigenspace(rows)
    assert len(operators.eigenspace(None).matrix) == 9


def test_rows_that_are_gone_do_not_lend_their_number_to_others():
    operators = GraphOperators(Problem().graph)
    for size in range(1, 9):  # a tensor that is freed leaves its id to the next one
        rows = torch.arange(size)
        assert len(operators.eigenspace(rows).matrix) == size
        assert len(operators.operators(rows).forward) == size
        del rows


def test_a_parameter_is_one_weight_of_all_runs_however_often_it_is_used():
    models = [shake(Net(None), seed) for seed in range(2)]
    space = workspace(models[0], Weights(models))
    weight = space.weight(models[0].output.weight)
    assert space.weight(models[0].output.weight) is weight
    assert space.used == {"output.weight": weight}
    assert torch.equal(weight.value[1], models[1].output.weight.t())


def test_coordinates_have_room_where_there_is_a_control():
    assert workspace(GCN(5, 4, 3, 2)).coordinates == 0
    assert workspace(GCN(5, 4, 3, 2, control="gated")).coordinates == 3
