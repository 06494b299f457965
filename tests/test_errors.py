import pytest

from graphsct import errors


@pytest.mark.parametrize("name", errors.__all__)
def test_every_error_is_caught_as_ours_and_as_a_value_error(name):
    error = getattr(errors, name)
    assert issubclass(error, errors.GraphsctError) and issubclass(error, ValueError)


def test_errors_of_graphs_are_caught_together():
    for error in (errors.DirectedGraphError, errors.UnreachableError):
        assert issubclass(error, errors.GraphError)
