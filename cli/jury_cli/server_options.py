"""The token that a server of this command asks for where none is given."""

from secrets import token_urlsafe
from typing import TYPE_CHECKING

from jury_cli.observation_options import TOKEN
from jury_cli.terminal import note

if TYPE_CHECKING:
    from jury_judge.settings.serving import ListeningSettings


def token_of(settings: "ListeningSettings", *, needed: bool) -> str | None:
    """The token that requests need; one that is needed and not given is generated and printed."""
    if settings.token is not None or not needed:
        return settings.token
    token = token_urlsafe(32)
    note(f"token: {token}   (printed once; --token or ${TOKEN} sets one)")
    return token
