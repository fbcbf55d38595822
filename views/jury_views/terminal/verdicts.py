"""Verdicts on a terminal: a glyph, the word and a decorative colour."""

from jury_events.verdict import Verdict

VERDICTS = {
    Verdict.SAFE_PASS: ("✓ safe_pass", "green"),
    Verdict.NEEDS_REVIEW: ("? needs_review", "yellow"),
    Verdict.UNSAFE_FAIL: ("✗ unsafe_fail", "red"),
}
"""Text and rich style."""
