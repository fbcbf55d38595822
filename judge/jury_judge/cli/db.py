"""`jury db`: the store's schema, and who may do what with it."""

import click

from jury_judge.cli import db_roles
from jury_judge.cli.exits import Exit
from jury_judge.cli.options import resolved_store, store_option


@click.group("db")
def command() -> None:
    """Create, upgrade and check the store's schema, and set up who may do what with it."""


command.add_command(db_roles.command)


@command.command("upgrade", short_help="Create the store, or bring its schema up to date.")
@store_option
def upgrade(store_url: str | None) -> int:
    """Create the store, or bring its schema up to date. Events are never rewritten."""
    from jury_migrations.upgrading import upgrade as bring_up

    print(f"the store has schema {bring_up(resolved_store(store_url))}")
    return Exit.DONE


@command.command("current", short_help="Tell the schema that the store has.")
@store_option
def current(store_url: str | None) -> int:
    """Tell the schema that the store has, and the one that this version of Jury Judge needs."""
    from jury_migrations.upgrading import current as schema_of
    from jury_store.schema import REVISION

    found = schema_of(resolved_store(store_url))
    print(f"store: {found or 'none'}; needed: {REVISION}")
    return Exit.DONE


@command.command("check", short_help="Compare the database with the declared schema.")
@store_option
def check(store_url: str | None) -> int:
    """Compare the database with the declared schema, its triggers and roles too; exits with 5 where they differ."""
    from jury_migrations.comparison import check as differences

    found = differences(resolved_store(store_url))
    for difference in found:
        print(difference)
    if not found:
        print("the schema is as declared")
    return Exit.INTEGRITY if found else Exit.DONE


@command.command("rebuild")
@store_option
def rebuild(store_url: str | None) -> int:
    """Make the lists of debates and runs anew from the log."""
    from jury_judge.views.counted import counted
    from jury_store.opening import open_store

    store = open_store(resolved_store(store_url), write=True, run="db rebuild")
    try:
        print(f"made anew from {counted(store.rebuild(), 'event')}")
    finally:
        store.close()
    return Exit.DONE
