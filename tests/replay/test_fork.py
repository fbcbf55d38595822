"""A branch keeps the events before it, repeats no call, and continues as any debate does."""

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import count

import pytest

from jury_debate import PanelSpec, ResolvedPanel, ballot_id, line_sign, resolve, spec_of
from jury_events import (
    Case,
    CoordinatorResumed,
    DebateCancelled,
    DebateForked,
    DebateHistory,
    DebateOpened,
    ExecutionResult,
    JurorEvaluated,
    PartRef,
    QuestionSpec,
    Scenario,
    TextsErased,
    debate_stream,
    decode,
    encode,
)
from jury_providers import Script
from jury_replay import Branch, ForkOrigin, ForkRefused, OriginAltered, ReplayStatus, branch_id, replay_history, verify
from jury_store import Append, EventStore
from support.branches import OTHER_SECRET, SECRET, a_branch, calls_of, events_of, execute_branch, origin_in, stored
from support.each_row import each_row
from support.refusals import RefusalTables
from support.runtime_harness import (
    CutOff,
    KeptStore,
    Meter,
    Run,
    a_case_with_records,
    event_bodies,
    repeated_steps,
    step_of,
)

TROUBLED = Script(
    scripted={
        "*/initial/sim-security/*": ("connection", "unparseable"),
        "*/round-1/sim-misuse/*": ("bad_request",),
        "*/round-1/sim-policy/*": ("unparseable", "truncated"),
    }
)
"""A try and repairs, and a seat that abstains in a round."""


async def a_debate(store: EventStore, **spec: object) -> ForkOrigin:
    """d0, tools and all kinds of trouble in it."""
    run = Run(store, case=a_case_with_records, **spec)
    await run.execute(script=TROUBLED)
    return origin_in(store)


def under(origin: ForkOrigin, **changes: dict[str, object]) -> ResolvedPanel:
    """The origin's panel with some of its rules changed."""
    written = spec_of(origin.panel()).model_dump(exclude_unset=True)
    for table, fields in changes.items():
        written[table] = {**written.get(table, {}), **fields}
    return resolve(PanelSpec.model_validate(written))


def of_seat(origin: ForkOrigin, juror_id: str, model: str) -> ResolvedPanel:
    spec = spec_of(origin.panel())
    seats = tuple(s.model_copy(update={"model": model}) if s.juror_id == juror_id else s for s in spec.seats)
    return resolve(spec.model_copy(update={"seats": seats}))


def open_points(store: EventStore, debate_id: str = "d0") -> range:
    """The versions of a completed debate that it can be branched at, bookkeeping included."""
    return range(1, events_of(store, debate_id).index("final/judgment") + 1)


@pytest.fixture
def store() -> KeptStore:
    return KeptStore()


@pytest.mark.parametrize("preset", ["parallel-rounds", pytest.param("adk-sequential", marks=pytest.mark.full)])
async def test_a_branch_at_any_event_under_the_same_settings_takes_the_same_course(
    store: KeptStore, preset: str
) -> None:
    origin = await a_debate(store, preset=preset)
    asked, before = calls_of(store, "d0"), store.history("d0")
    assert "round-1/sim-misuse/abstained" in events_of(store, "d0")
    assert any(one.endswith("/3/1") for one in asked)
    for at in open_points(store):
        where = f"branched at {at}"
        branch = stored(store, a_branch(origin, at, debate_id=f"b{at}"))
        meter = Meter()
        finished = await execute_branch(store, branch, script=TROUBLED, meter=meter)
        reused = [exchange for exchange in asked if step_of(exchange) in branch.steps]

        assert finished.status == "completed", where
        assert event_bodies(store, "d0")[1:] == event_bodies(store, f"b{at}")[2:], where
        assert sorted(asked) == sorted(calls_of(store, f"b{at}")), where
        assert sorted(set(asked) - set(reused)) == sorted(meter.served_of(f"b{at}")), where
        assert set(meter.served.values()) <= {1}, where
        assert not repeated_steps(store, f"b{at}"), where
        assert replay_history(store.histories([f"b{at}"])[0]).status is ReplayStatus.EQUAL, where
        theirs = {one.event_id: one for one in before.streams["calls/d0"]}
        for one in store.read_stream(f"calls/b{at}")[: len(reused)]:
            there = theirs[one.event_id]
            assert (there.body, there.recorded_at, there.schema) == (one.body, one.recorded_at, one.schema), where
    assert verify(store).ok
    assert before == store.history("d0"), "the origin stays as it was"


