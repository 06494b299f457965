import pytest

from graphsct.remedies import REMEDIES
from graphsct.remedies.budget import HIDDEN, BudgetSetting, base_model, budget_of
from graphsct.training import TrainConfig


@pytest.mark.parametrize("remedy", REMEDIES.values(), ids=list(REMEDIES))
def test_every_remedy_tries_eight_different_settings(remedy):
    tried = budget_of(remedy)
    assert len(set(tried)) == 8
    values = {setting.value for setting in tried}
    assert values == ({None} if remedy.number is None else set(remedy.number.choices))
    assert len({setting.weight_decay for setting in tried}) == (2 if values == {None} else 1)


def test_a_setting_is_one_of_training():
    train = BudgetSetting(0.01, 0.5, 1e-3).train(epochs=7)
    decay = dict(conv_weight_decay=1e-3, dense_weight_decay=1e-3)
    assert train == TrainConfig(epochs=7, patience=100, learning_rate=0.01, **decay)


def test_the_base_of_gcn_starts_as_that_of_others():
    gcn, gat = base_model("gcn", 8, 0.7), base_model("pyg:GAT", 4)
    assert (gcn.init, gcn.depth, gcn.hidden, gcn.dropout) == ("glorot", 8, HIDDEN, 0.7)
    assert (gat.init, gat.depth, gat.dropout) == (None, 4, 0.5)
