"""What is to be done next for a batch, for any order of what is recorded, and any clock."""

from hypothesis import given
from hypothesis import strategies as st

from jury_actors.batches.batch_steps import BatchPatience, BatchStep, may_be_on_its_way, next_step, poll_gap
from jury_actors.batches.wave_spool import custom_id, item_number
from jury_events.batch_events import BatchCancelRequested, BatchChanged, BatchClosed, BatchPrepared, BatchSubmitted
from jury_events.batch_facts import BatchFacts

HOUR = 3_600_000_000
START = 1_800_000_000_000_000
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
)
SUBMITTED = BatchSubmitted(provider_id="b1", expires_at=None, found=False, certain=True, number=1)
CLOSED = BatchClosed(cause="ended", detail=None, answered=3, unanswered=0, unknown=0, doubled=0)


def changed(stage: str) -> BatchChanged:
    return BatchChanged.model_validate(
        {"stage": stage, "word": stage, "answered": None, "failed": None, "error": None, "number": 1}
    )


FACTS = st.builds(
    lambda submitted, stage, cancelled, abandoned, closed: BatchFacts(
        PREPARED,
        START,
        1,
        submitted=SUBMITTED if submitted else None,
        submitted_at=START,
        changed=None if stage is None or not submitted else changed(stage),
        cancel_requested=BatchCancelRequested(cause="deadline", by=None) if cancelled else None,
        abandoned=abandoned and cancelled and submitted,
        closed=CLOSED if closed else None,
    ),
    st.booleans(),
    st.sampled_from([None, "waiting", "running", "cancelling", "ended"]),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
HOURS = st.integers(-1000, 1000)


@given(facts=FACTS, hours=HOURS)
def test_calls_are_free_only_after_an_end_or_a_long_wait_after_a_cancellation(facts: BatchFacts, hours: int) -> None:
    step = next_step(facts, START + hours * HOUR, PATIENCE)

    if step == BatchStep.ABANDON:
        assert facts.cancel_requested is not None
        assert hours >= PATIENCE.abandon
        assert facts.stage not in {"ended", "closed", "abandoned"}
    if step == BatchStep.CANCEL:
        assert hours >= PATIENCE.deadline
        assert facts.cancel_requested is None


@given(facts=FACTS, hours=HOURS)
def test_only_a_closed_batch_needs_nothing_and_only_one_that_was_submitted_is_asked_for(
    facts: BatchFacts, hours: int
) -> None:
    step = next_step(facts, START + hours * HOUR, PATIENCE)

    assert (step == BatchStep.NOTHING) == (facts.closed is not None)
    if facts.closed is None:
        assert (step == BatchStep.LOOK_UP) == (facts.submitted is None)


@given(facts=FACTS, hours=st.integers(-1000, 0))
def test_a_clock_that_went_back_makes_nothing_due(facts: BatchFacts, hours: int) -> None:
    assert next_step(facts, START + hours * HOUR, PATIENCE) not in {BatchStep.CANCEL, BatchStep.ABANDON}


@given(facts=FACTS)
def test_an_ended_batch_is_read_however_late_it_is(facts: BatchFacts) -> None:
    if facts.closed is None and facts.submitted is not None and facts.changed is not None:
        late = next_step(facts._replace(changed=changed("ended")), START + 10_000 * HOUR, PATIENCE)

        assert late == BatchStep.COLLECT


@given(seconds=st.integers(-10_000, 10_000))
def test_a_batch_that_is_not_listed_may_be_on_its_way_for_a_while(seconds: int) -> None:
    facts = BatchFacts(PREPARED, START, 1)

    assert may_be_on_its_way(facts, START + seconds * 1_000_000, PATIENCE) == (0 <= seconds < PATIENCE.arrival)


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
