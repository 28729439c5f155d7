"""Transactions as statements and drivers show them: what ends one, whether one is open."""

from __future__ import annotations

import re
from typing import Any

_IDLE, _IN_ERROR = 0, 3  # libpq: in no transaction; the server will roll back whatever is asked
ENDS = re.compile(
    r"(/\*M?!\d*)?\s*(COMMIT|END|ABORT|PREPARE\s+TRANSACTION|ROLLBACK(?!\s+(\w+\s+)?TO\b))\b", re.I
)
_QUOTED = re.compile(  # strings, names, comments (not those that MySQL runs), PostgreSQL's bodies
    r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`[^`]*`|--[^\n]*|/\*(?!M?!).*?\*/|\$(\w*)\$.*?\$\1\$",
    re.DOTALL,
)
_HAS_STATEMENTS = re.compile(r"CREATE\b.*\b(TRIGGER|PROCEDURE|FUNCTION)\b", re.I | re.DOTALL)
BEGINS = re.compile(r"(BEGIN|START)\b", re.IGNORECASE)
OUTSIDE = re.compile(
    r"(PRAGMA|ATTACH|DETACH|VACUUM|SET|INSTALL|LOAD(?!\s+(DATA|XML)))\b", re.IGNORECASE
)
COMMITS_IN_MYSQL = re.compile(
    r"(/\*M?!\d*)?\s*(CREATE|ALTER|DROP|RENAME|TRUNCATE|LOCK|UNLOCK|GRANT|REVOKE|BEGIN|START|STOP"
    r"|ANALYZE|CACHE|CHANGE|CHECK|FLUSH|INSTALL|UNINSTALL|LOAD\s+INDEX|OPTIMIZE|REPAIR|RESET|XA"
    r"|SET\s+PASSWORD|SET\b.*\bautocommit)\b(?!\s+TEMPORARY)",
    re.IGNORECASE | re.DOTALL,
)
MYSQL = ("pymysql", "MySQLdb", "mysql", "mariadb")
ROLLED_BACK = (1205, 1213)  # MySQL: a lock that was waited for (by its settings), a deadlock
_UNKNOWN = ("40003", "08007")  # SQLSTATE: statement completion, transaction resolution unknown


def text_of(statement: Any, connection: Any) -> str:
    """Return the text of a statement, which psycopg also takes as bytes or composed, DuckDB
    as parsed.
    """
    if isinstance(statement, bytes | bytearray):
        return statement.decode("utf-8", "replace")
    composed = getattr(statement, "as_string", None)
    found = composed(connection) if composed else getattr(statement, "query", statement)
    return found if isinstance(found, str) else ""


def statements_of(text: str) -> list[str]:
    """Return the statements of a text, without what is quoted and without comments."""
    plain = _QUOTED.sub(" ", text)
    if _HAS_STATEMENTS.match(plain.lstrip()):
        return [plain.lstrip()]
    return [part for one in plain.split(";") if (part := one.strip())]


def execute(connection: Any, sql: str, parameters: Any = ()) -> Any:
    """Run a statement on a connection of any driver; the cursor with its result."""
    run = getattr(connection, "execute", None)
    if run is not None:
        return run(sql, parameters) if parameters else run(sql)
    cursor = connection.cursor()  # DB-API proper has it on cursors only
    if parameters:
        cursor.execute(sql, parameters)
    else:
        cursor.execute(sql)
    return cursor


def in_transaction(connection: Any) -> bool:
    """Return whether a driver says that a transaction is open; False of one that does not say."""
    inside = getattr(connection, "in_transaction", None)  # sqlite3, MySQL's own
    if isinstance(inside, bool):
        return inside
    status = getattr(getattr(connection, "info", None), "transaction_status", None)
    if status is not None:
        return int(status) != _IDLE
    return bool(getattr(connection, "server_status", 0) & 1)  # PyMySQL, of the last answer


def autocommits(connection: Any) -> bool:
    """Return whether each statement of a connection is a transaction of its own unless BEGIN was
    sent.
    """
    ask = getattr(connection, "get_autocommit", None)
    return bool(ask()) if callable(ask) else getattr(connection, "autocommit", None) is True


def unknown(error: BaseException) -> bool:
    """Return whether the database itself says that it does not know how the commit ended."""
    return getattr(error, "sqlstate", None) in _UNKNOWN


def doomed(connection: Any) -> bool:
    """Return whether the server will answer a commit with a rollback, and no error (PostgreSQL)."""
    status = getattr(getattr(connection, "info", None), "transaction_status", None)
    return status is not None and int(status) == _IN_ERROR
