"""SQLite for nbgrader's gradebook, as SQLAlchemy dialect `sqlite+tflabs`: for a process that writes many grades.

nbgrader makes a new engine for each step of each notebook, nine of them. An engine compiles every statement anew, and
asks for every table whether it is there. The engines of this dialect share what was compiled, and remember tables that
they have seen. They wait longer for a lock that somebody else's Formgrader holds.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import make_url
from sqlalchemy.dialects import registry
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite

_SCHEME, _NAME = "sqlite:", "sqlite+tflabs:"
_LOCK_SECONDS = 60.0


def with_dialect(db_url: str) -> str:
    """The same database through this dialect; another database than SQLite as it is."""
    if not db_url.startswith(_SCHEME):
        return db_url
    registry.register("sqlite.tflabs", __name__, SharingSQLite.__name__)
    return _NAME + db_url.removeprefix(_SCHEME)


def is_there(db_url: str) -> bool:
    """Whether the database exists, as far as its address tells."""
    database = make_url(db_url).database
    return not db_url.startswith("sqlite") or not database or Path(database).exists()


class SharingSQLite(SQLiteDialect_pysqlite):
    """All instances are one dialect to the cache of compiled statements, whose keys hold the dialect."""

    supports_statement_cache = True
    compiled: dict[Any, Any] = {}  # noqa: RUF012 (shared by all, that is the point)
    tables: set[tuple[str, str]] = set()  # noqa: RUF012

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self)

    def __hash__(self) -> int:
        return hash(type(self))

    @classmethod
    def engine_created(cls, engine: Any) -> None:
        engine.update_execution_options(compiled_cache=cls.compiled)

    def connect(self, *arguments: Any, **options: Any) -> Any:
        return super().connect(*arguments, **{"timeout": _LOCK_SECONDS} | options)

    def has_table(self, connection: Any, table_name: str, schema: str | None = None, **options: Any) -> bool:
        key = str(connection.engine.url), table_name
        if schema is None and key in self.tables:
            return True
        found = bool(super().has_table(connection, table_name, schema, **options))  # type: ignore[no-untyped-call]
        if found and schema is None:
            self.tables.add(key)
        return found
