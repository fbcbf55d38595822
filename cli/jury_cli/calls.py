"""Calls of the application: its coroutines in this thread."""

from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from jury_cli.options import resolved_store

if TYPE_CHECKING:
    from jury_judge.database import Database
    from jury_judge.records.records import Records

T = TypeVar("T")


def call(work: Coroutine[Any, Any, T]) -> T:
    """The result of a method of the application; signals end it as they end any other code of a command."""
    import asyncio

    return asyncio.run(work)


def stored(store_url: str | None) -> "Records":
    """The records of the store that a command names, which must exist; they are read in this thread."""
    from jury_judge.records.records import Records

    return Records(resolved_store(store_url), create=False, threads=False)


def database(store_url: str | None) -> "Database":
    """The database of the store that a command names; its work is done in this thread."""
    from jury_judge.database import Database

    return Database(resolved_store(store_url), threads=False)


def read_from(store_url: str | None, reading: "Callable[[Records], Coroutine[Any, Any, T]]") -> T:
    """The result of a method of the records that a command names, open meanwhile."""

    async def read() -> T:
        async with stored(store_url) as records:
            return await reading(records)

    return call(read())


@contextmanager
def opened(store_url: str | None, **options: Any) -> "Iterator[Records]":
    """The same, open while the context lasts, for work in an event loop that takes signals itself.

    Opening may take long, as of a database that does not answer; a signal ends it as it ends any other code.
    """
    from jury_judge.records.records import Records

    records = Records(resolved_store(store_url), create=False, threads=False, **options)
    call(records.__aenter__())
    try:
        yield records
    finally:
        call(records.__aexit__(None, None, None))
