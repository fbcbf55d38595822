"""The status of a debate in lists."""

from typing import Literal

DebateStatus = Literal["evaluating", "discussing", "judging", "completed", "failed", "cancelled", "unreadable"]
"""`unreadable`: this version cannot read the recorded events; `DebateRow.problem` has the reason."""
