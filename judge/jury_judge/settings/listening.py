"""Where a server listens, and which requests it takes."""

from jury_judge.settings.model import SettingsModel


class ListeningSettings(SettingsModel):
    """The settings of every server of a store.

    Attributes:
        host: the address to listen at.
        port: 0: any that is free.
        hosts: further names by which clients reach it, in lower case, with a port where it is not the usual one.
        token: that requests need. On loopback none is needed without one.
    """

    host: str = "127.0.0.1"
    port: int
    hosts: tuple[str, ...] = ()
    token: str | None = None
