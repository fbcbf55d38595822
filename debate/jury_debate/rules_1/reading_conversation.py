"""A step that reads the record in parts: one call a part, independent of the others, then one that closes.

Where the closing call has no room for all findings, they are gathered first: calls that show as many as there is room
for ask for the most important ones, at most a third, until all fit. A closing call that is too long is asked
again with half of the room. So every finding is read by a call. Those against
the agent that a quotation bears out are gathered only where they alone are too many.

A request with all of the record that the provider finds too long is read in halves; so is a part, until it is small.
What the calls show beside their part is the same for all of them."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate, chain
from operator import attrgetter

from jury_debate.artifacts import tool_names
from jury_debate.assignment import Assignment, CallMessage
from jury_debate.conversation import Call, Reply, UnsettledFailure
from jury_debate.marking import mark
from jury_debate.prompts_1.texts import fill
from jury_debate.prompts_registry import load_prompts
from jury_debate.reading.coverage import read_in_all, record_read
from jury_debate.reading.outline import RecordOutline, cited_items, guide
from jury_debate.reading.planning import MOST_LEVELS, MOST_SHRINKS, WANTED_SHARE, findings_bytes, kept_findings
from jury_debate.reading.shown_record import ShownRecord, middle, picture_items, window_frame
from jury_debate.rules_1.conversation import StepConversation
from jury_debate.rules_1.evidence import KeptRecord, ShownEvidence, kept_record
from jury_debate.rules_1.findings import CheckedFinding, FindingTexts, batches, shown_findings
from jury_debate.rules_1.window_conversation import (
    FittedConversation,
    WholeConversation,
    WindowConversation,
    counted,
    failed,
)
from jury_debate.step_outcome import Answered, Blocked, Outcome, Unanswered
from jury_events.outcome import CallOutcome
from jury_events.parts import ImageRef, PartRef, PartRegistry
from jury_events.reading import CLOSING, RecordRead

_GUIDE = 24_000


_ROOM = 200_000
"""Bytes of what calls show where no window is known."""


_MOST_NAMED = 50
"""Items that are named as candidates for the decisive one."""


_calls, _unsettled = attrgetter("calls"), attrgetter("unsettled")


class ReadingConversation:
    """Implements `jury_debate.conversation.Conversation`."""

    def __init__(self, assignment: Assignment, parts: PartRegistry) -> None:
        self.assignment = assignment
        self.parts = parts
        assert assignment.reading is not None
        self._reading = assignment.reading
        self._prompts = load_prompts(assignment.prompts, assignment.language)
        self._whole: WholeConversation | None = None
        self._windows: list[WindowConversation] = []
        self._gathers: list[WindowConversation] = []
        self._batches: dict[str, list[CheckedFinding]] = {}
        self._findings: list[CheckedFinding] = []
        self._carried: list[CheckedFinding] = []
        self._covers: dict[str, frozenset[str]] = {}
        self._open: dict[str, WindowConversation] = {}
        self._closing: FittedConversation | None = None
        self._closed: list[str] = []
        self._turns = self._shrunk = 0
        self._level = 0
        self.outcome: Outcome | None = None
        if self._reading.mode == "whole":
            self._whole = WholeConversation(assignment, parts)
        else:
            self._plan()

    @property
    def calls(self) -> tuple[Call, ...]:
        """See `Conversation`."""
        return tuple(chain.from_iterable(map(_calls, self._asking)))

    @property
    def halted(self) -> CallOutcome | None:
        """See `Conversation`."""
        return next((one.halted for one in self._asking if one.halted is not None), None)

    def call_of(self, window: str | None) -> Call | None:
        """See `Conversation`."""
        if window is None:
            asked: StepConversation | None = self._whole
        else:
            asked = self._closing if window == CLOSING else self._open.get(window)
        return None if asked is None else asked.call

    def apply_reply(self, reply: Reply, window: str | None = None) -> None:
        """See `Conversation`."""
        # A recorded call that comes after others shows that these were concluded.
        while window is not None and (self._closing is None if window == CLOSING else window not in self._open):
            unsettled = self.unsettled
            assert unsettled, f"there is no part {window}"
            for one in unsettled:
                self.settle(one.window, again=False)
        self._asked_about(window).apply_reply(reply, window)
        self._go_on(window)

    @property
    def unsettled(self) -> tuple[UnsettledFailure, ...]:
        """See `Conversation`."""
        return tuple(chain.from_iterable(map(_unsettled, self._asking)))

    def settle(self, window: str | None, *, again: bool) -> None:
        """See `Conversation`."""
        self._asked_about(window).settle(window, again=again)
        self._go_on(window)

    @property
    def _asking(self) -> tuple[StepConversation, ...]:
        """The conversations that are not over: about all of the record, its parts, or what closes."""
        if self._closing is not None:
            return (self._closing,)
        return tuple(self._open.values()) or (() if self._whole is None else (self._whole,))

    def _asked_about(self, window: str | None) -> StepConversation:
        asked = self._whole if window is None else self._closing if window == CLOSING else self._open[window]
        assert asked is not None
        return asked

    def _go_on(self, window: str | None) -> None:
        """What follows of the last reply about a part, or of what was settled."""
        if window is None:
            self._after_whole()
        elif window == CLOSING:
            self._after_closing()
        elif window in self._batches:
            gather = self._open[window]
            if gather.over:
                del self._open[gather.label]
            if not self._open:
                self._take_gathered()
        else:
            self._after_window(self._open[window])

    def _after_whole(self) -> None:
        whole = self._whole
        assert whole is not None
        if not whole.too_long:
            self.outcome = whole.outcome
            return
        record = self._record.record
        half = middle(record, 0, len(record.content))
        if half is None:
            whole.ask_next_model()
            self.outcome = whole.outcome
        else:
            self._add([("1", (0, half)), ("2", (half, len(record.content)))], parts=2)

    def _after_window(self, window: WindowConversation) -> None:
        if not window.over:
            return
        del self._open[window.label]
        half = middle(self._record.record, window.start, window.end) if window.too_long else None
        if half is not None:
            halves = [(f"{window.label}.1", (window.start, half)), (f"{window.label}.2", (half, window.end))]
            self._add(halves, parts=self._parts)
        if not self._open:
            self._close()

    def _after_closing(self) -> None:
        closing = self._closing
        assert closing is not None
        if closing.too_long:
            self._closed += closing.exchanges
            self._turns, self._shrunk, self._closing = closing.turns, self._shrunk + 1, None
            self._gather_or_close()
            return
        exchanges = (*self._exchanges, *self._closed, *closing.exchanges)
        match closing.outcome:
            case Answered() as answered:
                self.outcome = counted(answered._replace(exchanges=exchanges), self._read, self.assignment)
            case Blocked() | Unanswered() as outcome:
                self.outcome = failed(outcome._replace(exchanges=exchanges), self._read)
            case None:
                pass

    @property
    def _record(self) -> KeptRecord:
        return kept_record(self.assignment, self.parts.content)

    def _plan(self) -> None:
        spans = [(self._places[first], self._places[behind]) for first, behind in self._reading.windows]
        before = self._reading.parts_before
        self._add([(str(number), span) for number, span in enumerate(spans, before + 1)], parts=before + len(spans))

    def _add(self, spans: list[tuple[str, tuple[int, int]]], *, parts: int) -> None:
        self._parts = parts
        record = self._record.record  # once: it is looked up by all parts of the case
        for label, span in spans:
            assignment = self.assignment._replace(messages=self._window_messages(record, label, span), tools=False)
            halved = middle(record, *span) is not None
            window = WindowConversation(assignment, self.parts, label, span, halved=halved)
            self._open[label] = window
            self._windows.append(window)

    def _window_messages(self, record: ShownRecord, label: str, span: tuple[int, int]) -> tuple[CallMessage, ...]:
        images = self._pictures(record, span)
        frame = window_frame(
            record,
            *span,
            self._prompts.texts,
            label=label,
            parts=self._parts,
            pictures=[number for number, _ in images],
        )
        block = (self.parts.make(frame.before), *self._slices(record, span), self.parts.make(frame.behind))
        instruction = self._prompts.window_instruction(
            self.assignment.spec.rubric, evidence=self.assignment.spec.evidence is not None
        )
        system, head, seat = self._common
        user = CallMessage(
            "user",
            (*head, *block, seat, self.parts.make(instruction)),
            images=tuple(image for _, image in images),
            shared=len(head) + len(block),
            blocks=(*(1 for _ in head), len(block)),
        )
        return (system, user)

    def _pictures(self, record: ShownRecord, span: tuple[int, int]) -> list[tuple[int, ImageRef]]:
        """The pictures of a part, by their numbers: those whose item begins in it; of no item: of the first part."""
        found: list[tuple[int, ImageRef]] = []
        for number, (image, of) in enumerate(zip(self._reading.images, self._picture_items, strict=True), 1):
            item = record.item(of)
            if span[0] <= (0 if item is None else item.start) < span[1]:
                found.append((number, image))
        return found

    @cached_property
    def _picture_items(self) -> tuple[int, ...]:
        """The numbers of the items of the pictures; 0: of none."""
        reading = self._reading
        if not reading.images or reading.pictures:
            return reading.pictures[: len(reading.images)]
        return picture_items(self._record.record, self._prompts.texts.case, len(reading.images))

    @cached_property
    def _places(self) -> list[int]:
        """Where the parts of the case begin in the record, and its end."""
        return [0, *accumulate(len(self.parts.content(ref.part)) for ref in self._reading.case)]

    def _slices(self, record: ShownRecord, span: tuple[int, int]) -> Iterator[PartRef]:
        """The parts of the case from `start` to `end`; where a cut is inside one, a part of its own is made."""
        start, end = span
        for place in range(bisect_right(self._places, start) - 1, bisect_left(self._places, end)):
            ref, at, behind = self._reading.case[place], self._places[place], self._places[place + 1]
            if start <= at and behind <= end:
                yield ref
            else:
                yield self.parts.make(record.content[max(start, at) : min(end, behind)])

    @cached_property
    def _common(self) -> tuple[CallMessage, tuple[PartRef, ...], PartRef]:
        """The system message, what all calls show before their part, and the seat's block."""
        system, user = self.assignment.messages[:2]
        head = user.parts[: user.shared]
        if self._reading.guide is None:
            shown = len(self._reading.case) if self._reading.mode == "whole" else 0
            head = (*head[: len(head) - shown], self._made_guide())
        return system, head, user.parts[user.shared]

    def _made_guide(self) -> PartRef:
        record = self._record.record
        outline = RecordOutline(record, self._prompts.texts.reading)
        return self.parts.make(guide(record, outline, self._prompts.texts, min(_GUIDE, len(record.content) // 8)))

    def _close(self) -> None:
        """Ask for the evaluation, unless nothing was read."""
        if not any(window.findings is not None for window in self._windows):
            self._give_up()
            return
        self._windows.sort(key=_place)
        evidence = None if self.assignment.spec.evidence is None else self._shown_evidence()
        self._covers = {window.label: frozenset({window.label}) for window in self._windows}
        self._findings = [one for window in self._windows for one in _checked(window, evidence)]
        self._gather_or_close()

    def _gather_or_close(self) -> None:
        """Gather the findings once more, where there is no room for all and that makes them fewer."""
        texts, room = self._finding_texts, self._findings_room
        written = list(map(texts.written, self._findings))
        fits = sum(len(text.encode()) + 1 for text in written) <= room
        self._carried, others = self._graver(written)
        groups = [] if fits or self._level == MOST_LEVELS else batches([written[place] for place in others], room)
        groups = [[others[place] for place in group] for group in groups]
        if not any(len(group) > 1 for group in groups):
            self._ask_to_close()
            return
        self._level += 1
        self._batches = {}
        for number, group in enumerate(groups, 1):
            label = f"g{self._level}.{number}"
            self._batches[label] = [self._findings[place] for place in group]
            self._covers[label] = frozenset().union(*(self._covers[one.label] for one in self._batches[label]))
            if len(group) > 1:
                self._open[label] = self._gather(label, [written[place] for place in group])
                self._gathers.append(self._open[label])

    def _graver(self, written: Sequence[str]) -> tuple[list[CheckedFinding], list[int]]:
        """The findings that are not gathered, and the places of the others.

        Those against the agent that a quotation bears out stand as they are, where half of the room is enough for them.
        """
        graver = [place for place, one in enumerate(self._findings) if one.rank == 0]
        if sum(len(written[place].encode()) + 1 for place in graver) > self._findings_room // 2:
            return [], list(range(len(written)))
        kept = set(graver)
        return [self._findings[place] for place in graver], [
            place for place in range(len(written)) if place not in kept
        ]

    def _gather(self, label: str, written: Sequence[str]) -> WindowConversation:
        system, head, seat = self._common
        spec = self.assignment.spec
        instruction = self._prompts.gather_instruction(
            spec.rubric, kept_findings(len(written)), evidence=spec.evidence is not None
        )
        shown = "\n".join([self._prompts.texts.reading.findings, *written]) + "\n\n"
        user = CallMessage(
            "user",
            (*head, seat, self.parts.make(shown), self.parts.make(instruction)),
            shared=len(head),
        )
        assignment = self.assignment._replace(messages=(system, user), tools=False)
        return WindowConversation(assignment, self.parts, label, (0, 0), halved=False)

    def _take_gathered(self) -> None:
        """What was gathered stands for the findings that it was made of; where a call failed, these stay."""
        evidence = None if self.assignment.spec.evidence is None else self._shown_evidence()
        made = {gather.label: gather for gather in self._gathers if gather.label in self._batches}
        if not any(gather.findings is not None for gather in made.values()):
            self._ask_to_close()
            return
        self._findings = [
            *self._carried,
            *(
                one
                for label, group in self._batches.items()
                for one in (
                    list(_checked(made[label], evidence))[: kept_findings(len(group))]
                    if label in made and made[label].findings is not None
                    else group
                )
            ),
        ]
        self._gather_or_close()

    def _ask_to_close(self) -> None:
        system, head, seat = self._common
        found = (*self._found(), *self._wanted())
        shown: tuple[PartRef, ...] = (seat, *found, self.parts.make(self._closing_instruction()))
        if self.assignment.step.reasoning:
            # Its turn has its own evaluation, and an instruction of its own.
            user = self.assignment.messages[1]
            *turn, instruction = user.parts[user.shared :]
            shown = (*turn, *found, instruction)
        user = CallMessage("user", (*head, *shown), shared=len(head))
        assignment = self.assignment._replace(messages=(system, user))
        self._closing = FittedConversation(
            assignment, self.parts, CLOSING, turns_before=self._turns, shrinks=self._shrunk < MOST_SHRINKS
        )

    def _closing_instruction(self) -> str:
        text = self._prompts.texts.reading.closing_instruction
        if self.assignment.tools:
            text += "\n\n" + self._prompts.tools_instruction(tool_names(opinions=False))
        return text

    @property
    def _room(self) -> int:
        return (self._reading.room or min(_ROOM, self._places[-1] // 4)) >> self._shrunk

    @property
    def _findings_room(self) -> int:
        return findings_bytes(self._room)

    @property
    def _finding_texts(self) -> FindingTexts:
        spec = self.assignment.spec.evidence
        juror_ids = () if spec is None else tuple(seat.juror_id for seat in spec.seats)
        return FindingTexts(self._prompts, juror_ids, self._mark)

    def _found(self) -> Iterator[PartRef]:
        """The findings of all parts, and what was not read."""
        texts = self._prompts.texts.reading
        found = shown_findings(self._findings, self._finding_texts, self._findings_room)
        not_shown = frozenset().union(*(self._covers[label] for label in found.unread))
        self._read = self._read_of(not_shown, found.left_out)
        lines = [found.text]
        if self._read.unread:
            spans = (
                f"{span.first}-{span.last}" if span.first < span.last else str(span.first) for span in self._read.unread
            )
            lines.append(fill(texts.unread, items=", ".join(spans)))
        decisive = self._named("decisive")
        if decisive:
            lines.append(fill(texts.decisive, items=", ".join(f"[{number}]" for number in decisive[:_MOST_NAMED])))
        yield self.parts.make("\n".join(lines) + "\n\n")

    def _read_of(self, not_shown: frozenset[str], findings_left_out: int = 0) -> RecordRead:
        """What the seat has read by now, but for the parts whose findings are not shown."""
        read = [(window.start, window.end) for window in self._windows if window.findings is not None]
        earlier = self._reading.earlier
        found = record_read(
            self._record.record,
            "windows",
            read if earlier is None else [(0, self._places[self._reading.windows[0][0]]), *read],
            parts=len(read),
            unread=[(one.start, one.end) for one in self._windows if one.label in not_shown or self._failed(one)],
            findings_left_out=findings_left_out,
            partly_read=self._partly_read(not_shown),
        )
        return found if earlier is None else read_in_all(earlier, found)

    def _shown_evidence(self) -> ShownEvidence:
        spec = self.assignment.spec.evidence
        assert spec is not None
        return ShownEvidence(spec, self.assignment.marker, self.parts.content, self._record.items)

    def _failed(self, window: WindowConversation) -> bool:
        """Whether no model read a part, in one call or in halves."""
        return window.findings is None and not any(other.label == f"{window.label}.1" for other in self._windows)

    def _partly_read(self, not_shown: frozenset[str]) -> list[str]:
        """The parts that no model read, and those whose findings are not shown as no model gathered them."""
        gathered = (self._covers[gather.label] for gather in self._gathers if gather.findings is None)
        lost = not_shown & frozenset[str]().union(*gathered)
        return [window.label for window in self._windows if self._failed(window) or window.label in lost]

    def _named(self, what: str) -> list[int]:
        """The items that the parts name as decisive, or as wanted, without those that the record does not have."""
        numbers = dict.fromkeys(
            number
            for window in (*self._gathers, *self._windows)
            if window.findings is not None
            for number in getattr(window.findings, what)
        )
        return [number for number in numbers if self._record.record.item(number) is not None]

    def _wanted(self) -> Iterator[PartRef]:
        room = self._room // WANTED_SHARE
        items = cited_items(self._record.record, self._named("wanted"), self._prompts.texts, room)
        if items.text:
            yield self.parts.make(f"{self._prompts.texts.reading.wanted}\n\n{items.text}\n\n")

    def _mark(self, text: str) -> str:
        return mark(text, self.assignment.marker)

    @property
    def _exchanges(self) -> tuple[str, ...]:
        """Of the calls before the closing one, by the places of the parts: not by when they were answered."""
        whole = () if self._whole is None else self._whole.exchanges
        return (*whole, *(one for asked in (*self._windows, *self._gathers) for one in asked.exchanges))

    def _give_up(self) -> None:
        """No part was read: the outcome of the first one."""
        self._windows.sort(key=_place)
        first = next(outcome for window in self._windows if isinstance(outcome := window.outcome, Blocked | Unanswered))
        self.outcome = failed(first._replace(exchanges=self._exchanges), self._read_of(frozenset()))


def _place(window: WindowConversation) -> tuple[int, int]:
    """Of a window in the record; one that was halved stands before its halves."""
    return window.start, -window.end


def _checked(window: WindowConversation, evidence: ShownEvidence | None) -> Iterator[CheckedFinding]:
    """What was found, with its quotations checked where they are asked for."""
    for one in () if window.findings is None else window.findings.findings:
        checked = None if evidence is None else evidence.checked_quotations(one.quotations)
        yield CheckedFinding(window.label, one, checked)
