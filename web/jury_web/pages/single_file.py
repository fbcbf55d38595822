"""A debate as one HTML file with whole texts, without scripts and external resources."""

from base64 import b64encode
from collections.abc import Iterator
from functools import cache
from hashlib import sha256

from jury_events.debate_history import DebateHistory
from jury_events.panel import Language
from jury_judge import IntegrityState
from jury_web.pages.debate_page import begun_event, debate_page
from jury_web.pages.exchange_page import ExchangeViews
from jury_web.pages.labels.page_labels import LABELS
from jury_web.pages.page_request import rendered, rendered_stream
from jury_web.pages.text_previews import TextPreviews

_STYLE = "style.css"


def single_file(reading: DebateHistory, integrity: IntegrityState, lang: Language) -> Iterator[str]:
    """The file, in chunks. Labels are in `lang`; a long text that several prompts share is written once."""
    page = debate_page(reading, integrity, limit=None)
    previews = ExchangeViews(page.opened, TextPreviews(reading.texts, reading.erased, None), once=True)
    return rendered_stream(
        "single_file.html",
        page=page,
        exchanges=[previews.view(line) for line in page.all_calls],
        lang=lang,
        labels=LABELS[lang],
        style=_STYLE,
        style_hash=_style_hash(),
        opened_at=reading.stored_events[0].recorded_at,
        begun=begun_event(reading),
    )


@cache
def _style_hash() -> str:
    """The Content-Security-Policy source of the style element (CSP 3, 2.3.1)."""
    return "sha256-" + b64encode(sha256(rendered(_STYLE).encode()).digest()).decode()
