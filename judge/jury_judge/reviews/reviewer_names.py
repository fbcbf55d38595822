"""What a new name of a reviewer may be; names on record may be others."""

from jury_events.hidden_characters import CONTROL, displayed_escaped

LONGEST = 300
"""Characters."""

RULE = f"a name has 1 to {LONGEST} printable characters, and no blank at either end"


def is_reviewer_name(name: str) -> bool:
    """Whether a name follows `RULE`: two that differ in what readers cannot see would pass for one person."""
    unseen = CONTROL.search(name) or displayed_escaped().search(name)
    return 1 <= len(name) <= LONGEST and name == name.strip() and not unseen
