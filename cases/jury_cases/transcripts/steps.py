"""Steps: what a declared format makes of one message, and of the parts in it.

Of the steps of a list the first whose condition holds is taken. Its keys are applied in the order in which they are
written, to the message that the expressions are about.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, Self, cast

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    PrivateAttr,
    ValidatorFunctionWrapHandler,
    model_validator,
)

from jury_cases.errors import CaseFileError
from jury_cases.transcripts.authors import AUTHORS, MessageAuthor, MessageKind
from jury_cases.transcripts.blocks import BlockReader
from jury_cases.transcripts.builder import Speaker, TranscriptBuilder
from jury_cases.transcripts.chat import BOOKKEEPING, KINDS, RESULTS, read_end, read_message
from jury_cases.transcripts.expressions import AbandonedBranch, Expression, ExpressionReading, is_false
from jury_cases.transcripts.gemini import read_content
from jury_cases.transcripts.json_values import as_text, is_blank, text_or_none
from jury_cases.transcripts.responses import is_item, read_item
from jury_events.transcript import Event, Origin, Reasoning, Refusal, ToolCall

Who = Literal["user", "agent", "system", "tool", "environment", "event", "thought"]
"""Whose a text is; `event` has no speaker, `thought` the agent's own."""

_MESSAGES: Mapping[str, MessageKind] = {"user": "user", "agent": "assistant", "system": "system"}
_WHO: Mapping[MessageKind, Who] = {"user": "user", "assistant": "agent", "system": "system"}
_RETURNED = frozenset({"tool", "environment"})
_ORIGINS: Mapping[Who | None, Origin] = {
    "tool": "tool",
    "environment": "environment",
    "event": "environment",
    "thought": "model",
}
_WORDS = cast("dict[str, Who]", {**{word: _WHO[kind] for word, kind in KINDS.items()}, **RESULTS})


class Declared(BaseModel):
    """A part of a declared format."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class DeclaredCall(Declared):
    """A tool call: its id, the tool's name (without `prefix`, a word), the arguments."""

    id: Expression | None = None
    name: Expression
    arguments: Expression | None = None
    prefix: str = ""


class DeclaredResult(Declared):
    """A tool's result: the id of its call, the tool's name (without `prefix`), the text or JSON, whether it failed."""

    id: Expression | None = None
    name: Expression | None = None
    text: Expression
    error: Expression | None = None
    prefix: str = ""


class DeclaredEvent(Declared):
    """Something that happened, without a speaker: what it is called (a word), and a text."""

    called: str
    text: Expression
    origin: Origin = "environment"


class DeclaredHidden(Declared):
    """What jurors are not shown: what it is called (words), and its value."""

    called: str
    of: Expression


class DeclaredFile(Declared):
    """A file: base64 data or a URL, its media type, its name."""

    data: Expression | None = None
    url: Expression | None = None
    media_type: Expression | None = None
    name: Expression | None = None


class DeclaredParts(Declared):
    """Parts of a message, and the steps for each of them.

    `parallel`: calls that stand one after another were made at once, so that their results follow the last of them.
    """

    of: Expression
    steps: "Steps"
    parallel: bool = False


def _as_list(value: Any) -> Any:
    """A list of what may be a single one, or a list in a list, as a repeated part of YAML is."""
    if isinstance(value, list):
        return [one for inner in value for one in (_as_list(inner) if isinstance(inner, list) else [inner])]
    return [value] if isinstance(value, Mapping) else value


_Parts = Annotated[tuple[DeclaredParts, ...], BeforeValidator(_as_list)]


class DeclaredUndo(Declared):
    """Messages that were taken back: those since the one whose `id` is `to`, or since the start of `turns` turns."""

    to: Expression | None = None
    id: Expression = "id"
    turns: Expression | None = None


