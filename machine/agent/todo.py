"""The example's to-do list, kept in one SQLite file (contract §6).

Every operation is one transaction on a connection of its own, so a kill at any moment leaves the
list as it was before or as it is after, and several processes may use one file: SQLite's
rollback journal and its locks are what that rests on. `BEGIN IMMEDIATE` takes the write lock
before anything is read, since two readers that both want to write would wait for each other.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Annotated, Final, TypedDict

from pydantic import Field

LOCK_WAIT_SECONDS: Final = 30.0
"""How long an operation waits for another process before it fails."""

_TABLE: Final = """
CREATE TABLE IF NOT EXISTS todo (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    title TEXT NOT NULL CHECK (title <> ''),
    completed INTEGER NOT NULL DEFAULT 0 CHECK (completed IN (0, 1))
)
"""


class Todo(TypedDict):
    """One entry of the list."""

    todo_id: int
    title: str
    completed: bool


class NoSuchTodoError(LookupError):
    """There is no entry with this id."""


class TodoList:
    """A to-do list in the file `path`, which is made when it is first used.

    Its three public operations are the example agent's tools.
    """

    __slots__ = ("_path",)

    def __init__(self, path: Path | str) -> None:
        self._path = Path(path)

    def list_todos(self) -> list[Todo]:
        """All entries of the to-do list, in the order in which they were added."""
        with self._transaction() as db:
            rows = db.execute("SELECT id, title, completed FROM todo ORDER BY id").fetchall()
        return [_entry(row) for row in rows]

    def add_todo(
        self, title: Annotated[str, Field(min_length=1, max_length=1000, description="what to do")]
    ) -> Todo:
        """Add an entry to the to-do list; returns it with its id."""
        with self._transaction() as db:
            added = db.execute("INSERT INTO todo (title) VALUES (?)", (title,)).lastrowid
        return {"todo_id": int(added or 0), "title": title, "completed": False}

    def complete_todo(
        self, todo_id: Annotated[int, Field(ge=1, lt=2**63, description="the id of the entry")]
    ) -> Todo:
        """Mark an entry of the to-do list as completed; doing it twice changes nothing."""
        with self._transaction() as db:
            db.execute("UPDATE todo SET completed = 1 WHERE id = ?", (todo_id,))
            found = db.execute("SELECT id, title, completed FROM todo WHERE id = ?", (todo_id,))
            row = found.fetchone()
        if row is None:
            raise NoSuchTodoError(
                f"no entry has the id {todo_id}; list_todos shows those there are"
            )
        return _entry(row)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        db = sqlite3.connect(self._path, timeout=LOCK_WAIT_SECONDS, isolation_level=None)
        with closing(db):
            db.execute("BEGIN IMMEDIATE")
            try:
                db.execute(_TABLE)
                yield db
            except BaseException:
                if db.in_transaction:  # a full disk, say, has already ended it
                    db.execute("ROLLBACK")
                raise
            db.execute("COMMIT")


def _entry(row: tuple[int, str, int]) -> Todo:
    return {"todo_id": row[0], "title": row[1], "completed": bool(row[2])}
