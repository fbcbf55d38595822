"""`jury db`: the schema and the lists of a store."""

from collections.abc import Callable

import click

from jury_cli.calls import call, database
from jury_cli.exits import Exit
from jury_cli.option_groups import options
from jury_cli.options import STORE, debate_ids
from jury_cli.streams import note
from jury_events.text import pluralize


@click.group("db")
def command() -> None:
    """Create, upgrade and check the store's schema."""


@command.command("upgrade", short_help="Create the store, or bring its schema up to date.")
@options(STORE)
def upgrade(store_url: str | None) -> int:
    """Create the store, or bring its schema up to date. Events are never rewritten."""
    print(f"the store has schema {call(database(store_url).upgrade())}")
    return Exit.DONE


@command.command("current", short_help="Print the schema that the store has.")
@options(STORE)
def current(store_url: str | None) -> int:
    """Print the schema of the store, and the one that this version of Jury Judge needs."""
    revision = call(database(store_url).revision())
    print(f"store: {revision.found or 'none'}; needed: {revision.needed}")
    return Exit.DONE


@command.command("check", short_help="Compare the database with the declared schema.")
@options(STORE)
def check(store_url: str | None) -> int:
    """Compare the database with the declared schema, its triggers too; exits with 5 if they differ."""
    found = call(database(store_url).check())
    for difference in found:
        print(difference)
    if not found:
        print("the schema is as declared")
    return Exit.INTEGRITY if found else Exit.DONE


@command.command("quarantine", short_help="Set debates aside that get in the way.")
@click.argument("names", metavar="DEBATE...", nargs=-1, required=True, callback=debate_ids)
@click.option("--by", metavar="WHO", required=True, help="Who does it; recorded for ever.")
@click.option("--reason", metavar="WHY", required=True, help="Recorded for ever.")
@options(STORE)
def quarantine(names: tuple[str, ...], *, by: str, reason: str, store_url: str | None) -> int:
    """Set debates aside: lists, runs and whatever works on many debates leave them out; named, they are still read.

    Nothing is moved or deleted: an event in the log says so. `jury verify` goes on to check that their bytes are as
    they were, and reads nothing in them. `jury list --quarantined` shows them, `jury db release` takes them back.
    """
    call(database(store_url).quarantine(names, by=by, reason=reason, changed=_noting("set aside")))
    return Exit.DONE


@command.command("release", short_help="Take debates back out of quarantine.")
@click.argument("names", metavar="DEBATE...", nargs=-1, required=True, callback=debate_ids)
@click.option("--by", metavar="WHO", required=True, help="Who does it; recorded for ever.")
@options(STORE)
def release(names: tuple[str, ...], *, by: str, store_url: str | None) -> int:
    """Release debates from quarantine."""
    call(database(store_url).release(names, by=by, changed=_noting("taken back")))
    return Exit.DONE


def _noting(done: str) -> Callable[[str, bool], None]:
    def note_change(debate_id: str, changed: bool) -> None:
        note(f"{debate_id}: {done}" if changed else f"{debate_id}: nothing to do, it is {done} already")

    return note_change


@command.command("rebuild")
@options(STORE)
def rebuild(store_url: str | None) -> int:
    """Rebuild the lists of debates and runs from the log."""
    print(f"made anew from {pluralize(call(database(store_url).rebuild()), 'event')}")
    return Exit.DONE
