"""SQLite files of Dagster's event log that stay open for as long as a run lasts.

Dagster opens a connection for each event and closes it again. When the last connection to a file
closes, SQLite writes its log back and removes it: several waits for the disk an event. One
connection that does nothing but stay open spares them, and every event is committed as before.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager

import dagster as dg
from dagster._core.storage.event_log import SqliteEventLogStorage


@contextmanager
def kept_open(instance: dg.DagsterInstance, run_id: str) -> Iterator[None]:
    """Keep the event log of a run open, and the index over all runs; of other storages, nothing."""
    storage = instance.event_log_storage
    with ExitStack() as stack:
        if isinstance(storage, SqliteEventLogStorage):
            # Whoever connects first makes the file and its tables. One after the other: they share
            # a lock.
            for connection in (storage.index_connection(), storage.run_connection(run_id)):
                with connection:
                    pass
            for shard in ("index", run_id):
                file = stack.enter_context(closing(sqlite3.connect(storage.path_for_shard(shard))))
                # A connection counts once it has read.
                file.execute("SELECT count(*) FROM sqlite_master").fetchall()
        yield
