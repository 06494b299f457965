import os
import signal
import threading

import pytest

from graphsct.training.interrupt import interruptible


def press():
    os.kill(os.getpid(), signal.SIGINT)


def test_the_first_is_remembered_and_the_second_stops():
    with interruptible() as asked:
        assert not asked()
        press()
        assert asked()
        with pytest.raises(KeyboardInterrupt):
            press()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_inside_of_another_it_is_that_one():
    with interruptible() as outer:
        with interruptible() as inner:
            press()
            assert inner()
        assert outer()
        with interruptible() as later:
            assert later()


def test_the_handlers_of_others_stay():
    seen = []
    signal.signal(signal.SIGINT, lambda *_: seen.append(1))
    try:
        with interruptible() as asked:
            press()
            assert seen == [1]
            assert not asked()
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def test_other_threads_have_no_signals():
    seen = []

    def work():
        with interruptible() as asked:
            seen.append(asked())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [False]
