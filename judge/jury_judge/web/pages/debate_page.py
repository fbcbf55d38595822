"""The page of one debate, after any of its events: the same for what is over, what runs, and what is wound back."""

import re
import sys
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from jury_events.debate_events import DebateCancelled, DebateCompleted, DebateFailed, DebateOpened, TextsErased
from jury_events.envelope import StoredEvent
from jury_events.judgment import Judgment
from jury_events.local_facts import LocalFacts, local_facts
from jury_events.models import is_other_model
from jury_events.outcome import CallOutcome
from jury_judge.present.answered_by import answers, is_simulated
from jury_judge.present.debate_record import DebateRecord, Ending, read_record, role_of
from jury_judge.present.position_changes import position_changes
from jury_judge.web.pages.awaited import NOBODY, AwaitedInPhase, awaited
from jury_judge.web.pages.case_passages import CasePassages, case_passages
from jury_judge.web.pages.debate_reading import PageReading
from jury_judge.web.pages.integrity_state import IntegrityState
from jury_judge.web.pages.matrix import Matrix, matrix
from jury_judge.web.pages.since_before import SinceBefore, since_before
from jury_judge.web.pages.spoken import CallLine, Held, Said, Speakers
from jury_judge.web.pages.texts import PREVIEW, Text, TextShelf
from jury_judge.web.pages.waterfall import Waterfall, waterfall

ROWS = 200
"""Evaluations, statements and seats that a page holds of each; its file holds all."""

ROUNDS = 20
"""Rounds that the matrix of a page holds, the latest."""


_STARTED = re.compile(r"round-([0-9]{1,9})/started")


class Left(NamedTuple):
    """What a page leaves out of a debate that is larger than a page, by number; `before` is the event to look at."""

    evaluations: int
    statements: int
    before: int
    seats: int
    rounds: int


class Place(NamedTuple):
    """Where in the events the page stands: after `at` of `last`; `live` where more may come."""

    at: int
    last: int
    event: StoredEvent
    live: bool

    @property
    def wound_back(self) -> bool:
        """There are later events, which are not shown."""
        return self.at < self.last


class ModelCalls(NamedTuple):
    """The calls of one model. `others` are models that answered in its place.

    Tokens and cost are those that are known; `tokens_unknown` and `cost_unknown` count the calls of which a provider
    did not say them. `cost` is None where it is known of no call.
    """

    model: str
    calls: int
    outcomes: tuple[tuple[str, int], ...]
    input_tokens: int
    output_tokens: int
    tokens_unknown: int
    cost: float | None
    cost_unknown: int
    others: tuple[str, ...]

    @property
    def tokens_known(self) -> bool:
        """Of some call at least."""
        return self.tokens_unknown < self.calls


class Ended(NamedTuple):
    """How the debate ended; `text` is the reason of a failure or of somebody who cancelled it."""

    version: int
    completed: DebateCompleted | None
    failed: str | None
    cancelled: str | None
    text: Text | None


class Judged(NamedTuple):
    """The final judgment, and what the final judge said."""

    version: int
    judgment: Judgment
    judge: Held | None
    calls: tuple[CallLine, ...]
    roles: dict[str, str]

    @property
    def tools(self) -> tuple[str, ...]:
        """None are offered to a final judge."""
        return ()


class DebatePage(NamedTuple):
    """Everything that the page of a debate shows.

    `said` holds phase 1, `discussion` every statement and abstention of all rounds in one sequence; `judging`: the
    discussion is over and the final judge has not judged yet. `awaited`: who is heard next; nobody where the page is
    wound back. `since`: what changed, by the version of a statement.
    """

    opened: DebateOpened
    record: DebateRecord
    place: Place
    simulated: str | None
    local: LocalFacts
    integrity: IntegrityState
    case: CasePassages
    said: tuple[Said, ...]
    discussion: tuple[Said, ...]
    matrix: Matrix
    judged: Judged | None
    judging: bool
    ended: Ended | None
    calls: tuple[ModelCalls, ...]
    all_calls: tuple[CallLine, ...]
    waterfall: Waterfall | None
    awaited: AwaitedInPhase
    since: dict[int, SinceBefore]
    roles: dict[str, str]
    erased: tuple[TextsErased, ...]
    versions: dict[str, int]
    left: Left

    @property
    def language(self) -> str:
        """In which the jury was asked to speak."""
        return self.opened.panel.language