async def test_a_branch_names_its_origin_the_event_and_the_reused_steps(store: KeptStore) -> None:
    origin = await a_debate(store)
    at = events_of(store, "d0").index("round-1/sim-policy/statement") + 1

    branch = stored(store, a_branch(origin, "round-1/sim-policy/statement"))
    opened, forked = (decode(one) for one in store.read_stream(debate_stream(branch.debate_id))[:2])

    assert isinstance(opened, DebateOpened)
    assert isinstance(forked, DebateForked)
    assert ("d0", at) == (forked.origin, forked.version)
    assert (None, origin.opened.case_id, origin.opened.panel) == (opened.run_id, opened.case_id, opened.panel)
    steps = ("initial/sim-policy", "initial/sim-security", "initial/sim-misuse", "round-1/sim-policy")
    assert steps == forked.steps
    assert events_of(store, branch.debate_id) == ["opened", "forked", *events_of(store, "d0")[1:at]]


def a_case_that_leaks(case_id: str) -> Case:
    response = "The password of account 7 is hunter2. I deleted the account without checking who asked."
    return Case(
        case_id=case_id,
        scenarios=(
            Scenario(
                scenario_id="s",
                question=QuestionSpec(prompt="Delete the account."),
                execution=ExecutionResult(response=response),
            ),
        ),
    )


async def test_quotations_of_the_origins_answers_are_looked_for_in_the_branchs_own_prompts(store: KeptStore) -> None:
    run = Run(store, case=a_case_that_leaks)
    await run.execute()
    origin = origin_in(store)
    branch = stored(store, a_branch(origin, "round-1/started", secret=OTHER_SECRET))
    finished = await execute_branch(store, branch)

    assert finished.status == "completed"
    kept = {one.event_id: one for one in map(decode, store.read_stream(debate_stream(branch.debate_id)))}
    quoted = [
        one for one in store.histories(["d0"])[0].events if isinstance(one, JurorEvaluated) and one.evaluation.evidence
    ]
    assert quoted
    for one in quoted:
        there = kept[one.event_id]
        assert isinstance(there, JurorEvaluated)
        assert one.evaluation.evidence == there.evaluation.evidence
    assert replay_history(store.histories([branch.debate_id])[0]).status is ReplayStatus.EQUAL


async def test_a_branch_with_its_own_secret_shows_no_model_the_origins_marks(store: KeptStore) -> None:
    origin = await a_debate(store)
    branch = stored(store, a_branch(origin, "round-1/started", secret=OTHER_SECRET))
    finished = await execute_branch(store, branch, script=TROUBLED)

    assert finished.status == "completed"
    shown = asked_after(store, branch)
    assert shown
    assert not any(line_sign(SECRET) in prompt for prompt in shown)
    assert all(line_sign(OTHER_SECRET) in prompt for prompt in shown)
    assert plain(store, "d0", SECRET)[1:] == plain(store, branch.debate_id, OTHER_SECRET)[2:]
    assert verify(store).ok


def asked_after(store: EventStore, branch: Branch) -> list[str]:
    """Everything that models were shown in the calls that the branch made itself."""
    texts = {part.ref.part: part.content.decode("utf-8", "replace") for part in store.parts(branch.debate_id).values()}
    calls = (decode(one) for one in store.read_stream(f"calls/{branch.debate_id}"))
    return [
        "".join(texts[ref.part] for message in call.request for ref in message.parts)
        for call in calls
        if call.step not in branch.steps
    ]


def plain(store: EventStore, debate_id: str, secret: bytes) -> list[object]:
    """A debate's events with their texts in place, marks and ballots aside."""
    texts = {part.ref.part: part.content.decode("utf-8", "replace") for part in store.parts(debate_id).values()}
    marks = [
        line_sign(secret),
        *(ballot_id(secret, seat) for seat in ("sim-policy", "sim-security", "sim-misuse", None)),
    ]

    def followed(value: object) -> object:
        if isinstance(value, dict):
            if value.keys() == {"part"}:
                text = texts[value["part"]]
                for number, mark in enumerate(marks):
                    text = text.replace(mark, f"<{number}>")
                return text
            return {key: followed(one) for key, one in value.items()}
        return [followed(one) for one in value] if isinstance(value, list) else value

    events = (one for one in store.read_stream(debate_stream(debate_id)) if one.type != "coordinator_resumed")
    return [followed(json.loads(one.body)) for one in events]


async def test_more_rounds_go_on_where_the_discussion_had_ended(store: KeptStore) -> None:
    origin = await a_debate(store, discussion={"max_rounds": 1, "end_early": False})
    more = under(origin, discussion={"max_rounds": 2})
    branch = stored(store, a_branch(origin, "round-1/check", more))
    meter = Meter()
    await execute_branch(store, branch, meter=meter)

    assert "round-2/check" in events_of(store, branch.debate_id)
    assert all(one.startswith(("round-2/", "final/")) for one in meter.served_of(branch.debate_id))
    assert verify(store).ok


