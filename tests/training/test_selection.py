import pytest
import torch

from graphsct.training import Selection

LOSS = [1.0, 0.9, 0.9, 0.9, 0.95, 0.8, 0.8]
ACCURACY = [0.5, 0.6, 0.7, 0.7, 0.9, 0.9, 0.9]


def feed(selection, losses, accuracies):
    return [
        selection.update(torch.tensor(loss), torch.tensor(accuracy)).tolist()
        for loss, accuracy in zip(losses, accuracies, strict=True)
    ]


def test_by_loss_a_tie_goes_to_the_larger_accuracy_then_to_the_first():
    selection = Selection("val_loss", 100)
    assert feed(selection, LOSS, ACCURACY) == [True, True, True, False, False, True, False]
    assert int(selection.best_epoch) == 6


def test_by_accuracy_a_tie_goes_to_the_smaller_loss_then_to_the_first():
    selection = Selection("val_score", 100)
    assert feed(selection, LOSS, ACCURACY) == [True, True, True, False, True, True, False]
    assert float(selection.val_loss) == pytest.approx(0.8)


@pytest.mark.parametrize("select", ["val_loss", "val_score"])
def test_it_stops_when_the_best_epoch_is_patience_epochs_ago(select):
    selection = Selection(select, 3)
    stopped = []
    for loss, accuracy in [(2, 0.1), (1, 0.2), (1, 0.2), (1.5, 0.2), (3, 0.1)]:
        selection.update(torch.tensor(float(loss)), torch.tensor(accuracy))
        stopped.append(bool(selection.stopped))
    assert stopped == [False, False, False, False, True]


@pytest.mark.parametrize("select", ["val_loss", "val_score"])
def test_many_runs_are_as_one_by_one(select):
    generator = torch.Generator().manual_seed(0)
    losses = torch.randint(5, (60, 7), generator=generator).double()  # with many ties
    accuracies = torch.randint(5, (60, 7), generator=generator).double()
    together = Selection(select, 9, shape=(7,))
    single = [Selection(select, 9) for _ in range(7)]
    for loss, accuracy in zip(losses, accuracies, strict=True):
        better = together.update(loss, accuracy)
        assert better.tolist() == [
            bool(one.update(loss[i], accuracy[i])) for i, one in enumerate(single)
        ]
        assert together.stopped.tolist() == [bool(one.stopped) for one in single]
        for name in ("best_epoch", "val_loss", "val_score"):
            assert getattr(together, name).tolist() == [getattr(one, name) for one in single]
    assert together.stopped.any()
    assert not together.stopped.all()


def test_finished_runs_leave():
    selection = Selection("val_loss", 1, shape=(3,))
    selection.update(torch.tensor([3.0, 2.0, 1.0]), torch.zeros(3))
    selection.update(torch.tensor([2.0, 2.0, 2.0]), torch.zeros(3))
    assert selection.stopped.tolist() == [False, True, True]
    selection.keep(~selection.stopped)
    assert selection.val_loss.tolist() == [2.0]
    assert selection.update(torch.tensor([1.0]), torch.zeros(1)).tolist() == [True]
    assert selection.best_epoch.tolist() == [3]


def test_state_goes_on_where_it_was():
    first, second = Selection("val_loss", 2), Selection("val_loss", 2)
    feed(first, LOSS[:3], ACCURACY[:3])
    second.restore(first.state())
    assert feed(first, LOSS[3:], ACCURACY[3:]) == feed(second, LOSS[3:], ACCURACY[3:])
    assert first.state() == second.state()


def test_patience_does_not_count_in_the_first_epochs():
    for least, epochs in ((0, 3), (4, 6)):
        selection = Selection("val_loss", patience=2, least=least)
        losses = iter((0.5, *[0.9] * 9))
        while not selection.stopped:
            selection.update(torch.tensor(next(losses)), torch.tensor(0.5))
        assert (selection.epoch, int(selection.best_epoch)) == (epochs, 1)
