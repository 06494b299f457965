"""A link between two hosts that is cut during an epoch: both end soon, and a restart goes on."""

import os
import shutil
import subprocess
from contextlib import contextmanager

import pytest
from commands import Command
from jobs import Job

pytestmark = pytest.mark.slow

HOSTS = ("graphsct-a", "graphsct-b")
TIMEOUT = 5
EPOCHS = 150
TRAIN = Job(
    "train --distributed --data parts --depth 2 --hidden 8 --control pooled --seeds 1 "
    f"--epochs {EPOCHS} --patience {EPOCHS} --checkpoint-every 2 --timeout {TIMEOUT} "
    "--out run --resume",
    finished="run/**/run.json",
)
PARTITION = Job("data partition demo --parts 2 --out parts", finished="parts/*")
VETH = "link add eth0 type veth peer name eth0 netns"


def ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True)


@contextmanager
def two_hosts():
    """Two network namespaces with one link between them."""
    if shutil.which("ip") is None or os.geteuid() != 0:
        pytest.skip("network namespaces need root and the command ip")
    try:
        for number, host in enumerate(HOSTS):
            ip("netns", "add", host)
            ip("-n", host, "link", "set", "lo", "up")
            if number:
                ip("-n", HOSTS[0], *VETH.split(), host)
        for number, host in enumerate(HOSTS, 1):
            ip("-n", host, "address", "add", f"10.77.0.{number}/24", "dev", "eth0")
        link("up")
        yield
    except subprocess.CalledProcessError as error:
        pytest.skip(f"no network namespaces here: {error.stderr.decode().strip()}")
    finally:
        for host in HOSTS:
            subprocess.run(["ip", "netns", "delete", host], capture_output=True)


def link(state):
    for host in HOSTS if state == "up" else HOSTS[:1]:
        ip("-n", host, "link", "set", "eth0", state)


def start(place, port):
    """One process on each host."""
    meeting = {"MASTER_ADDR": "10.77.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": "2"}
    return [
        Command(
            *TRAIN.words,
            place=place,
            environment={**meeting, "RANK": str(rank), "GLOO_SOCKET_IFNAME": "eth0"},
            network=f"/run/netns/{host}",
        )
        for rank, host in enumerate(HOSTS)
    ]


def history(place):
    path = place / "run/seed-0/history.jsonl"
    return path.read_text().splitlines() if path.exists() else []


def test_both_ends_say_so_and_a_restart_gives_the_same(chance, tally, tmp_path):
    with two_hosts():
        for name in ("whole", "cut"):
            parts = Command(*PARTITION.words, place=tmp_path / name)
            assert parts.ended() == 0, parts.err
        for process in start(tmp_path / "whole", 29501):
            assert process.ended() == 0, process.err
        place, last = tmp_path / "cut", chance.randint(4, EPOCHS // 2)
        both = start(place, 29502)
        assert both[0].wait_until(lambda: len(history(place)) >= last), both[0].err
        link("down")
        for process in both:
            process.ended(seconds=4 * TIMEOUT)
            assert "lost another one, or waited more than" in process.reason
        tally["links cut"] += 1
        link("up")
        for process in start(place, 29503):
            assert process.ended() == 0, process.err
    assert history(place) == history(tmp_path / "whole")
