import os
import shutil
import subprocess
import threading
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from together import (
    FAST,
    TASK,
    TRIALS,
    check_nothing_lost_or_counted_twice,
    kill_one_of_two,
    wait_for,
)

from graphsct import TrainingError
from graphsct.datasets import demo
from graphsct.search import search
from graphsct.search.blind import BlindData
from graphsct.search.worker import Plan

pytest.importorskip("psycopg", reason="psycopg is not installed: no database can be reached")

from graphsct.search.database import Database


def find(name):
    """A program of PostgreSQL's server, which Debian keeps out of the path."""
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return shutil.which(name, path=os.pathsep.join([os.environ["PATH"], *map(str, places)]))


@pytest.fixture(scope="module")
def server():
    """A server of our own that listens on no port, in a folder that its user can reach."""
    if find("initdb") is None:
        pytest.skip("there is no PostgreSQL server to start")
    with TemporaryDirectory(prefix="pg") as folder:
        yield from started(Path(folder))


def started(folder):
    """Start a server in a folder, yield the folder, and stop the server."""
    user = []
    if os.geteuid() == 0:  # which it refuses
        if (
            shutil.which("runuser") is None
            or subprocess.run(["id", "postgres"], capture_output=True).returncode
        ):
            pytest.skip("PostgreSQL refuses to run as root, and there is no user postgres")
        user = ["runuser", "-u", "postgres", "--"]
        shutil.chown(folder, "postgres")
        folder.chmod(0o755)
    line = dict(check=True, capture_output=True, cwd=folder)
    place = str(folder / "data")
    given = ["--auth=trust", "--username=tester", "--no-sync", "-D", place]
    subprocess.run([*user, find("initdb"), *given], **line)
    settings = f"-c listen_addresses= -c fsync=off -k {folder}"
    control = [*user, find("pg_ctl"), "-D", place, "-w"]
    subprocess.run([*control, "-o", settings, "-l", str(folder / "log"), "start"], **line)
    yield folder
    subprocess.run([*control, "-m", "immediate", "stop"], **line)


@pytest.fixture
def url(server, request):
    name = f"d{abs(hash(request.node.name))}"
    subprocess.run([find("createdb"), "-h", server, "-U", "tester", name], check=True)
    return f"postgresql://tester@/{name}?host={server}"


def test_of_two_processes_on_one_database_one_is_killed_in_mid_trial(url, tmp_path):
    folders = [tmp_path / "here" / "mine", tmp_path / "there" / "mine"]  # as on two machines
    plan = Plan(TASK, TRIALS, seed=0, runs=2, **FAST, until=None, folder=folders[0], database=url)
    with plan.open(BlindData.of(demo())) as study:
        had = kill_one_of_two(study, folders, url)
        check_nothing_lost_or_counted_twice(study, had, folders[1])
    assert not (folders[1] / "journal.jsonl").exists()
    again = search(TASK, trials=TRIALS, storage=folders[0], database=url, **FAST)
    assert (again.trials, again.failed) == (TRIALS, 0)


def test_workers_share_it_without_a_folder(url):
    found = search(TASK, trials=8, workers=2, database=url, **FAST)
    assert (found.trials, found.failed) == (8, 0)


def test_a_study_of_other_settings_is_refused_and_another_name_is_another_study(url, tmp_path):
    search(TASK, trials=2, storage=tmp_path / "a", database=url, **FAST)
    with pytest.raises(
        TrainingError, match=r"study 'a' in postgres.* belongs to another run: seed"
    ):
        search(TASK, trials=2, seed=1, storage=tmp_path / "a", database=url, **FAST)
    assert search(TASK, trials=2, seed=1, storage=tmp_path / "b", database=url, **FAST).trials == 2


def test_a_process_that_has_ended_is_gone_and_another_is_not(url):
    with Database(url, "s") as database:
        with Database(url, "s") as other:
            assert not database.is_gone(other.worker)
        wait_for(lambda: database.is_gone(other.worker))  # the server needs a moment to see it
        assert not database.is_gone(database.worker)
        assert database.is_gone(None)


CONNECTIONS = "FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()"
CUT, COUNT = f"SELECT pg_terminate_backend(pid) {CONNECTIONS}", f"SELECT count(*) {CONNECTIONS}"


def test_a_connection_that_is_lost_is_an_error_that_says_how_to_go_on(url):
    with (
        pytest.raises(TrainingError, match=r"lost study 's' in .*run the search again"),
        Database(url, "s") as database,
        Database(url, "s") as other,
    ):
        other._connection.exec_driver_sql(CUT)
        database.is_gone(None)
        with database.lock:
            pass


@contextmanager
def cutting(url):
    """Cut all connections whenever there are those of two workers and of their parent."""
    over = threading.Event()

    def cut():
        with Database(url, "cutter") as own:
            while not over.wait(0.1):
                if own._connection.exec_driver_sql(COUNT).scalar() > 4:
                    own._connection.exec_driver_sql(CUT)

    thread = threading.Thread(target=cut)
    thread.start()
    yield
    over.set()
    thread.join()


def test_two_workers_that_lose_it_end_with_one_line(url, tmp_path, capfd):
    message = r"(lost|cannot open) study 's' in .*run the search again"
    with cutting(url), pytest.raises(TrainingError, match=message):
        search(TASK, trials=400, workers=2, storage=tmp_path / "s", database=url, **FAST)
    assert "Traceback" not in capfd.readouterr().err
    found = search(TASK, trials=2, workers=2, storage=tmp_path / "s", database=url, **FAST)
    assert found.trials >= 2


@pytest.mark.parametrize("address", ["me:secret@/mine?host=", "me@/mine?password=secret&host="])
def test_a_server_that_is_not_there_does_not_show_the_password(tmp_path, address):
    url = f"postgresql://{address}{tmp_path}"
    with pytest.raises(TrainingError, match=r"cannot open study .*me.*@") as caught:
        search(TASK, trials=2, database=url, **FAST)
    assert "secret" not in str(caught.value)


WRONG = ["sqlite:///mine.db", "mine", "mysql://me:secret@host/mine", "postgresql://me:secret/mine"]
WRONG += ["postgresql://me:half@secret@host/mine", "postgresql://me:secret@host:port/mine"]


@pytest.mark.parametrize("url", WRONG)
def test_other_addresses_are_refused(url):
    message = r"not a PostgreSQL address such as postgresql://user@"
    with pytest.raises(TrainingError, match=message) as caught:
        search(TASK, trials=2, database=url, **FAST)
    assert "secret" not in str(caught.value)
    assert caught.value.__context__ is None