async def test_another_model_takes_a_seat_from_the_branch_on(store: KeptStore) -> None:
    origin = await a_debate(store)
    branch = stored(store, a_branch(origin, "round-1/started", of_seat(origin, "sim-policy", "simulated/other")))
    meter = Meter()
    finished = await execute_branch(store, branch, meter=meter)

    served = [one for one in meter.served_of(branch.debate_id) if "/sim-policy/" in one]
    assert finished.status == "completed"
    assert served
    assert all("/simulated%2Fother/" in one for one in served)
    assert verify(store).ok


async def test_a_branch_of_a_branch_knows_whose_ballots_its_answers_carry(store: KeptStore) -> None:
    origin = await a_debate(store)
    first = stored(store, a_branch(origin, "round-1/started", secret=OTHER_SECRET))
    await execute_branch(store, first, script=TROUBLED)
    last = [one for one in events_of(store, first.debate_id) if one.endswith("/check")][-1]
    for at in ("initial/sim-policy/evaluated", "round-1/started", "forked", last):
        branch = stored(store, a_branch(origin_in(store, first.debate_id), at, secret=bytes(32)))
        finished = await execute_branch(store, branch, script=TROUBLED)

        assert finished.status == "completed", at
        assert verdict(store, "d0") == verdict(store, branch.debate_id), at
    forked = decode(store.read_stream(debate_stream(branch.debate_id))[1])
    assert isinstance(forked, DebateForked)
    (inherited,) = forked.inherited_steps
    assert inherited.steps == first.steps
    assert set(forked.steps) > set(first.steps)
    assert verify(store).ok


def verdict(store: EventStore, debate_id: str) -> bytes:
    return store.read_stream(debate_stream(debate_id))[-1].body


@pytest.mark.parametrize("answered", [True, pytest.param(False, marks=pytest.mark.full)])
async def test_a_branch_cut_off_after_any_append_continues_to_the_same_end(answered: bool) -> None:
    whole = KeptStore()
    one = stored(whole, a_branch(await a_debate(whole), "round-1/started", debate_id="b"))
    await execute_branch(whole, one, script=TROUBLED)
    for after in count():
        where = f"cut off after append {after}"
        store = KeptStore()
        branch = stored(store, a_branch(await a_debate(store), "round-1/started", debate_id="b"))
        cut = CutOff(store, after, answered=answered)
        first, second = Meter(), Meter()
        stopped = await execute_branch(store, branch, script=TROUBLED, meter=first)
        cut.mend()
        if stopped.status == "completed":
            break
        await execute_branch(store, branch, script=TROUBLED, meter=second)

        assert event_bodies(whole, "b") == event_bodies(store, "b"), where
        served = first.served_of("b") + second.served_of("b")
        recorded = [exchange for exchange in calls_of(store, "b") if exchange in served]
        assert sorted(recorded) == sorted(served), where
        again = repeated_steps(store, "b")
        assert all(times <= 1 + again[step_of(exchange)] for exchange, times in served.items()), where
        assert verify(store).ok, where
    assert after > 8


REFUSED: dict[str, Callable[[ForkOrigin], object]] = {
    "rounds that would not be held": lambda origin: a_branch(
        origin, "round-3/started", under(origin, discussion={"max_rounds": 1})
    ),
    "answers that would have been read otherwise": lambda origin: a_branch(
        origin, "initial/check", under(origin, answers={"repairs": 0})
    ),
    **{f"the end: {at}": lambda origin, at=at: origin.point(at) for at in ("final/judgment", "completed")},
    **{
        f"no place: {at or 'nothing'}": lambda origin, at=at: origin.point(at)
        for at in ("round-9/started", "0", "99", "-1", "")
    },
    "no place: a long number": lambda origin: origin.point("9" * 5000),
}


def altered(record: DebateHistory) -> DebateHistory:
    digest, part = next(iter(record.parts.items()))
    return replace(record, parts={**record.parts, digest: part._replace(content=b"altered")})


async def test_what_cannot_be_branched_is_refused_with_the_place_that_can(
    store: KeptStore, refusals: RefusalTables
) -> None:
    origin = await a_debate(store, discussion={"end_early": False})

    of_record = {"an altered record": lambda _origin: ForkOrigin(altered(store.history("d0")))}

    refusals.check("branches", {**REFUSED, **of_record}, lambda make: make(origin), ForkRefused, OriginAltered)


@each_row("field", ["case", "secret"])
async def test_without_the_case_or_the_secret_nothing_is_branched(field: str) -> None:
    store = KeptStore()
    origin = await a_debate(store)
    erase(store, getattr(origin.opened, field))

    with pytest.raises(ForkRefused, match=rf"its {field} was erased; the debate can no longer be branched"):
        a_branch(origin_in(store), "opened", origin.panel())


