"""How long each provider keeps the beginning of a prompt that a call asks it to keep.

Source: the providers' pages on prompt caching, and the types of their SDKs (openai 3.52, anthropic 2.11).
"""

import re

from jury_debate.decision_seats import DECISION_PROTOCOLS
from jury_events.exchange import CacheLifetime
from jury_events.models import own_id
from jury_providers.endpoints import ApiProtocol

_GPT = re.compile(r"(?:^|/)gpt-(\d+)(?:\.(\d+))?(?!\d)")
_FIRST_MARKED = (5, 6)
"""Earlier models answer 400 to a mark."""


def lifetimes(protocol: ApiProtocol, model: str) -> tuple[CacheLifetime, ...]:
    """The lifetimes that a call may ask for, the shortest first; (): the provider keeps what it likes."""
    if protocol in DECISION_PROTOCOLS or protocol == "google":
        return ()
    if protocol == "anthropic":
        return ("5m", "1h")
    if not _takes_marks(model):
        return ()
    return ("30m", "12h") if protocol == "openai-responses" else ("30m",)


def _takes_marks(model: str) -> bool:
    found = _GPT.search(own_id(model))
    return found is not None and (int(found[1]), int(found[2] or 0)) >= _FIRST_MARKED
