"""`jury db`: the schema and the logins of a store."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from jury_cli import db_roles
from jury_cli.exits import Exit
from jury_cli.options import debate_ids, resolved_store, store_option

if TYPE_CHECKING:
    from jury_store.event_store import EventStore


@click.group("db")
def command() -> None:
    """Create, upgrade and check the store's schema, and set up its logins."""


command.add_command(db_roles.command)


@command.command("upgrade", short_help="Create the store, or bring its schema up to date.")
@store_option
def upgrade(store_url: str | None) -> int:
    """Create the store, or bring its schema up to date. Events are never rewritten."""
    from jury_migrations.upgrading import upgrade as bring_up

    print(f"the store has schema {bring_up(resolved_store(store_url))}")
    return Exit.DONE


@command.command("current", short_help="Print the schema that the store has.")
@store_option
def current(store_url: str | None) -> int:
    """Print the schema of the store, and the one that this version of Jury Judge needs."""
    from jury_migrations.upgrading import current as schema_of
    from jury_store.schema import REVISION

    found = schema_of(resolved_store(store_url))
    print(f"store: {found or 'none'}; needed: {REVISION}")
    return Exit.DONE


@command.command("check", short_help="Compare the database with the declared schema.")
@store_option
def check(store_url: str | None) -> int:
    """Compare the database with the declared schema, its triggers and roles too; exits with 5 if they differ."""
    from jury_migrations.comparison import check as differences

    found = differences(resolved_store(store_url))
    for difference in found:
        print(difference)
    if not found:
        print("the schema is as declared")
    return Exit.INTEGRITY if found else Exit.DONE


@command.command("quarantine", short_help="Set debates aside that get in the way.")
@click.argument("names", metavar="DEBATE...", nargs=-1, required=True, callback=debate_ids)
@click.option("--by", metavar="WHO", required=True, help="Who does it; recorded for ever.")
@click.option("--reason", metavar="WHY", required=True, help="Recorded for ever.")
@store_option
def quarantine(names: tuple[str, ...], *, by: str, reason: str, store_url: str | None) -> int:
    """Set debates aside: lists, runs and whatever works on many debates leave them out; named, they are still read.

    Nothing is moved or deleted: an event in the log says so. `jury verify` goes on to check that their bytes are as
    they were, and reads nothing in them. `jury list --quarantined` shows them, `jury db release` takes them back.
    """
    from functools import partial

    from jury_replay.quarantine import quarantine as into_quarantine

    return _each(store_url, names, partial(into_quarantine, by=by, reason=reason), "set aside")


@command.command("release", short_help="Take debates back out of quarantine.")
@click.argument("names", metavar="DEBATE...", nargs=-1, required=True, callback=debate_ids)
@click.option("--by", metavar="WHO", required=True, help="Who does it; recorded for ever.")
@store_option
def release(names: tuple[str, ...], *, by: str, store_url: str | None) -> int:
    """Release debates from quarantine."""
    from functools import partial

    from jury_replay.quarantine import release as take_back

    return _each(store_url, names, partial(take_back, by=by), "taken back")


def _each(store_url: str | None, names: tuple[str, ...], work: "Callable[[EventStore, str], bool]", done: str) -> int:
    from jury_cli.terminal import note
    from jury_store.opening import open_store

    store = open_store(resolved_store(store_url), write=True, run="db")
    try:
        for one in dict.fromkeys(names):
            note(f"{one}: {done}" if work(store, one) else f"{one}: nothing to do, it is {done} already")
    finally:
        store.close()
    return Exit.DONE


@command.command("rebuild")
@store_option
def rebuild(store_url: str | None) -> int:
    """Rebuild the lists of debates and runs from the log."""
    from jury_events.text.pluralize import pluralize
    from jury_store.opening import open_store

    store = open_store(resolved_store(store_url), write=True, run="db rebuild")
    try:
        print(f"made anew from {pluralize(store.rebuild(), 'event')}")
    finally:
        store.close()
    return Exit.DONE
