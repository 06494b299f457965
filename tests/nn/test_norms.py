import pytest
import torch
import torch_geometric.nn as pyg
from torch.testing import assert_close

from graphsct import ModelError
from graphsct.nn.norms import NORMS, make_norm

X = torch.linspace(-2, 5, 20).reshape(5, 4).sin()


@pytest.mark.parametrize("name", NORMS)
def test_by_pyg_name(name):
    theirs = getattr(pyg, name)
    more = {"groups": 10} if name == "DiffGroupNorm" else {}
    torch.manual_seed(0)
    expected = theirs(4, **more) if NORMS[name] else theirs()
    torch.manual_seed(0)
    norm = make_norm(name, 4)
    assert type(norm) is theirs
    assert_close(norm(X), expected(X))


def test_options_reach_the_norm_by_name():
    norm = make_norm("PairNorm", 4, {"scale": 10.0, "scale_individually": True})
    assert_close(norm(X), pyg.PairNorm(10.0, True)(X))
    assert make_norm("DiffGroupNorm", 4, {"groups": 3}).groups == 3
    assert make_norm("NodeNorm", 4, {"power": 3.0}).power == 3
    with pytest.raises(ModelError, match=r"PairNorm cannot be built: .*sale"):
        make_norm("PairNorm", 4, {"sale": 10.0})


def test_snake_case_module_and_none():
    assert isinstance(make_norm("batch_norm", 4), pyg.BatchNorm)
    assert make_norm(None, 4)(X) is X
    given = torch.nn.LayerNorm(4)
    assert make_norm(given, 4) is not given
    assert isinstance(make_norm(given, 4), torch.nn.LayerNorm)


def test_unknown_names_come_with_the_nearest():
    with pytest.raises(ModelError, match="no norm 'BatchNrm', did you mean 'BatchNorm'"):
        make_norm("BatchNrm", 4)
    with pytest.raises(ModelError, match="no norm 5; choose"):
        make_norm(5, 4)
