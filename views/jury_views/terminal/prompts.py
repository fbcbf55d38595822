"""The prompts of a debate, call by call."""

from collections.abc import Callable, Sequence

from jury_events.exchange import ExchangeRecorded, RequestMessage
from jury_events.parts import ImageRef, PartRef
from jury_events.text import shown_size
from jury_views.case_view import marker_in, plain_prompt
from jury_views.debate_fold import Texts
from jury_views.page import Page, TextSpan

ERASED = "(erased)"


def prompts_page(calls: Sequence[ExchangeRecorded], texts: Texts, *, marked: bool) -> Page:
    """Every message of every call.

    Args:
        calls: in the order in which they are shown.
        texts: by reference; an erased one is said to be.
        marked: whether judged texts are shown with their marks, exactly as they were sent.
    """
    page = Page()
    for call in calls:
        page.heading(f"{call.event_id}: {call.outcome.value}")
        plain = _plain(call, texts, marked=marked)
        for message in call.request:
            page.blank()
            answers = f" ({message.call_id})" if message.call_id is not None else ""
            page.line(TextSpan(f"--- {message.role}{answers} ---", "dim"))
            page.text(plain(_text(message, texts)))
            for image in message.images:
                page.line(TextSpan(_picture(image, texts), "dim"))
    return page


def prompts_data(calls: Sequence[ExchangeRecorded], texts: Texts, *, marked: bool) -> list[dict[str, object]]:
    """The same for programs."""
    return [_call_data(call, texts, _plain(call, texts, marked=marked)) for call in calls]


def _call_data(call: ExchangeRecorded, texts: Texts, plain: Callable[[str], str]) -> dict[str, object]:
    return {
        "exchange": call.event_id,
        "outcome": call.outcome.value,
        "messages": [
            {
                "role": message.role,
                "text": plain(_text(message, texts)),
                "images": [_picture(image, texts) for image in message.images],
            }
            for message in call.request
        ],
    }


def _plain(call: ExchangeRecorded, texts: Texts, *, marked: bool) -> Callable[[str], str]:
    """How the texts of a call are shown."""
    marker = None if marked else marker_in(_text(message, texts) for message in call.request)
    return lambda text: plain_prompt(text, marker)


def _text(message: RequestMessage, texts: Texts) -> str:
    return "".join(_piece(ref, texts) for ref in message.parts)


def _piece(ref: PartRef, texts: Texts) -> str:
    content = texts.get(ref.part)
    return f"{ERASED}\n" if content is None else content.decode("utf-8", "backslashreplace")


def _picture(image: ImageRef, texts: Texts) -> str:
    content = texts.get(image.content.part)
    return f"picture: {image.media_type}, {ERASED if content is None else shown_size(len(content))}"
