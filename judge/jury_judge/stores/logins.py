"""The logins of a store on PostgreSQL, with passwords drawn by lot."""

import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from jury_judge.stores.password_file import Entry, keep_passwords
from jury_migrations.logins import DatabaseAddress, Login, set_up_logins

_PASSWORD_BYTES = 24


class NewLogins(NamedTuple):
    """The logins, and how many passwords were drawn."""

    logins: tuple[Login, ...]
    drawn: int


def set_up(url: str, file: Path, *, prefix: str | None, passwords: Mapping[str, str], anew: bool) -> NewLogins:
    """Set the logins up; arguments and errors as of `Database.set_up_logins`."""
    drawn: set[str] = set()

    def password(kind: str, new: bool) -> str | None:
        given = passwords.get(kind)
        if given or not (new or anew):
            return given or None
        drawn.add(kind)
        return secrets.token_urlsafe(_PASSWORD_BYTES)

    def keep(place: DatabaseAddress, logins: Sequence[Login]) -> None:
        # A client on the server's own machine looks for localhost, unless its URL names the folder of the socket.
        hosts = [place.host, "localhost"] if place.host.startswith("/") else [place.host]
        entries = [
            Entry(host, place.port, place.database, login.name, login.password)
            for login in logins
            if login.kind in drawn and login.password is not None
            for host in hosts
        ]
        if entries:
            keep_passwords(file, entries)

    logins = set_up_logins(url, prefix=prefix, passwords=password, save=keep)
    return NewLogins(tuple(logins), len(drawn))
