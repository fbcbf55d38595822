"""What is to be done next for a batch, for any record, any answer of its provider, and any clock."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_actors.batches.batch_steps import (
    BatchPatience,
    BatchStep,
    Look,
    Missing,
    Now,
    Watch,
    adopted,
    next_step,
    poll_gap,
    stays,
)
from jury_actors.batches.wave_spool import custom_id, item_number
from jury_events.batch_events import (
    BatchCancelRequested,
    BatchCancelSent,
    BatchClosed,
    BatchMissed,
    BatchPrepared,
    BatchSubmitted,
)
from jury_events.batch_facts import BatchFacts
from jury_providers.batches.batch import BatchState, BatchStatus, SubmittedBatch

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
CLOSED = BatchClosed(cause="ended", detail=None, answered=3, unanswered=0, unknown=0, doubled=0)
COSTLY = {BatchStep.REQUEST_CANCEL, BatchStep.ABANDON, BatchStep.NOT_SENT, BatchStep.SETTLE}
"""Steps after which calls may be asked again."""


def at(theirs: int) -> datetime:
    return datetime.fromtimestamp(theirs / SECOND, UTC)


def submitted(*, certain: bool) -> BatchSubmitted:
    return BatchSubmitted(provider_id="b1", expires_at=None, found=not certain, certain=certain, number=1)


WHATS = st.sampled_from(["batch", "results"])
MISSED = st.builds(
    lambda what, time: BatchMissed(what=what, reason="x", at=time, number=1), WHATS, st.none() | st.just(THERE)
)
FACTS = st.builds(
    lambda sent, cancelled, asked, abandoned, missed, closed: BatchFacts(
        PREPARED,
        START,
        1,
        submitted=sent,
        submitted_at=START,
        cancel_requested=BatchCancelRequested(cause="deadline", by=None) if cancelled else None,
        cancel_sent=BatchCancelSent(at=THERE) if cancelled and asked else None,
        cancel_sent_at=START,
        missed=missed,
        missed_at=START,
        abandoned=abandoned,
        closed=CLOSED if closed else None,
    ),
    st.none() | st.builds(submitted, certain=st.booleans()),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.none() | MISSED,
    st.booleans(),
)
STATES = st.builds(
    lambda status, dated: BatchState(status, status.value, created_at=at(THERE) if dated else None),
    st.sampled_from(BatchStatus),
    st.booleans(),
)
CANDIDATE = SubmittedBatch("b2", certain=False)
SECONDS = st.integers(-1000 * HOUR, 1000 * HOUR)
THEIRS = st.none() | SECONDS.map(lambda passed: THERE + passed * SECOND)
LOOKS = st.none() | st.builds(
    Look,
    listed=st.none() | st.sampled_from([(), (CANDIDATE,)]),
    state=st.none() | STATES,
    missing=st.none() | st.builds(Missing, WHATS, st.just("not there")),
    time=THEIRS,
)
MARKS = st.none() | st.floats(0, 1000 * HOUR)
WATCHES = st.builds(Watch, MARKS, MARKS, MARKS, MARKS)
NOWS = st.builds(Now, SECONDS.map(lambda passed: START + passed * SECOND), st.just(1000.0 * HOUR))


@given(facts=FACTS, watch=WATCHES, now=NOWS)
def test_without_an_answer_of_the_provider_it_is_asked_and_nothing_else(
    facts: BatchFacts, watch: Watch, now: Now
) -> None:
    step = next_step(facts, None, watch, now, PATIENCE)

    asked = BatchStep.LIST if facts.submitted is None else BatchStep.LOOK
    assert (BatchStep.NOTHING if facts.closed is not None else asked) == step


@given(facts=FACTS, look=LOOKS, watch=WATCHES, now=NOWS)
def test_what_costs_money_follows_from_an_answer_and_from_time_that_has_certainly_passed(
    facts: BatchFacts, look: Look | None, watch: Watch, now: Now
) -> None:
    step = next_step(facts, look, watch, now, PATIENCE)
    if step not in COSTLY:
        return
    assert look is not None
    there = 0 if look.time is None else look.time - THERE
    by_both = min(now.wall - START, there) / SECOND

    def certainly(mark: float | None) -> float:
        return max(0 if mark is None else now.monotonic - mark, by_both)

    match step:
        case BatchStep.NOT_SENT:
            assert look.listed == ()
            assert watch.unlisted is not None
            assert now.monotonic - watch.unlisted >= PATIENCE.arrival
        case BatchStep.SETTLE:
            assert look.missing is not None
            assert facts.missed is not None
            assert facts.missed.what == look.missing.what
            assert certainly(watch.missed) >= PATIENCE.again
        case BatchStep.REQUEST_CANCEL:
            assert look.state is not None
            assert look.state.status is not BatchStatus.ENDED
            assert certainly(watch.seen) >= PATIENCE.deadline * HOUR
        case _:
            assert look.state is not None
            assert look.state.status is not BatchStatus.ENDED
            assert facts.cancel_sent is not None
            assert certainly(watch.cancelled) >= (PATIENCE.abandon - PATIENCE.deadline) * HOUR


@given(facts=FACTS, look=LOOKS, watch=WATCHES, now=NOWS, leap=SECONDS)
def test_a_clock_of_this_machine_that_leaps_alone_makes_nothing_due(
    facts: BatchFacts, look: Look | None, watch: Watch, now: Now, leap: int
) -> None:
    """By what this process waited for, and by the provider's clock, no time has passed."""
    seen = None if look is None else look._replace(time=THERE)
    step = next_step(facts, seen, watch, Now(now.wall + leap * SECOND, 0.0), PATIENCE)

    assert step not in COSTLY


