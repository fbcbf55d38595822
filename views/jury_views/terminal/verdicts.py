"""Verdicts on a terminal: a glyph, the word and a decorative colour."""

from jury_events.verdict import FAIL, PASS, REVIEW, Verdict

VERDICTS = {
    PASS: (f"✓ {PASS}", "green"),
    REVIEW: (f"? {REVIEW}", "yellow"),
    FAIL: (f"✗ {FAIL}", "red"),
}
"""Text and rich style."""


def verdict_text(verdict: Verdict, label: str | None) -> tuple[str, str]:
    """Text and style of a verdict; the word of the panel's own scale stands before its outcome."""
    text, style = VERDICTS[verdict]
    return (text, style) if label is None else (f"{text[0]} {label} ({text[2:]})", style)
