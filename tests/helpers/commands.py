"""The command in a process of its own, which is killed, stopped or interrupted, then judged."""

import ctypes
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from processes import PROCESSES

from graphsct.cli import main

SECONDS = 120.0
_NEW_NETWORK = 0x40000000  # CLONE_NEWNET of Linux
_EVENTS = {"open", "os.chmod", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.truncate"}


class Fault(NamedTuple):
    """A signal that a process gets right before one of its operations on files, by its number."""

    signal: signal.Signals
    operation: int


class Command:
    """``graphsct`` with some words, started.

    Args:
        *words: command and options
        place: folder to run in; operations on files below it are counted
        fault: what happens to the process
        environment: further variables
        network: path of the network namespace to run in
    """

    started = 0

    def __init__(self, *words, place, fault=None, environment=None, network=None):
        Command.started += 1
        log = place.parent / f"{place.name}-{os.getpid()}-{Command.started}"
        self.paths = [log.with_suffix(suffix) for suffix in (".out", ".err", ".log")]
        for path in self.paths:
            path.touch()
        arguments = (list(map(str, words)), place, self.paths, fault, environment or {}, network)
        self.process = PROCESSES.Process(target=_run, args=arguments)
        self.process.start()
        self.start = time.monotonic()

    def send(self, number):
        os.kill(self.process.pid, number)

    def ended(self, seconds=SECONDS):
        """Wait for the end and return the exit code, negative for a signal."""
        self.process.join(seconds)
        self.seconds = time.monotonic() - self.start
        if self.process.exitcode is None:
            self.process.kill()
            self.process.join()
            raise AssertionError(f"not over after {seconds:g} seconds: {self.err}")
        return self.process.exitcode

    def wait_until(self, condition):
        """Wait for something to happen while the process is alive; return whether it did."""
        limit = time.monotonic() + SECONDS
        while not (happened := condition()) and self.process.is_alive():
            assert time.monotonic() < limit, self.err
            time.sleep(0.002)
        return bool(happened)

    def stopped(self):
        """Wait until a fault has stopped the process; return whether it did."""
        stat = Path(f"/proc/{self.process.pid}/stat")
        return self.wait_until(lambda: stat.exists() and ") T " in stat.read_text())

    @property
    def err(self):
        return self.paths[1].read_text()

    @property
    def operations(self):
        """The operations on files so far, each with its path."""
        return self.paths[2].read_text().splitlines()

    @property
    def reason(self):
        """The one line with which a failed command ends; before it come finished cells at most."""
        *before, line = self.err.splitlines()
        # PyTorch warns where a host has no name.
        assert all(" -> " in each or each.startswith("[W") for each in before), self.err
        assert self.process.exitcode == 1
        assert line.startswith("graphsct: ")
        return line


def struck(number, chance, whole, words, place):
    """Run a command that gets a signal at a random moment of its life, and return it ended.

    Half of the moments are operations on files, which are the same in every run; the others are
    times, which also fall between two operations.

    Args:
        number: the signal
        chance: source of random numbers
        whole: the same command, ended undisturbed
        words: the command and its options
        place: folder to run in
    """
    if chance.random() < 0.5:
        fault = Fault(number, chance.randint(1, len(whole.operations)))
        command = Command(*words, place=place, fault=fault)
    else:
        command = Command(*words, place=place)
        command.wait_until(lambda: command.operations)
        command.process.join(chance.uniform(0, whole.seconds))
        with suppress(ProcessLookupError):
            command.send(number)
    command.ended()
    return command


def _run(words, place, paths, fault, environment, network):
    os.environ.update(environment)
    if network is not None:
        with Path(network).open() as file:
            assert ctypes.CDLL(None).setns(file.fileno(), _NEW_NETWORK) == 0
    out, err, log = (os.open(path, os.O_WRONLY | os.O_APPEND) for path in paths)
    os.dup2(out, 1)
    os.dup2(err, 2)
    place.mkdir(parents=True, exist_ok=True)
    os.chdir(place)
    sys.argv = ["graphsct", *words]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.addaudithook(_Watch(place, log, fault))
    try:
        main()
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is over, except for this process


class _Watch:
    """Writes down operations on files below a folder, and lets the fault happen."""

    def __init__(self, place, log, fault):
        self.place, self.log, self.fault = f"{place}/", log, fault
        self.count = 0

    def __call__(self, event, args):
        if event not in _EVENTS or not isinstance(args[0], str | Path):
            return
        path = str(Path.cwd() / args[0])
        if not path.startswith(self.place):
            return
        os.write(self.log, f"{event} {path.removeprefix(self.place)}\n".encode())
        self.count += 1
        if self.fault is not None and self.count == self.fault.operation:
            os.kill(os.getpid(), self.fault.signal)
