"""How far a debate is, in a word."""

from typing import Literal

DebateStatus = Literal["evaluating", "discussing", "judging", "completed", "failed", "cancelled", "unreadable"]
"""`unreadable`: what is recorded is no debate that this version can read; `DebateRow.problem` says why."""
