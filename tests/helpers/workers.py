"""Real processes for tests, started once and used for any number of them."""

import traceback
from contextlib import contextmanager

import torch
from processes import PROCESSES

from graphsct import GraphsctError
from graphsct.distributed import joined

SECONDS = 300.0


def work(connection, rank):
    torch.set_num_threads(1)
    for world, meeting, seconds, function, args in iter(connection.recv, None):
        try:
            with meet(meeting, rank, world, seconds):
                connection.send((True, function(*args)))
        except GraphsctError as error:
            connection.send((False, f"{type(error).__name__}: {error}"))
        except Exception:
            connection.send((False, traceback.format_exc()))


def meet(meeting, rank=0, world=1, seconds=SECONDS):
    return joined(seconds, init_method=f"file://{meeting}", rank=rank, world_size=world)


class Workers:
    """So many processes, of which each call uses the first few."""

    def __init__(self, folder, count):
        self.folder, self.calls = folder, 0
        self.ends, self.processes = [], []
        for rank in range(count):
            here, there = PROCESSES.Pipe()
            process = PROCESSES.Process(target=work, args=(there, rank), daemon=True)
            process.start()
            self.ends.append(here)
            self.processes.append(process)

    def run(self, world, function, *args, each=None):
        """What a function returns in each of so many processes; ``each`` has further arguments."""
        answers = self.attempt(world, function, *args, each=each)
        wrong = [value for good, value in answers if not good]
        assert not wrong, wrong
        return [value for _, value in answers]

    def attempt(self, world, function, *args, each=None, seconds=SECONDS):
        """The same, with errors as values."""
        self.calls += 1
        meeting = self.folder / f"meeting-{self.calls}"
        for rank, end in enumerate(self.ends[:world]):
            own = () if each is None else (each[rank],)
            end.send((world, meeting, seconds, function, (*args, *own)))
        answers = []
        for end in self.ends[:world]:
            assert end.poll(SECONDS + 30), "a process hangs"
            answers.append(end.recv())
        return answers

    def stop(self):
        for end, process in zip(self.ends, self.processes, strict=True):
            end.send(None)
            process.join()


@contextmanager
def started(folder, count=4):
    workers = Workers(folder, count)
    try:
        yield workers
    finally:
        workers.stop()
