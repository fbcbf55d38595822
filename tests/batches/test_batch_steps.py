"""What is to be done next for a batch, for any record, any answer of its provider, and any clock."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Literal, NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from jury_actors import BatchPatience, poll_gap
from jury_actors.batches.batch_steps import BatchStep, Look, Missing, Now, Watch, adopted, next_step, stays
from jury_actors.batches.wave_spool import custom_id, item_number
from jury_events import (
    BatchCancelRequested,
    BatchCancelSent,
    BatchClosed,
    BatchFacts,
    BatchMissed,
    BatchPrepared,
    BatchSubmitted,
)
from jury_providers import BatchState, BatchStatus, SubmittedBatch
from support.each_row import each_row

SECOND = 1_000_000
HOUR = 3600
START = 1_800_000_000 * SECOND
THERE = 1_700_000_000 * SECOND
"""When the batch was created, by the provider's clock, which goes another way than ours."""

PATIENCE = BatchPatience()
NONCE = "abcdefghijklmnopqrstuvwxyz"

PREPARED = BatchPrepared(
    batch_id=f"r~batch~{NONCE}",
    run_id="r",
    wave=1,
    provider="openai",
    address="0a" * 32,
    key="0b" * 32,
    model="gpt-6-sol",
    nonce=NONCE,
    items=3,
    size=100,
    most=None,
    provider_time=THERE,
)
CANDIDATE = SubmittedBatch("b2", certain=False)
REQUESTED = BatchCancelRequested(cause="deadline", by=None)
WHATS: tuple[Literal["batch", "results"], ...] = ("batch", "results")
CLOSED = BatchClosed(cause="ended", detail=None, answered=3, unanswered=0, unknown=0, doubled=0)
COSTLY = {BatchStep.REQUEST_CANCEL, BatchStep.NOT_SENT, BatchStep.SETTLE}
"""Steps after which calls may be asked again."""


def at(theirs: int) -> datetime:
    return datetime.fromtimestamp(theirs / SECOND, UTC)


def submitted(*, certain: bool) -> BatchSubmitted:
    return BatchSubmitted(provider_id="b1", expires_at=None, found=not certain, certain=certain, number=1)


LONG = 1000 * HOUR
"""Longer than anything is waited for, in seconds."""


class Situation(NamedTuple):
    """What a decision is made from."""

    facts: BatchFacts
    look: Look | None
    watch: Watch
    now: Now

    @property
    def step(self) -> BatchStep:
        return next_step(*self, PATIENCE)

    def has_passed(self, mark: float | None, theirs: int | None) -> bool:
        """Whether a long time has certainly passed: in this process, or by the provider's clock and by ours."""
        here = mark is not None and self.now.monotonic - mark >= LONG
        time = None if self.look is None else self.look.time
        there = time is not None and theirs is not None and time - theirs >= LONG * SECOND
        return here or (there and self.now.wall - START >= LONG * SECOND)


def records() -> Iterator[BatchFacts]:
    missed = (None, *(BatchMissed(what=what, reason="x", at=at, number=1) for what in WHATS for at in (None, THERE)))
    asked = (
        (None, None),
        (REQUESTED, None),
        (REQUESTED, BatchCancelSent(at=THERE)),
        (REQUESTED, BatchCancelSent(at=None)),
    )
    sent = (None, submitted(certain=True), submitted(certain=False))
    for one, (requested, cancel), miss, closed in product(sent, asked, missed, (None, CLOSED)):
        yield BatchFacts(
            PREPARED,
            START,
            1,
            submitted=one,
            submitted_at=START,
            cancel_requested=requested,
            cancel_sent=cancel,
            cancel_sent_at=START,
            missed=miss,
            missed_at=START,
            closed=closed,
        )


def answers() -> Iterator[Look | None]:
    yield None
    states = [BatchState(one, one.value, created_at=at(THERE)) for one in BatchStatus]
    states.append(BatchState(BatchStatus.RUNNING, "running"))
    for time in (None, THERE, THERE + LONG * SECOND):
        yield from (Look(listed=listed, time=time) for listed in ((), (CANDIDATE,)))
        yield from (Look(state=state, time=time) for state in states)
        yield from (Look(missing=Missing(what, "not there"), time=time) for what in WHATS)


def clocks() -> Iterator[tuple[Watch, Now]]:
    for watch, wall, monotonic in product((Watch(), Watch(0.0, 0.0, 0.0)), (-LONG, 0, LONG), (0, LONG)):
        yield watch, Now(START + wall * SECOND, float(monotonic))


SITUATIONS = [Situation(*one, *when) for one, when in product(product(records(), answers()), clocks())]


def test_without_an_answer_of_the_provider_it_is_asked_and_nothing_else() -> None:
    wrong = [
        one
        for one in SITUATIONS
        if one.look is None and one.facts.closed is None
        if one.step != (BatchStep.LIST if one.facts.submitted is None else BatchStep.LOOK)
    ]

    assert [] == wrong
    assert {BatchStep.NOTHING} == {one.step for one in SITUATIONS if one.facts.closed is not None}


