"""What providers answer about batches: ids, times and lines."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from jury_events.outcome import CallOutcome
from jury_providers.batches.batch import PreparedBatch
from jury_providers.batches.failures import BatchUnavailable
from jury_providers.batches.json_members import JsonMember
from jury_providers.sdk.reply_parsing import text_at

LIST_SLACK = timedelta(days=1)
"""A batch is looked for among those from so long before it was prepared: the two clocks may differ."""

MOST_PAGES = 500
"""Of a provider's list of batches."""


def custom_id_in(line: Mapping[str, JsonMember], name: str) -> str:
    """The id in a line of results.

    Raises:
        ValueError: it has none.
    """
    found = line.get(name)
    if found is None or not isinstance(found.value, str) or not found.value:
        raise ValueError(f"it has no {name}")
    return found.value


def identity_in(document: Mapping[str, Any], name: str, what: str) -> str:
    """The id in what a provider answers.

    Raises:
        BatchUnavailable: it has none.
    """
    found = text_at(document, name)
    if found is None:
        raise missing(f"the provider names no id of the {what}")
    return found


def missing(message: str) -> BatchUnavailable:
    """What was done was answered with something else than what it is called."""
    return BatchUnavailable(message, CallOutcome.MALFORMED_RESPONSE, may_have_arrived=True)


def time_of(value: object) -> datetime | None:
    """A time as providers write it: seconds since 1970, or RFC 3339; None: it is none."""
    try:
        if isinstance(value, str):
            found = datetime.fromisoformat(value)
            return found if found.tzinfo is not None else found.replace(tzinfo=UTC)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC)
    except (ValueError, OverflowError, OSError):
        pass
    return None


def oldest_of(prepared: PreparedBatch) -> datetime:
    """Batches from before are not this one."""
    return prepared.prepared_at - LIST_SLACK
