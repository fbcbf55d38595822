"""The last reply to calls that begin alike: a provider says why a later call did not read what that one wrote."""

from collections import OrderedDict

from jury_providers.endpoints import ProviderConnection
from jury_providers.provider import ModelRequest
from jury_providers.sdk.cache_marks import shared_digest

MAX_STARTS = 10_000
"""Beyond that the least recently used beginning is forgotten."""


class LastReplies:
    """The provider's ids of replies, by connection and beginning. They decide nothing: what is unknown is not asked."""

    def __init__(self) -> None:
        self._ids: OrderedDict[tuple[object, ...], str] = OrderedDict()

    def note(self, connection: ProviderConnection, request: ModelRequest, reply_id: str) -> None:
        """A call was answered with this id."""
        key = _key(connection, request)
        self._ids[key] = reply_id
        self._ids.move_to_end(key)
        if len(self._ids) > MAX_STARTS:
            self._ids.popitem(last=False)

    def before(self, connection: ProviderConnection, request: ModelRequest) -> str | None:
        """The id of the last reply to a call that begins like this one; None: there is none."""
        return self._ids.get(_key(connection, request))


LAST_REPLIES = LastReplies()
"""Of this process: the seats of a model are asked by different adapters."""


def _key(connection: ProviderConnection, request: ModelRequest) -> tuple[object, ...]:
    return (connection.name, connection.base_url, connection.key, shared_digest(request))
