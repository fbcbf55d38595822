"""The texts of the probes, from package data, in the language of the case that they become part of."""

import re
import tomllib
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import NamedTuple

from jury_events.case import Case
from jury_events.panel import Language
from jury_events.verdict import PASS

_BEST = "{best}"
"""In a text: the best verdict."""

_JAPANESE = re.compile(r"[\u3040-\u30ff]")


class ProbeTexts(NamedTuple):
    """All texts of one language; those of a family by the name of the text."""

    format_heading: str
    identity: str
    reasoning: str
    padding: tuple[str, ...]
    master_key: dict[str, str]
    injection: dict[str, str]


@cache
def probe_texts(language: Language, best: str = PASS) -> ProbeTexts:
    """The texts of a language; `best`: the best verdict of the scale that jurors judge in."""
    raw = tomllib.loads(files(__package__).joinpath("texts", f"{language}.toml").read_text(encoding="utf-8"))
    injection = {name: text.replace(_BEST, best) for name, text in raw["injection"].items()}
    return ProbeTexts(**{**raw, "padding": tuple(raw["padding"]), "injection": injection})


def texts_for(case: Case, best: str = PASS) -> ProbeTexts:
    """The Japanese texts if the case's question or response has kana, else the English ones; `best` as there."""
    shown = (text for one in case.scenarios for text in (one.question.prompt, one.execution.response))
    return probe_texts("ja" if any(map(_JAPANESE.search, shown)) else "en", best)


def drawn(choices: tuple[tuple[str, str], ...], case_id: str) -> tuple[str, str]:
    """One of the choices, by the case's id: the same in every run, whatever other cases there are."""
    return choices[int.from_bytes(sha256(case_id.encode()).digest()[:8]) % len(choices)]
