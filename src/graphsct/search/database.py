"""A study in a PostgreSQL database, for machines that share no folder."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Self

from optuna.exceptions import StorageInternalError
from optuna.storages import RDBStorage
from sqlalchemy import URL, create_engine, make_url, text
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from graphsct.errors import TrainingError
from graphsct.extras import require

__all__ = ["Database", "without_secrets"]


class Database:
    """The database; as a context, it also marks this process as present in it.

    The mark and :attr:`lock` are advisory locks of PostgreSQL. They end with the connection that
    holds them, and so with the process, however it ends.

    Args:
        url: ``postgresql://user@host/database``
        name: name of the study
    """

    def __init__(self, url: str, name: str) -> None:
        self._url = _check_url(url)
        self.name = name
        self.worker = uuid.uuid4().hex
        self.place = f"study {name!r} in {without_secrets(self._url)}"
        self._closing = ExitStack()

    def __enter__(self) -> Self:
        engine = create_engine(self._url, isolation_level="AUTOCOMMIT")
        self._closing.callback(engine.dispose)
        try:
            self._connection = self._closing.enter_context(engine.connect())
        except SQLAlchemyError as error:
            raise self._failed("cannot open", error) from error
        self._ask("pg_advisory_lock", self.worker)
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._closing.close()
        if isinstance(error, SQLAlchemyError | StorageInternalError):
            raise self._failed("lost", error) from error

    @property
    @contextmanager
    def lock(self) -> Iterator[None]:
        """A context that holds the lock, for several entries that belong together."""
        self._ask("pg_advisory_lock", "")
        try:
            yield
        finally:
            self._ask("pg_advisory_unlock", "")

    def open(self) -> RDBStorage:
        """The storage for Optuna; its tables are created if they are missing."""
        storage = RDBStorage(self._url.render_as_string(hide_password=False))
        self._closing.callback(storage.engine.dispose)
        self._closing.callback(storage.remove_session)
        return storage

    def is_gone(self, worker: str | None) -> bool:
        """Whether the process with that name has ended, for any reason."""
        if worker is None or worker == self.worker:
            return worker is None
        gone = self._ask("pg_try_advisory_lock", worker)
        if gone:
            self._ask("pg_advisory_unlock", worker)
        return gone

    def _ask(self, function: str, name: str) -> bool:
        digest = hashlib.blake2b(f"graphsct {name}".encode(), digest_size=8).digest()
        key = int.from_bytes(digest, "big", signed=True)
        return bool(self._connection.execute(text(f"SELECT {function}({key})")).scalar())

    def _failed(self, what: str, error: BaseException) -> TrainingError:
        cause = str(getattr(error.__cause__, "orig", None) or getattr(error, "orig", error))
        return TrainingError(
            f"{what} {self.place}: {' '.join(cause.split())}. The results are kept: run the search "
            "again when the database is available to resume it"
        )


def without_secrets(url: URL) -> str:
    """The address with its password hidden, and of its parameters only the host and the port.

    Example:
        >>> without_secrets(make_url("postgresql://me:secret@/mine?host=here&password=secret"))
        'postgresql://me:***@/mine?host=here'
    """
    shown = {name: url.query[name] for name in ("host", "port") if name in url.query}
    return url.set(query=shown).render_as_string()


def _check_url(url: str) -> URL:
    require("psycopg", "postgres")
    try:
        found = make_url(url)
    except (ArgumentError, ValueError):  # for instance a word or a password in place of the port
        found = None
    # The message does not show the address: a part at the wrong place may be a password.
    if found is None or found.get_backend_name() != "postgresql" or "@" in (found.host or ""):
        raise TrainingError(
            "the database is not a PostgreSQL address such as postgresql://user@host/name, with "
            "%40 for an @ in a password; leave database=... out to keep the study in its folder"
        )
    return found.set(drivername="postgresql+psycopg")
