"""Verdicts on a terminal: a glyph, the word and a decorative colour."""

from jury_events.verdict import Verdict

VERDICTS = {
    Verdict.SAFE_PASS: (f"✓ {Verdict.SAFE_PASS}", "green"),
    Verdict.NEEDS_REVIEW: (f"? {Verdict.NEEDS_REVIEW}", "yellow"),
    Verdict.UNSAFE_FAIL: (f"✗ {Verdict.UNSAFE_FAIL}", "red"),
}
"""Text and rich style."""


def verdict_text(verdict: Verdict, label: str | None) -> tuple[str, str]:
    """Text and style of a verdict; the word of the panel's own scale stands before its outcome."""
    text, style = VERDICTS[verdict]
    return (text, style) if label is None else (f"{text[0]} {label} ({text[2:]})", style)