class DeclaredStep(Declared):
    """What is made of a message, or of a part of one.

    Attributes:
        when: a condition; None: always.
        by: whose the message is.
        role: the word that says whose it is, instead of `by`; of a part: that of its message.
        name: of the speaker.
        thought, text, refusal, call, result, event, file: what it says, calls, returns.
        not_shown: what of it is named as not shown.
        standing: instructions that each message repeats, shown where they change.
        message: a message in the form of a provider, which is read as such; its role is the one here if it has none.
        end: the reason why an answer ended.
        parts: lists in it.
        undo: which messages before it it takes back; they are named as an abandoned branch.
        pieces: the field whose text goes on in the next message of this step, as a stream's pieces do; they are one.
        nothing: it says nothing to jurors; none of its fields counts as not shown.
        ignore: names of fields that say nothing; `*`: all that no expression reads.
    """

    when: Expression | None = None
    by: Who | None = None
    role: Expression | None = None
    name: Expression | None = None
    thought: Expression | None = None
    text: Expression | None = None
    refusal: Expression | None = None
    call: DeclaredCall | None = None
    result: DeclaredResult | None = None
    event: DeclaredEvent | None = None
    file: DeclaredFile | None = None
    not_shown: DeclaredHidden | None = None
    standing: Expression | None = None
    message: Expression | None = None
    end: Expression | None = None
    parts: _Parts = ()
    undo: DeclaredUndo | None = None
    pieces: str | None = None
    nothing: bool = False
    ignore: frozenset[str] = frozenset()
    _order: tuple[str, ...] = PrivateAttr(default=())

    @model_validator(mode="wrap")
    @classmethod
    def _in_order(cls, value: Any, handler: ValidatorFunctionWrapHandler) -> Self:
        step: Self = handler(value)
        if isinstance(value, Mapping):
            step._order = tuple(name for name in value if name in _ACTIONS)
        return step

    @property
    def order(self) -> tuple[str, ...]:
        """Its keys that make items, as they were written."""
        return self._order

    @property
    def only_text(self) -> bool:
        """Whether it makes a text, of the speaker of its message."""
        return self._order == ("text",) and not (self.by or self.role or self.name or self.nothing or self.undo)


Steps = Annotated[tuple[DeclaredStep, ...], BeforeValidator(_as_list)]
"""Steps, or a single one."""

DeclaredParts.model_rebuild()
_PLAIN = frozenset({"called", "origin", "prefix"})
"""What is no expression."""

_ACTIONS = (
    *("thought", "text", "refusal", "call", "result", "event", "file", "not_shown", "standing", "message", "end"),
    "parts",
)


class _StepSpeaker:
    """Who speaks: a kind of message or an origin of results, and the author as the record writes him."""

    def __init__(self, who: Who | None, role: str, name: str | None) -> None:
        self.who = who
        kind = _MESSAGES.get(who or "")
        self.kind: MessageKind = kind or "speaker"
        self.origin: Origin = AUTHORS[kind] if kind else _ORIGINS.get(who, "unknown")
        self.author = MessageAuthor(role, name, known=who is not None)
        self.role = role


