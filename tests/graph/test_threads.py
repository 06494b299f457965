import pytest

from graphsct.graph import threads


@pytest.mark.parametrize("edges", [0, threads._MANY])
def test_jobs_keep_their_order_in_one_thread_and_in_two(edges):
    assert threads.in_two_threads(abs, [-3, 2, -1], edges=edges) == [3, 2, 1]