def debate_page(
    reading: PageReading, integrity: IntegrityState, at: int | None = None, limit: int | None = PREVIEW
) -> DebatePage:
    """The page after event `at` of a debate, None (or a later number than there is): after its last.

    Args:
        reading: the debate.
        integrity: what the check of it found.
        at: a version of the stream `debate/`, from 1.
        limit: bytes that are shown of each text; None: all, of every seat and round.

    Raises:
        EventError: a stored body does not decode.
        JudgeError: the events do not begin with the opening.
    """
    stored = reading.stored
    here = min(at or len(stored), len(stored))
    newest = here == len(stored)
    events = reading.events(here)
    record = read_record(events)
    whole = record if newest else read_record(reading.events())
    calls = reading.calls(None if newest else stored[here - 1].position)
    # What is erased is gone at every point of the debate.
    shelf = TextShelf(reading.texts, whole.erased, limit)
    versions = {one.event_id: one.version for one in stored}
    opened = record.opened
    evaluations = answers(events)
    by_id = {call.exchange.event_id: call for call in calls}
    speakers = Speakers(opened.panel, shelf, versions, by_id, position_changes(evaluations))
    simulated = None
    if is_simulated(opened, evaluations):
        simulated = "all" if opened.simulated else "some"
    rows, rounds = (None, None) if limit is None else (ROWS, ROUNDS)
    heard = [(one, held.started.round) for held in record.rounds for one in held.spoken]
    panel = opened.panel
    said = tuple(speakers.said(one, 0) for one in record.phase_1[:rows])
    discussion = tuple(speakers.said(one, number) for one, number in heard[-(rows or len(heard)) :])
    return DebatePage(
        opened=opened,
        record=record,
        place=Place(here, len(stored), stored[here - 1], live=whole.ending is None),
        simulated=simulated,
        local=local_facts(reading.record.local),
        integrity=integrity,
        case=case_passages(opened, shelf),
        said=said,
        discussion=discussion,
        matrix=matrix(record, versions, rows, rounds),
        judged=_judged(record, speakers, versions),
        judging=_judging(record),
        ended=_ended(record.ending, shelf, versions),
        calls=_calls(calls),
        all_calls=tuple(calls),
        waterfall=waterfall(calls, panel.juror_ids[:rows], _round_starts(stored[:here])),
        awaited=awaited(record, calls) if newest else NOBODY,
        since=_since((*said, *discussion) if len(discussion) == len(heard) else discussion),
        roles={seat.juror_id: seat.role_name for seat in panel.seats},
        erased=tuple(event for event in events if isinstance(event, TextsErased)),
        versions=versions,
        left=Left(
            evaluations=max(0, len(record.phase_1) - (rows or sys.maxsize)),
            statements=len(heard) - len(discussion),
            before=discussion[0].version - 1 if discussion else 0,
            seats=max(0, len(panel.seats) - (rows or sys.maxsize)),
            rounds=max(0, len(record.rounds) - (rounds or sys.maxsize)),
        ),
    )


def _round_starts(stored: Sequence[StoredEvent]) -> dict[int, StoredEvent]:
    named = ((_STARTED.fullmatch(one.event_id), one) for one in stored if one.type == "round_started")
    return {int(found.group(1)): one for found, one in named if found is not None}


def _since(said: Sequence[Said]) -> dict[int, SinceBefore]:
    """What changed since a juror's evaluation before; what a page leaves out of the beginning is not looked at."""
    latest: dict[str, Said] = {}
    found = {}
    for one in said:
        if one.held is None:
            continue
        before = latest.get(one.juror_id)
        if before is not None and (changed := since_before(one, before)) is not None:
            found[one.version] = changed
        if not one.held.synthetic:
            latest[one.juror_id] = one
    return found


def _judging(record: DebateRecord) -> bool:
    return (
        record.judgment is None
        and record.ending is None
        and record.opened.panel.final.method == "final_judge"
        and record.discussion_over
    )


def _judged(record: DebateRecord, speakers: Speakers, versions: dict[str, int]) -> Judged | None:
    rendered = record.judgment
    if rendered is None:
        return None
    panel = record.opened.panel
    return Judged(
        version=versions[rendered.event_id],
        judgment=rendered.judgment,
        judge=speakers.held(rendered.judgment.judge) if rendered.judgment.judge else None,
        calls=speakers.calls(rendered.exchanges),
        roles={vote.juror_id: role_of(panel, vote.juror_id) for vote in rendered.judgment.votes},
    )


def _ended(ending: Ending | None, shelf: TextShelf, versions: dict[str, int]) -> Ended | None:
    match ending:
        case None:
            return None
        case DebateCompleted():
            return Ended(versions[ending.event_id], ending, None, None, None)
        case DebateFailed():
            return Ended(versions[ending.event_id], None, ending.reason, None, shelf.text(ending.detail))
        case DebateCancelled():
            return Ended(versions[ending.event_id], None, None, ending.by, shelf.text(ending.reason))


def _calls(calls: Sequence[CallLine]) -> tuple[ModelCalls, ...]:
    models = dict.fromkeys(call.exchange.model for call in calls)
    return tuple(_of_model(model, [call for call in calls if call.exchange.model == model]) for model in models)


def _of_model(model: str, calls: list[CallLine]) -> ModelCalls:
    made = [call.exchange for call in calls]
    ended = Counter(call.outcome for call in made)
    known = [call.cost for call in made if call.cost is not None]
    others = dict.fromkeys(
        str(call.model_version)
        for call in made
        if not call.simulated and is_other_model(call.model, call.model_version)
    )
    return ModelCalls(
        model=model,
        calls=len(made),
        outcomes=tuple((outcome.value, ended[outcome]) for outcome in CallOutcome if ended[outcome]),
        input_tokens=sum(call.usage.input_tokens or 0 for call in made),
        output_tokens=sum(call.usage.output_tokens or 0 for call in made),
        tokens_unknown=sum(None in {call.usage.input_tokens, call.usage.output_tokens} for call in made),
        cost=sum(known) if known else None,
        cost_unknown=len(made) - len(known),
        others=tuple(others),
    )
