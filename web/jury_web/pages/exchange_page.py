"""One model call: the request as sent, and the answer as received."""

from collections.abc import Sequence
from typing import NamedTuple

from jury_events.debate_events import DebateForked, DebateOpened
from jury_events.debate_history import DebateHistory
from jury_events.exchange import ExchangeRecorded
from jury_events.ids import Step
from jury_events.parts import ImageRef, PartRef
from jury_views.case_view import marker_in, plain_prompt
from jury_views.debate_fold import role_of
from jury_web.pages.page_request import PageNotFound
from jury_web.pages.shown_items import PREVIEW, TextPreview, TextPreviews
from jury_web.pages.statement_views import RecordedCall, call_lines


class PromptPiece(NamedTuple):
    """A part of a message. `again`: the same text is shown above.

    `plain` is the text without the marks of judged text; None where it has none.
    """

    text: TextPreview
    again: bool = False
    plain: TextPreview | None = None


class PromptImage(NamedTuple):
    """An image after the text of a message; `size` in bytes, None where it was erased or is missing."""

    media_type: str
    size: int | None
    part: str


class SentMessage(NamedTuple):
    """One message of a prompt: its pieces, then its images."""

    role: str
    call_id: str | None
    pieces: tuple[PromptPiece, ...]
    pictures: tuple[PromptImage, ...] = ()


class ToolUse(NamedTuple):
    """A tool call of the model, with the result."""

    name: str
    call_id: str
    ok: bool
    arguments: TextPreview | None
    result: TextPreview | None


class ExchangeView(NamedTuple):
    """A call, its number in the stream, and the role of the seat (None: the final judge)."""

    number: int
    call: ExchangeRecorded
    role: str | None
    messages: tuple[SentMessage, ...]
    tools: tuple[ToolUse, ...]
    answer: TextPreview | None
    response: TextPreview | None
    sent: TextPreview | None
    error: TextPreview | None

    @property
    def step(self) -> Step:
        return Step.parse(self.call.step)

    @property
    def has_marks(self) -> bool:
        """Whether the prompt has marks of judged text."""
        return any(piece.plain is not None for message in self.messages for piece in message.pieces)


class ExchangeViews:
    """Makes views of the calls of one debate; with `once`, a long text is shown only the first time."""

    def __init__(self, opened: DebateOpened, previews: TextPreviews, *, once: bool = False) -> None:
        self._opened = opened
        self._previews = previews
        self._shown: set[str] | None = set() if once else None

    def view(self, line: RecordedCall) -> ExchangeView:
        call = line.exchange
        marker = self._marker(call)
        return ExchangeView(
            number=line.number,
            call=call,
            role=role_of(self._opened.panel, call.juror_id) if call.juror_id is not None else None,
            messages=tuple(
                SentMessage(
                    message.role,
                    message.call_id,
                    tuple(self._piece(ref, marker) for ref in message.parts),
                    tuple(self._picture(image) for image in message.images),
                )
                for message in call.request
            ),
            tools=tuple(
                ToolUse(
                    tool.name,
                    tool.call_id,
                    tool.ok,
                    self._previews.text(tool.arguments),
                    self._previews.text(tool.result),
                )
                for tool in call.tool_calls
            ),
            answer=self._previews.text(call.answer),
            response=self._previews.text(call.response),
            sent=self._previews.text(call.sent),
            error=self._previews.text(call.error),
        )

    def _picture(self, image: ImageRef) -> PromptImage:
        content = self._previews.contents.get(image.content.part)
        return PromptImage(image.media_type, None if content is None else len(content), image.content.part)

    def _marker(self, call: ExchangeRecorded) -> str | None:
        return marker_in(filter(None, (self._content(ref) for message in call.request for ref in message.parts)))

    def _piece(self, ref: PartRef, marker: str | None) -> PromptPiece:
        text = self._previews.text(ref)
        assert text is not None
        plain = self._plain(ref, marker)
        if self._shown is None or text.size <= PREVIEW:
            return PromptPiece(text, plain=plain)
        again = ref.part in self._shown
        self._shown.add(ref.part)
        return (
            PromptPiece(TextPreview(ref.part, "there", "", text.size), again=True)
            if again
            else PromptPiece(text, plain=plain)
        )

    def _plain(self, ref: PartRef, marker: str | None) -> TextPreview | None:
        text = self._content(ref)
        if text is None:
            return None
        plain = plain_prompt(text, marker)
        return None if plain == text else self._previews.passage(plain, ref)

    def _content(self, ref: PartRef) -> str | None:
        content = self._previews.contents.get(ref.part)
        return None if content is None else content.decode("utf-8", "backslashreplace")


def exchange_of(reading: DebateHistory, number: int) -> RecordedCall:
    found = next((call for call in call_lines(reading) if call.number == number), None)
    if found is None:
        raise PageNotFound(
            f"debate {reading.debate_id} has no model call {number}; the page of the debate lists its calls"
        )
    return found


def secrets_of(reading: DebateHistory) -> frozenset[str]:
    """The parts that no page serves: the secrets of ballot ids."""
    return frozenset(_secrets(reading.events))


def _secrets(events: Sequence[object]) -> set[str]:
    found = set()
    for event in events:
        match event:
            case DebateOpened():
                found.add(event.secret.part)
            case DebateForked():
                found |= {event.secret.part, *(one.secret.part for one in event.inherited_steps)}
            case _:
                pass
    return found
