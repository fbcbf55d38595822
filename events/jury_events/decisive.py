"""The decisive message of a case: the first message where it went wrong, as people or another tool named it.

It is label data: in the metadata of a case, which no juror is shown.
"""

from collections.abc import Mapping
from typing import Any

DECISIVE_MESSAGE = "decisive_message"
"""Metadata: the number of the message in the source, from 0. It is of the only scenario."""

DECISIVE_AGENT = "decisive_agent"
"""Metadata: the name of the agent at fault."""


def decisive_message(metadata: Mapping[str, Any]) -> int | None:
    """The number of the decisive message; None where the metadata name none."""
    found = metadata.get(DECISIVE_MESSAGE)
    return found if isinstance(found, int) and not isinstance(found, bool) and found >= 0 else None