@given(facts=FACTS, look=LOOKS, watch=WATCHES, now=NOWS)
def test_what_may_be_anothers_is_neither_cancelled_nor_given_up(
    facts: BatchFacts, look: Look | None, watch: Watch, now: Now
) -> None:
    step = next_step(facts, look, watch, now, PATIENCE)

    if facts.uncertain:
        assert step not in {BatchStep.REQUEST_CANCEL, BatchStep.SEND_CANCEL, BatchStep.ABANDON}


@given(facts=FACTS, look=LOOKS, watch=WATCHES, now=NOWS)
def test_an_ended_batch_is_read_however_late_it_is(
    facts: BatchFacts, look: Look | None, watch: Watch, now: Now
) -> None:
    ended = Look(state=BatchState(BatchStatus.ENDED, "completed"), time=None if look is None else look.time)
    if facts.closed is None and facts.submitted is not None:
        step = next_step(facts, ended, watch, now, PATIENCE)

        assert BatchStep.COLLECT == step


RUNNING = BatchState(BatchStatus.RUNNING, "running", created_at=at(THERE))


def facts_of(*, certain: bool = True, sent: bool = False, missed: BatchMissed | None = None) -> BatchFacts:
    facts = BatchFacts(PREPARED, START, 1, submitted=submitted(certain=certain), submitted_at=START)
    if sent:
        requested = BatchCancelRequested(cause="deadline", by=None)
        facts = facts._replace(cancel_requested=requested, cancel_sent=BatchCancelSent(at=THERE), cancel_sent_at=START)
    return facts._replace(missed=missed, missed_at=START)


@pytest.mark.parametrize(
    ("facts", "hours", "expected"),
    [
        (facts_of(), 25.9, BatchStep.WAIT),
        (facts_of(), 26.0, BatchStep.REQUEST_CANCEL),
        (facts_of(certain=False), 900.0, BatchStep.WAIT),
        (facts_of(sent=True), 21.9, BatchStep.WAIT),
        (facts_of(sent=True), 22.0, BatchStep.ABANDON),
    ],
)
@pytest.mark.parametrize("clock", ["of this process", "of the provider and of this machine"])
def test_a_batch_that_goes_on_is_cancelled_then_given_up(
    facts: BatchFacts, hours: float, expected: BatchStep, clock: str
) -> None:
    passed = round(hours * HOUR * SECOND)
    if clock == "of this process":
        look, watch, now = Look(state=RUNNING), Watch(seen=0.0, cancelled=0.0), Now(START, hours * HOUR)
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


@pytest.mark.parametrize(
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
