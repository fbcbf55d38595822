"""Differences between a store's schema and the declared one: tables, keys, indexes, triggers, functions, rights."""

import re
from collections.abc import Iterator
from typing import Any

from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, inspect

from jury_store.schema import SEARCH_INDEX, SEARCH_SHADOWS, metadata
from jury_store.schema_statements import POSTGRES_FUNCTIONS, POSTGRES_TRIGGERS, SQLITE_TRIGGERS

_TRIGGERS = """
SELECT t.tgname, c.relname, p.proname, t.tgtype, t.tgenabled
  FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_proc p ON p.oid = t.tgfoid
 WHERE NOT t.tgisinternal AND c.relnamespace = current_schema()::regnamespace
"""
_FUNCTIONS = """
SELECT proname, prosrc, coalesce(array_to_string(proconfig, '; '), ''),
       'search_path=' || quote_ident(current_schema()) || ', pg_temp'
  FROM pg_proc WHERE pronamespace = current_schema()::regnamespace
"""

# The definition as PostgreSQL prints it, without the schema and types that it adds.
_SEARCH_INDEX = """
SELECT replace(replace(pg_get_indexdef(c.oid), quote_ident(current_schema()) || '.', ''), '::text', '')
  FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid
 WHERE c.relnamespace = current_schema()::regnamespace AND c.relname = 'search_index' AND i.indisvalid
"""


def _is_compared(_object: object, name: str | None, _kind: str, _reflected: object, _other: object) -> bool:
    """Alembic cannot compare the full-text index, which is compared below."""
    return name not in SEARCH_SHADOWS


_COMPARED = {"compare_type": True, "compare_server_default": True, "include_object": _is_compared}

# The bits of pg_trigger.tgtype.
_ROW, _BEFORE, _INSERT, _DELETE, _UPDATE, _TRUNCATE = 1, 2, 4, 8, 16, 32
_VERBS = ((_INSERT, "INSERT"), (_UPDATE, "UPDATE"), (_DELETE, "DELETE"), (_TRUNCATE, "TRUNCATE"))
_ALWAYS = "A"


def schema_differences(connection: Connection) -> Iterator[str]:
    """The differences between the tables, keys, indexes, triggers and functions and the declared ones."""
    context = MigrationContext.configure(connection, opts=_COMPARED)
    yield from map(_described, compare_metadata(context, metadata))
    yield from _primary_keys(connection)
    yield from _sqlite(connection) if connection.dialect.name == "sqlite" else _postgres(connection)


def _described(difference: Any) -> str:
    """One entry of Alembic's comparison; changes of one column are a list."""
    if isinstance(difference, list):
        return "; ".join(_described(one) for one in difference)
    what, *rest = difference
    names = [str(getattr(one, "name", None) or one) for one in rest if one is not None and not isinstance(one, dict)]
    return f"{str(what).replace('_', ' ')}: {', '.join(names)}"


def _primary_keys(connection: Connection) -> Iterator[str]:
    """Alembic does not compare them."""
    inspector = inspect(connection)
    existing = set(inspector.get_table_names())
    for table in metadata.sorted_tables:
        if table.name not in existing:
            continue
        declared = [column.name for column in table.primary_key.columns]
        found = inspector.get_pk_constraint(table.name)["constrained_columns"]
        if found != declared:
            yield f"primary key of {table.name}: {', '.join(found) or 'none'} instead of {', '.join(declared)}"


def _sqlite(connection: Connection) -> Iterator[str]:
    yield from _search_index(
        "sqlite", connection.exec_driver_sql("SELECT sql FROM sqlite_master WHERE name = 'search_index'").scalar()
    )
    rows = connection.exec_driver_sql("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
    found = {name: _one_space(sql) for name, sql in rows}
    yield from _compared("trigger", {name: _one_space(sql) for name, sql in SQLITE_TRIGGERS.items()}, found)


def _postgres(connection: Connection) -> Iterator[str]:
    functions = {
        name: source if settings == fixed else f"{source} with {settings or 'no settings'}, not with {fixed}"
        for name, source, settings, fixed in connection.exec_driver_sql(_FUNCTIONS)
        if name.startswith("jury_")
    }
    yield from _compared("function", POSTGRES_FUNCTIONS, functions)
    found = {
        name: f"{_when(kind)} on {table} calls {function}{'' if enabled == _ALWAYS else ', not ENABLE ALWAYS'}"
        for name, table, function, kind, enabled in connection.exec_driver_sql(_TRIGGERS)
    }
    declared = {
        name: f"{one.when} {one.row_or_statement} on {one.table} calls {one.function}"
        for name, one in POSTGRES_TRIGGERS.items()
    }
    yield from _compared("trigger", declared, found)
    yield from _search_index("postgresql", connection.exec_driver_sql(_SEARCH_INDEX).scalar())


def _search_index(database: str, found: str | None) -> Iterator[str]:
    if found is None:
        yield "the index search_index is missing"
    elif _one_space(found) != SEARCH_INDEX[database]:
        yield f"the index search_index differs: {_one_space(found)}"


def _when(kind: int) -> str:
    verbs = [verb for bit, verb in _VERBS if kind & bit]
    moment = "BEFORE" if kind & _BEFORE else "AFTER"
    return f"{moment} {' OR '.join(verbs)} {'ROW' if kind & _ROW else 'STATEMENT'}"


def _compared(kind: str, declared: dict[str, str], found: dict[str, str]) -> Iterator[str]:
    for name in sorted(declared.keys() - found.keys()):
        yield f"{kind} {name} is missing"
    for name in sorted(found.keys() - declared.keys()):
        yield f"{kind} {name} is not declared"
    for name in sorted(found.keys() & declared.keys()):
        if found[name] != declared[name]:
            yield f"{kind} {name} differs: {found[name]}"


def _one_space(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()
