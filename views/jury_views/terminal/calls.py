"""The model calls of a debate, one row a model."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from typing import NamedTuple

from jury_events.exchange import ExchangeRecorded, RequestMessage
from jury_events.models import is_other_model
from jury_events.outcome import CallOutcome
from jury_events.parts import ImageRef, PartRef
from jury_events.text import shown_size, visible_line
from jury_views.case_view import marker_in, plain_prompt
from jury_views.debate_fold import Texts, text_in
from jury_views.debate_labels import DebateLabels
from jury_views.page import Page, TextSpan
from jury_views.terms import term

_ERRORS = 10
"""How many different errors are shown, the most frequent first."""


class UncachedCost(NamedTuple):
    """What calls would have cost without prompt caches, in US dollars, by the list prices of a day."""

    cost: float
    list_prices_of: date


def add_calls(
    page: Page,
    calls: Sequence[ExchangeRecorded],
    texts: Texts,
    words: DebateLabels,
    *,
    uncached: UncachedCost | None = None,
) -> None:
    """Attempts by outcome, tokens as the providers counted them, cost in US dollars; other models, what was taken off
    answers, and what failed.

    Where prompt caches were used, what was read from them and written to them, and what the calls would have cost
    without them (`uncached`, None: unknown). Nothing when there were no calls.
    """
    if not calls:
        return
    outcomes = [outcome for outcome in CallOutcome if any(call.outcome is outcome for call in calls)]
    models = list(dict.fromkeys(call.model for call in calls))
    rows = [
        (words.model, words.calls, *(term(outcome, words.language) for outcome in outcomes), words.tokens, words.cost)
    ]
    rows += [_row(model, [call for call in calls if call.model == model], outcomes, words) for model in models]
    if len(models) > 1:
        rows.append(_row(words.total, calls, outcomes, words))
    page.heading(words.calls)
    page.table(rows, indent=2)
    _add_caches(page, calls, words, uncached)
    others = Counter(
        (call.model, call.model_version)
        for call in calls
        if not call.simulated and is_other_model(call.model, call.model_version)
    )
    for (asked, answered), count in others.items():
        said = words.other_model.format(asked=asked, answered=answered)
        page.line(TextSpan(f"{said} ({count})", "yellow"), indent=2)
    stripped = Counter((call.model, name) for call in calls for name in call.stripped or ())
    for model in dict.fromkeys(model for model, _ in stripped):
        names = ", ".join(f"{name} ({count})" for (of, name), count in stripped.items() if of == model)
        page.line(words.stripped.format(model=model, names=names), indent=2)
    errors = Counter(
        f"{call.model}: {term(call.outcome, words.language)}: {visible_line(error)}"
        for call in calls
        if call.error is not None and (error := text_in(texts, call.error)) is not None
    )
    for said, count in errors.most_common(_ERRORS):
        page.line(TextSpan(f"{said} ({count})", "yellow"), indent=2)


def _add_caches(
    page: Page, calls: Sequence[ExchangeRecorded], words: DebateLabels, uncached: UncachedCost | None
) -> None:
    read = sum(call.usage.cached_input_tokens or 0 for call in calls)
    written = sum(call.usage.written_tokens for call in calls)
    if not read and not written:
        return
    share = read / max(1, sum(call.usage.input_tokens or 0 for call in calls))
    line = words.caches.format(read=f"{read:,}", share=f"{share:.0%}", written=f"{written:,}")
    if uncached is not None and uncached.cost:  # of what cost nothing, nothing is said
        line += words.without_caches.format(cost=f"${uncached.cost:.4f}", day=uncached.list_prices_of)
    page.line(line, indent=2)


def _row(
    name: str, calls: Sequence[ExchangeRecorded], outcomes: Iterable[CallOutcome], words: DebateLabels
) -> tuple[str, ...]:
    ended = [call.outcome for call in calls]
    read = _sum([call.usage.input_tokens for call in calls], "{:,}", words.unknown)
    written = _sum([call.usage.output_tokens for call in calls], "{:,}", words.unknown)
    cost = _sum([call.cost for call in calls], "${:.4f}", words.unknown)
    counts = (str(ended.count(outcome)) for outcome in outcomes)
    return (name, str(len(calls)), *counts, f"{read} / {written}", cost)


def _sum(values: Sequence[float | None], form: str, unknown: str) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return unknown
    return form.format(sum(known)) + ("" if len(known) == len(values) else f" + {unknown}")


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
