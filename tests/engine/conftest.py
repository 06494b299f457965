import pytest
from recording import CONTEXTS


def _name(context):
    times = "twice" if context.twice else "once"
    return f"{context.place}, {times}, {context.runs} runs"


@pytest.fixture(params=CONTEXTS, ids=_name)
def context(request, seed):
    return request.param
