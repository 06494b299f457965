import pytest


@pytest.fixture
def x_0(x):
    return (x.flip(1) + 0.3).requires_grad_()