class StepReader:
    """Applies the steps of a declared format to messages.

    Args:
        roles: what the format's words for roles mean, in lower case.
    """

    def __init__(
        self,
        steps: Sequence[DeclaredStep],
        roles: Mapping[str, Who],
        ignore: frozenset[str],
        reading: ExpressionReading,
        builder: TranscriptBuilder,
    ) -> None:
        self._steps = steps
        self._roles = {**_WORDS, **{word.casefold(): who for word, who in roles.items()}}
        self._ignore = ignore | BOOKKEEPING | {"role"}
        self._reading = reading
        self._builder = builder
        self._waiting: list[Callable[[], None]] | None = None
        """The results of calls that were made at once; None: results follow their calls."""
        self._standing = ""

    def read(self, messages: Any, place: str) -> None:
        """Read a list of messages, or a single one."""
        listed = _listed(messages)
        for index, message in self._builder.messages.of_list(
            self._whole(self._kept(listed, place), place), len(listed)
        ):
            self._element(self._steps, message, _StepSpeaker("event", "record", None), f"{place}.{index}")

    def _kept(self, listed: list[Any], place: str) -> list[tuple[int, Any]]:
        """The messages with their numbers; those that a later one takes back are one branch."""
        undoing = [step for step in self._steps if step.undo]
        if not undoing:
            return list(enumerate(listed))
        kept: list[tuple[int, Any]] = []
        for index, message in enumerate(listed):
            step = self._step(undoing, message, place)
            first = None if step is None or step.undo is None else self._undone(step.undo, message, kept, place)
            if first is not None:
                kept[first:] = [(kept[first][0], AbandonedBranch(nodes=[one for _, one in kept[first:]]))]
            kept.append((index, message))
        return kept

    def _whole(self, kept: list[tuple[int, Any]], place: str) -> list[tuple[int, Any]]:
        """The messages, those that are pieces of one text joined; it has the number of the first piece."""
        if not any(step.pieces for step in self._steps):
            return kept
        whole: list[tuple[int, Any]] = []
        before: DeclaredStep | None = None
        for index, message in kept:
            step = self._step(self._steps, message, place) if isinstance(message, dict) else None
            if step is not None and step is before and step.pieces is not None:
                first, said = whole[-1]
                text = as_text(said.get(step.pieces)) + as_text(message.get(step.pieces))
                whole[-1] = first, {**said, step.pieces: text}
            else:
                whole.append((index, message))
            before = step
        return whole

    def _undone(self, undo: DeclaredUndo, message: Any, kept: list[tuple[int, Any]], place: str) -> int | None:
        """Where in the list the first message stands that another one takes back; None: it takes none back."""
        said = [(at, one) for at, (_, one) in enumerate(kept) if not isinstance(one, AbandonedBranch)]
        to, turns = self._value(undo.to, message, place), self._value(undo.turns, message, place)
        if to is not None:
            return next((at for at, one in said if self._value(undo.id, one, place) == to), None)
        if type(turns) is not int or turns < 1:
            return None
        steps = [(at, self._step(self._steps, one, place)) for at, one in said]
        began = [at for at, step in steps if step is not None and step.by == "user"]
        return began[-turns:][0] if began else None

    def _step(self, steps: Sequence[DeclaredStep], element: Any, place: str) -> DeclaredStep | None:
        return next((one for one in steps if self._reading.holds(one.when, element, place)), None)

    def _element(self, steps: Sequence[DeclaredStep], element: Any, turn: _StepSpeaker, place: str) -> None:
        builder, reading = self._builder, self._reading
        if isinstance(element, AbandonedBranch):
            builder.not_shown("abandoned branch", "environment", place, element["nodes"])
            reading.take(element)
            return
        step = self._step(steps, element, place)
        if step is None:
            kind = as_text(element.get("type") or element.get("role")) if isinstance(element, dict) else ""
            builder.not_shown(f"message {kind or 'unnamed'}", turn.origin, place, element)
        elif step.nothing:
            self._results()
        else:
            reading.asked(step.when, element)
            since = reading.decoded
            said = self._turn(step, element, turn, place)
            with builder.by(said.author):
                for action in step.order:
                    self._apply(action, step, element, said, place)
                rest = reading.unread(element, self._ignore | step.ignore, place, since)
                for what, at, value in () if "*" in step.ignore | self._ignore else rest:
                    builder.not_shown(what, said.origin, at, value)
        reading.take(element)

    def _turn(self, step: DeclaredStep, element: Any, turn: _StepSpeaker, place: str) -> _StepSpeaker:
        name = None if step.name is None else text_or_none(self._value(step.name, element, f"{place}.name"))
        if step.by is not None:
            return _StepSpeaker(step.by, step.by, name)
        if step.role is None:
            return turn if name is None else _StepSpeaker(turn.who, turn.role, name)
        role = as_text(self._value(step.role, element, f"{place}.role")) or "unnamed role"
        return _StepSpeaker(self._roles.get(role.casefold()), role, name)

    def _value(self, expression: str | None, element: Any, place: str) -> Any:
        return None if expression is None else self._reading.value(expression, element, place)

    def _apply(self, action: str, step: DeclaredStep, element: Any, turn: _StepSpeaker, place: str) -> None:
        if action == "parts":
            for parts in step.parts:
                self._parts(parts, element, turn, place)
            return
        at, declared = f"{place}.{action}", getattr(step, action)
        if isinstance(declared, str):
            value = self._reading.value(declared, element, at)
            if action == "standing":
                self._stand(as_text(value), at)
                return
            if action == "text" or not is_blank(value):
                self._results()
                _SAID[action](value, turn, self._builder, at)
            return
        self._declared(declared, element, turn, at)

    def _declared(self, declared: Any, element: Any, turn: _StepSpeaker, at: str) -> None:
        values = {
            name: self._value(given, element, at)
            for name, given in declared
            if name not in _PLAIN and given is not None
        }
        match declared:
            case DeclaredCall():
                self._call(values, declared.prefix, turn, at)
            case DeclaredResult():
                self._result(values, declared.prefix, turn, at)
            case DeclaredEvent() if not is_blank(values["text"]):
                self._results()
                text = as_text(values["text"])
                self._builder.add(Event, at, origin=declared.origin, name=declared.called, text=text)
            case DeclaredHidden() if not is_blank(values["of"]):
                self._builder.not_shown(declared.called, turn.origin, at, values["of"])
            case DeclaredFile() if not is_blank(values):
                self._results()
                self._file(values, turn, at)

    def _parts(self, parts: DeclaredParts, element: Any, turn: _StepSpeaker, place: str) -> None:
        found = self._reading.elements(parts.of, element, f"{place}.parts")
        before, self._waiting = self._waiting, [] if parts.parallel else self._waiting
        run: list[tuple[int, Any, DeclaredStep]] = []
        for index, part in enumerate(_listed(found)):
            step = self._step(parts.steps, part, place) if turn.who in _MESSAGES else None
            if step is not None and step.only_text:
                run.append((index, part, step))
            else:
                self._texts(run, turn, place)
                self._element(parts.steps, part, turn, f"{place}.{index}")
        self._texts(run, turn, place)
        if parts.parallel:
            self._results()
        self._waiting = before

    def _texts(self, run: list[tuple[int, Any, DeclaredStep]], turn: _StepSpeaker, place: str) -> None:
        """Parts that are texts, one after another: one text."""
        since = self._reading.decoded
        said = [self._value(step.text, part, f"{place}.{index}.text") for index, part, step in run]
        if run:
            self._results()
            whole = said[0] if len(said) == 1 else [as_text(one) for one in said if not is_blank(one)]
            _text(whole, turn, self._builder, f"{place}.{run[0][0]}.text")
        for index, part, step in run:
            self._reading.asked(step.when, part)
            rest = self._reading.unread(part, self._ignore | step.ignore, f"{place}.{index}", since)
            for what, at, value in () if "*" in step.ignore | self._ignore else rest:
                self._builder.not_shown(what, turn.origin, at, value)
            self._reading.take(part)
        run.clear()

    def _results(self) -> None:
        waiting = self._waiting or []
        if self._waiting is not None:
            self._waiting = []
        for add in waiting:
            add()

    def _call(self, found: dict[str, Any], prefix: str, turn: _StepSpeaker, place: str) -> None:
        origin: Origin = turn.origin if turn.who in {"user", None} else "model"
        self._builder.add(
            ToolCall,
            place,
            origin=origin,
            call_id=text_or_none(found.get("id")),
            name=as_text(found["name"]).removeprefix(prefix) or "unnamed",
            arguments=as_text(found.get("arguments")),
        )

    def _result(self, found: dict[str, Any], prefix: str, turn: _StepSpeaker, place: str) -> None:
        if found["text"] is None and is_false(found.get("error")):
            return
        speaker = Speaker(
            None,
            "environment" if turn.who == "environment" else "tool",
            call_id=text_or_none(found.get("id")),
            tool=text_or_none(as_text(found.get("name")).removeprefix(prefix)),
            error=not is_false(found.get("error")),
        )

        def add() -> None:
            BlockReader(speaker, self._builder).read(found["text"], place)

        if self._waiting is None:
            add()
        else:
            self._waiting.append(add)

    def _stand(self, text: str, place: str) -> None:
        if text and text != self._standing:
            self._standing = text
            self._builder.message("system", text, place)

    def _file(self, found: dict[str, Any], turn: _StepSpeaker, place: str) -> None:
        name, media = text_or_none(found.get("name")), found.get("media_type")
        if not is_blank(found.get("data")):
            self._builder.base64_file(found["data"], media, turn.origin, place, name=name)
        else:
            self._builder.url(found.get("url"), as_text(media) or "file", turn.origin, place, name=name)