def costs_too_early(one: Situation) -> bool:
    """Whether something that may cost money is done without an answer for it, or without that time has passed."""
    facts, look, watch, _ = one
    match one.step:
        case BatchStep.NOT_SENT:
            waited = watch.unlisted is not None and one.now.monotonic - watch.unlisted >= LONG
            return look is None or look.listed != () or not waited
        case BatchStep.SETTLE:
            if look is None or look.missing is None or facts.missed is None or facts.missed.what != look.missing.what:
                return True
            return not one.has_passed(watch.missed, facts.missed.at)
        case BatchStep.REQUEST_CANCEL:
            going_on = look is not None and look.state is not None and look.state.status is not BatchStatus.ENDED
            dated = going_on and look is not None and look.state is not None and look.state.created_at is not None
            return not going_on or not one.has_passed(watch.seen, THERE if dated else None)
        case _:
            return False


def test_what_costs_money_follows_from_an_answer_and_from_time_that_has_certainly_passed() -> None:
    assert [] == [one for one in SITUATIONS if costs_too_early(one)]
    assert {one.step for one in SITUATIONS} >= COSTLY


def test_a_clock_of_this_machine_alone_makes_nothing_due() -> None:
    """By what this process waited for, and by the provider's clock, no time has passed."""
    still = [
        one for one in SITUATIONS if one.now.monotonic == 0 and (one.look is None or one.look.time in {None, THERE})
    ]

    assert {-LONG, 0, LONG} == {(one.now.wall - START) // SECOND for one in still}
    assert set() == COSTLY & {one.step for one in still}


def test_what_may_be_anothers_is_not_cancelled() -> None:
    steps = {one.step for one in SITUATIONS if one.facts.uncertain}

    assert set() == steps & {BatchStep.REQUEST_CANCEL, BatchStep.SEND_CANCEL}


def test_an_ended_batch_is_read_however_late_it_is() -> None:
    ended = [
        one
        for one in SITUATIONS
        if one.look and one.look.state and one.look.state.status is BatchStatus.ENDED
        if one.facts.submitted is not None and one.facts.closed is None
    ]

    assert {BatchStep.COLLECT} == {one.step for one in ended}


RUNNING = BatchState(BatchStatus.RUNNING, "running", created_at=at(THERE))


def facts_of(*, certain: bool = True, sent: bool = False, missed: BatchMissed | None = None) -> BatchFacts:
    facts = BatchFacts(PREPARED, START, 1, submitted=submitted(certain=certain), submitted_at=START)
    if sent:
        facts = facts._replace(cancel_requested=REQUESTED, cancel_sent=BatchCancelSent(at=THERE), cancel_sent_at=START)
    return facts._replace(missed=missed, missed_at=START)


@each_row(
    ("facts", "hours", "expected"),
    [
        (facts_of(), 25.9, BatchStep.WAIT),
        (facts_of(), 26.0, BatchStep.REQUEST_CANCEL),
        (facts_of(certain=False), 900.0, BatchStep.WAIT),
        (facts_of(sent=True), 900.0, BatchStep.WAIT),
    ],
)
@each_row("clock", ["of this process", "of the provider and of this machine"])
def test_a_batch_that_goes_on_is_cancelled_and_waited_for(
    facts: BatchFacts, hours: float, expected: BatchStep, clock: str
) -> None:
    passed = round(hours * HOUR * SECOND)
    if clock == "of this process":
        look, watch, now = Look(state=RUNNING), Watch(seen=0.0), Now(START, hours * HOUR)
    else:
        look, watch, now = Look(state=RUNNING, time=THERE + passed), Watch(), Now(START + passed, 0.0)

    assert expected == next_step(facts, look, watch, now, PATIENCE)


def test_of_batches_that_may_be_this_one_the_nearest_to_its_sending_is_taken_and_a_certain_one_first() -> None:
    facts = BatchFacts(PREPARED, START, 1, mistaken=("old",))
    listed = [
        SubmittedBatch(name, at(THERE) + timedelta(seconds=seconds), certain=False)
        for name, seconds in (("late", 90), ("near", 2), ("old", 1))
    ]
    certain = SubmittedBatch("certain", at(THERE) + timedelta(days=9))

    assert listed[1] == adopted(facts, Look(listed=tuple(listed)))
    assert certain == adopted(facts, Look(listed=(*listed, certain)))
    assert adopted(facts, Look(listed=(listed[2],))) is None


@each_row(
    ("facts", "time", "expected"),
    [
        (BatchFacts(PREPARED, START, 1), THERE + 299 * SECOND, False),
        (BatchFacts(PREPARED, START, 1), THERE + 300 * SECOND, True),
        (BatchFacts(PREPARED, START, 1), None, True),
        (facts_of(), None, False),
        (facts_of(missed=BatchMissed(what="results", reason="x", at=THERE, number=1)), THERE, False),
        (facts_of(missed=BatchMissed(what="results", reason="x", at=None, number=1)), THERE, True),
    ],
)
def test_a_pass_that_does_not_wait_stays_where_no_later_one_would_know_more(
    facts: BatchFacts, time: int | None, expected: bool
) -> None:
    assert expected == stays(facts, Look(time=time), PATIENCE)


@given(polls=st.integers(0, 10_000))
def test_gaps_grow_up_to_ten_minutes(polls: int) -> None:
    assert 1.0 <= poll_gap(polls) <= poll_gap(polls + 1) <= 600.0


@given(number=st.integers(1, 50_000), items=st.integers(1, 50_000))
def test_an_id_names_one_item_of_its_batch(number: int, items: int) -> None:
    assert item_number(NONCE, custom_id(NONCE, number), items) == (number if number <= items else None)


@given(found=st.text(max_size=40) | st.none())
def test_no_other_text_names_an_item(found: str | None) -> None:
    number = item_number(NONCE, found, 50_000)

    assert number is None or custom_id(NONCE, number) == found