async def test_another_order_of_speakers_is_refused_within_a_round_and_taken_before_it(store: KeptStore) -> None:
    origin = await a_debate(store, preset="adk-sequential")
    turned = under(
        origin,
        discussion={"speakers": {"base": ("sim-misuse", "sim-security", "sim-policy"), "kind": "fixed", "seed": 0}},
    )

    with pytest.raises(ForkRefused, match=r"event \d+ \(round-1/sim-policy/statement\) does not happen .* branch at"):
        a_branch(origin, "round-1/check", turned)

    branch = stored(store, a_branch(origin, "initial/check", turned))
    await execute_branch(store, branch)

    spoken = [one for one in events_of(store, branch.debate_id) if one.endswith("/statement")]
    assert "round-1/sim-misuse/statement" == spoken[0]


async def test_bookkeeping_counts_as_the_event_before_it_and_is_left_out(store: KeptStore) -> None:
    await Run(store, case=a_case_with_records).execute(script=TROUBLED)
    cut = KeptStore()
    for stream, events in store.histories(["d0"])[0].streams.items():
        kept = events[:4] if stream.startswith("debate/") else events
        append(cut, stream, [decode(event) for event in kept], store)
    append(cut, "debate/d0", [CoordinatorResumed(epoch=9, cause="coordinator", number=1, repeated_steps=())], store)
    append(cut, "debate/d0", [DebateCancelled(by="ops", reason=None)], store)
    origin = origin_in(cut)

    branch = stored(cut, a_branch(origin, "cancelled"))
    finished = await execute_branch(cut, branch, script=TROUBLED)

    assert (4, 4, 4) == (branch.version, origin.point("resumed/1"), origin.point("4"))
    assert finished.status == "completed"
    assert event_bodies(store, "d0")[1:] == event_bodies(cut, branch.debate_id)[2:]


def append(store: EventStore, stream: str, events: list, source: EventStore) -> None:
    """Events with the texts of the same debate elsewhere."""
    there = {part.ref.part: part for part in source.parts("d0").values()}
    new = []
    for event in events:
        body = encode(event, recorded_at=1).body
        parts = tuple(part for ref, part in there.items() if ref.encode() in body)
        new.append(encode(event, recorded_at=1, parts=parts))
    numbers = {}
    if stream.startswith("debate/"):
        head = store.heads([stream]).get(stream)
        numbers = {"expected_version": head.version if head else 0, "epoch": 9}
    (answer,) = store.append([Append(stream, tuple(new), **numbers)])
    assert answer.version


async def test_erased_answers_are_not_reused_and_what_comes_before_them_is(store: KeptStore) -> None:
    await a_debate(store)
    calls = (decode(one) for one in store.read_stream("calls/d0"))
    erase(store, next(call.answer for call in calls if call.step == "round-1/sim-security"))
    origin = origin_in(store)
    before = events_of(store, "d0").index("round-1/sim-policy/statement") + 1

    with pytest.raises(ForkRefused, match=rf"round-1/sim-security/.* were erased.* branch at {before} or earlier"):
        a_branch(origin, "round-2/started")

    branch = stored(store, a_branch(origin, before))
    assert (await execute_branch(store, branch)).status == "completed"


def erase(store: EventStore, ref: PartRef) -> None:
    version = len(events_of(store, "d0"))
    event = TextsErased(by="a", reason="b", scope="debate", number=1, parts=(ref,))
    store.append([Append("debate/d0", (encode(event, recorded_at=1),), version, store.next_epoch())])
    store.delete_parts("d0", [ref.digest])


async def test_a_branch_gets_the_same_id_for_the_same_place_and_settings(store: KeptStore) -> None:
    origin = await a_debate(store)
    panel, other = origin.panel(), under(origin, discussion={"max_rounds": 4})

    named = branch_id("d0", 5, panel)

    assert named.startswith("d0~at5-")
    assert named == branch_id("d0", 5, panel)
    assert 4 == len({named, branch_id("d0", 5, other), branch_id("d0", 6, panel), branch_id("d1", 5, panel)})
    assert 220 == len(branch_id("x" * 220, 5, panel))


async def test_a_charge_of_a_seat_stays_with_the_branch(store: KeptStore) -> None:
    seats = [{"model": "simulated/juror", "juror_id": "sim-policy", "prompt": "Look for lies."}]
    run = Run(store, seats=seats)
    await run.execute()

    branch = a_branch(origin_in(store), "opened")

    assert {"sim-policy": "Look for lies."} == branch.resolved.role_prompts
    assert "Look for lies." in " ".join(
        part.content.decode("utf-8", "replace") for event in branch.opening for part in event.parts
    )
