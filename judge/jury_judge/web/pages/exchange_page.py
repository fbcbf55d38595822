"""One model call as it was sent and as it was answered, byte for byte where the reader asks for it."""

from collections.abc import Sequence
from typing import NamedTuple

from jury_events.debate_events import DebateForked, DebateOpened
from jury_events.exchange import ExchangeRecorded
from jury_events.ids import Step
from jury_events.parts import ImageRef, PartRef
from jury_judge.views.debate_record import role_of
from jury_judge.views.plain_prompt import plain_prompt
from jury_judge.web.pages.asked import NoSuchPage
from jury_judge.web.pages.spoken import CallLine, call_lines
from jury_judge.web.pages.texts import PREVIEW, Text, TextShelf
from jury_store.debate_history import DebateHistory


class Piece(NamedTuple):
    """A part of a message. `again`: the text was shown whole before, under the same `part`.

    `plain` is the text without the marks of judged texts, as people read it; None where it has none.
    """

    text: Text
    again: bool = False
    plain: Text | None = None


class Picture(NamedTuple):
    """A picture that followed a message's text; `size` in bytes, None where it was erased or is missing."""

    media_type: str
    size: int | None
    part: str


class SentMessage(NamedTuple):
    """One message of a prompt: the concatenation of its pieces, then its pictures."""

    role: str
    call_id: str | None
    pieces: tuple[Piece, ...]
    pictures: tuple[Picture, ...] = ()


class ToolUsed(NamedTuple):
    """A tool that the model asked for, and what it was given."""

    name: str
    call_id: str
    ok: bool
    arguments: Text | None
    result: Text | None


class ExchangeView(NamedTuple):
    """A call, `number` in its stream, and the role of who asked (None: the final judge)."""

    number: int
    call: ExchangeRecorded
    role: str | None
    messages: tuple[SentMessage, ...]
    tools: tuple[ToolUsed, ...]
    answer: Text | None
    response: Text | None
    sent: Text | None
    error: Text | None

    @property
    def step(self) -> Step:
        """Whose duty it was, and in which round."""
        return Step.parse(self.call.step)

    @property
    def has_marks(self) -> bool:
        """Something in the prompt is marked as judged text."""
        return any(piece.plain is not None for message in self.messages for piece in message.pieces)


class ExchangeShelf:
    """Calls of one debate made ready to be shown; with `once`, a long text is shown whole the first time only."""

    def __init__(self, opened: DebateOpened, shelf: TextShelf, *, once: bool = False) -> None:
        self._opened = opened
        self._shelf = shelf
        self._shown: set[str] | None = set() if once else None

    def view(self, line: CallLine) -> ExchangeView:
        """One call."""
        call = line.exchange
        return ExchangeView(
            number=line.number,
            call=call,
            role=role_of(self._opened.panel, call.juror_id) if call.juror_id is not None else None,
            messages=tuple(
                SentMessage(
                    message.role,
                    message.call_id,
                    tuple(self._piece(ref) for ref in message.parts),
                    tuple(self._picture(image) for image in message.images),
                )
                for message in call.request
            ),
            tools=tuple(
                ToolUsed(
                    tool.name, tool.call_id, tool.ok, self._shelf.text(tool.arguments), self._shelf.text(tool.result)
                )
                for tool in call.tool_calls
            ),
            answer=self._shelf.text(call.answer),
            response=self._shelf.text(call.response),
            sent=self._shelf.text(call.sent),
            error=self._shelf.text(call.error),
        )

    def _picture(self, image: ImageRef) -> Picture:
        content = self._shelf.contents.get(image.content.part)
        return Picture(image.media_type, None if content is None else len(content), image.content.part)

    def _piece(self, ref: PartRef) -> Piece:
        text = self._shelf.text(ref)
        assert text is not None
        plain = self._plain(ref)
        if self._shown is None or text.size <= PREVIEW:
            return Piece(text, plain=plain)
        again = ref.part in self._shown
        self._shown.add(ref.part)
        return Piece(Text(ref.part, "there", "", text.size), again=True) if again else Piece(text, plain=plain)

    def _plain(self, ref: PartRef) -> Text | None:
        content = self._shelf.contents.get(ref.part)
        if content is None:
            return None
        text = content.decode("utf-8", "backslashreplace")
        plain = plain_prompt(text)
        return None if plain == text else self._shelf.passage(plain, ref)


def exchange_of(reading: DebateHistory, number: int) -> CallLine:
    """The call of that number.

    Raises:
        NoSuchPage: there is none.
        EventError: a stored body does not decode.
    """
    found = next((call for call in call_lines(reading) if call.number == number), None)
    if found is None:
        raise NoSuchPage(f"debate {reading.debate_id} has no model call {number}; its page lists those that there are")
    return found


def secrets_of(reading: DebateHistory) -> frozenset[str]:
    """The parts that no page serves: what ballots derive from.

    Raises:
        EventError: a stored body does not decode.
    """
    return frozenset(_secrets(reading.events))


def _secrets(events: Sequence[object]) -> set[str]:
    found = set()
    for event in events:
        match event:
            case DebateOpened():
                found.add(event.secret.part)
            case DebateForked():
                found |= {event.secret.part, *(one.secret.part for one in event.inherited)}
            case _:
                pass
    return found
