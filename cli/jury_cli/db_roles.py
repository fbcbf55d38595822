"""`jury db roles`: the logins of a store on PostgreSQL."""

import json
import os
from pathlib import Path

import click

from jury_cli.calls import call, database
from jury_cli.exits import Exit
from jury_cli.option_groups import options
from jury_cli.options import STORE

_MAY = {
    "owner": "upgrades the schema, sets these logins up, erases and rewrites tables; can also drop guards",
    "writer": "adds events, texts and seals, keeps the lists; cannot change or delete what is recorded",
    "reader": "reads",
    "eraser": "what the writer may, and deletes texts whose erasure is recorded",
}


@click.command("roles", short_help="Set up owner, writer, reader and eraser logins (PostgreSQL).")
@options(STORE)
@click.option("--prefix", metavar="NAME", help="What the logins' names begin with. [default: the database's name]")
@click.option(
    "--passwords",
    "file",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("jury.pgpass"),
    show_default=True,
    help="Where new passwords are put, in the form of PostgreSQL's password file, for your eyes only.",
)
@click.option("--new-passwords", is_flag=True, help="Draw new passwords for logins that are there, too.")
@click.option("--json", "as_json", is_flag=True, help="Print the logins as a JSON list.")
def command(*, store_url: str | None, prefix: str | None, file: Path, new_passwords: bool, as_json: bool) -> int:
    """Set up owner, writer, reader and eraser logins, each with no more rights than it needs (PostgreSQL).

    Call it as an administrator of the database; calling it again corrects what differs. The password of a new login
    is JURY_OWNER_PASSWORD, JURY_WRITER_PASSWORD, JURY_READER_PASSWORD or JURY_ERASER_PASSWORD where that is set, else
    drawn by lot. docs/postgresql.md documents the rights of each login.
    """
    from jury_cli.terminal import note

    given = {kind: os.environ.get(f"JURY_{kind.upper()}_PASSWORD", "") for kind in _MAY}
    logins, drawn = call(
        database(store_url).set_up_logins(file, prefix=prefix, passwords=given, new_passwords=new_passwords)
    )
    if as_json:
        fields = [{"kind": one.kind, "login": one.name, "store": one.store, "may": _MAY[one.kind]} for one in logins]
        print(json.dumps(fields, ensure_ascii=False))
    else:
        for login in logins:
            print(f"{login.kind:7} {login.store}\n        {_MAY[login.kind]}")
    if drawn:
        note(
            f"{drawn} new passwords are in {file}, which only you may read; clients find them with: "
            f"export PGPASSFILE={file.absolute()}"
        )
    kept = [login.kind for login in logins if login.password is None]
    if kept:
        note(f"the passwords of {', '.join(kept)} stay as they were; --new-passwords draws others")
    note("PUBLIC may no longer connect to this database: its owner can GRANT CONNECT to other logins that need it")
    return Exit.DONE
