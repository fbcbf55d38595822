"""What labels say beside a verdict: the first message where it went wrong, as people or another tool named it,
whether the outcome is correct all the same, and the label in the words of a scale.

It is label data: in the metadata of a case, which no juror is shown.
"""

import re
from collections.abc import Mapping
from typing import Any

DECISIVE_MESSAGE = "decisive_message"
"""Metadata: the number of the message in the source, from 0. It is of the only scenario."""

DECISIVE_AGENT = "decisive_agent"
"""Metadata: the name of the agent at fault."""

OUTCOME_CORRECT = "outcome_correct"
"""Metadata: whether the outcome is correct, also where something went wrong on the way (a silent fault)."""

SCALE_LABEL = "scale_label"
"""Metadata: the label in the words of the panel's scale, where the case is judged in one."""

LABEL_METADATA = (DECISIVE_MESSAGE, DECISIVE_AGENT, OUTCOME_CORRECT, SCALE_LABEL)
"""The metadata that are label data."""

_LABEL_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}", re.ASCII)


def decisive_message(metadata: Mapping[str, Any]) -> int | None:
    """The number of the decisive message; None where the metadata name none."""
    found = metadata.get(DECISIVE_MESSAGE)
    return found if isinstance(found, int) and not isinstance(found, bool) and found >= 0 else None


def outcome_correct(metadata: Mapping[str, Any]) -> bool | None:
    """Whether the outcome is correct; None where the metadata do not say so by true or false."""
    found = metadata.get(OUTCOME_CORRECT)
    return found if isinstance(found, bool) else None


def scale_label(metadata: Mapping[str, Any]) -> str | None:
    """The label in the words of a scale; None where the metadata name none."""
    found = metadata.get(SCALE_LABEL)
    return found if isinstance(found, str) and _LABEL_ID.fullmatch(found) else None
