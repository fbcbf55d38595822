"""Durations and rates in the language of a page."""

import re

from jury_events.panel import Language
from jury_events.text import duration as english_duration
from jury_events.text import rate as english_rate

_UNITS = {"s": "秒", "min": "分", "h": "時間"}
_UNIT = re.compile(r" (s|min|h)\b ?")


def duration(seconds: float, language: Language) -> str:
    """`12 min 3 s`, `12分3秒`."""
    text = english_duration(seconds)
    return text if language == "en" else _UNIT.sub(lambda found: _UNITS[found[1]], text)


def rate(number: float, seconds: float, language: Language) -> str:
    """`5.6/min`, `毎分5.6`; "" if it is unknown."""
    text = english_rate(number, seconds)
    amount, _, unit = text.partition("/")
    return text if language == "en" or not text else f"毎{_UNITS[unit]}{amount}"