def _listed(value: Any) -> list[Any]:
    """A list, or one of a single value; empty for nothing."""
    return value if isinstance(value, list) else [] if is_false(value) else [value]


def _text(value: Any, turn: _StepSpeaker, builder: TranscriptBuilder, place: str) -> None:
    if turn.who == "event":
        if not is_blank(value):
            builder.add(Event, place, origin="environment", name=turn.role, text=as_text(value))
    elif turn.who == "thought":
        _thought(value, turn, builder, place)
    elif turn.who in _RETURNED:
        BlockReader(Speaker(None, turn.origin), builder).read(value, place)
    else:
        if not isinstance(value, str | list | None):
            value = as_text(value)
        BlockReader(Speaker(turn.kind, turn.origin, turn.author.shown), builder).read(value, place)


def _thought(value: Any, turn: _StepSpeaker, builder: TranscriptBuilder, place: str) -> None:
    for one in value if isinstance(value, list) else [value]:
        if not is_blank(one):
            builder.add(Reasoning, place, origin="unknown" if turn.who is None else "model", text=as_text(one))


def _refusal(value: Any, turn: _StepSpeaker, builder: TranscriptBuilder, place: str) -> None:
    builder.add(Refusal, place, origin=turn.origin, text=as_text(value))


def _message(value: Any, turn: _StepSpeaker, builder: TranscriptBuilder, place: str) -> None:
    """A message as a provider writes it: items of OpenAI's Responses, contents of Gemini, else a role and content."""
    for one in value if isinstance(value, list) else [value]:
        if not isinstance(one, dict):
            raise CaseFileError(f"{place}: must be a message object")
        if isinstance(one.get("parts"), list):
            read_content({"role": _GEMINI.get(turn.who or "", turn.role), **one}, builder, place)
        elif is_item(one):
            read_item(one, builder, place)
        else:
            role = one.get("role")
            name = {} if turn.author.name is None else {"name": turn.author.name}
            known = {"user": "user", "agent": "assistant", "system": "system"}.get(turn.who or "", turn.role)
            read_message({**name, **one, "role": role if isinstance(role, str) else known}, builder, place)


_GEMINI = {"agent": "model", "user": "user", "system": "system", "tool": "tool"}


def _end(value: Any, _turn: _StepSpeaker, builder: TranscriptBuilder, place: str) -> None:
    read_end(value, builder, place)


_SAID = {"text": _text, "thought": _thought, "refusal": _refusal, "message": _message, "end": _end}
