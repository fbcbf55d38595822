"""Replay names each event that does not follow from the models' answers. All hashes fit here."""

import asyncio
import json
import socket
from dataclasses import replace
from operator import methodcaller

import pytest

from jury_events import (
    DebateHistory,
    DebateNotFound,
    PartRef,
    TextsErased,
    calls_stream,
    debate_stream,
    encode,
    exchange_id,
)
from jury_replay import (
    SUFFIX,
    DebateSelection,
    DifferenceKind,
    Replayed,
    ReplayStatus,
    no_network,
    replay,
    replay_history,
    verify,
    write_cassette,
)
from jury_store import EventStore, MemoryEventStore
from support.corpus import CORPUS, EXPECTED, PLANS, course, record
from support.each_row import each_row
from support.forgery import Change, forged, recorded_in_corpus, set_to

CASSETTES = sorted(CORPUS.glob(f"*{SUFFIX}"))
SEQUENTIAL = "sequential-tools"


def _replayed(store: EventStore, record: DebateHistory) -> Replayed:
    assert verify(store).ok, "a forger who computes the hashes anew is not found by them"
    return replay_history(store.histories([record.debate_id])[0])


def test_a_debate_written_anew_as_it_was_is_equal() -> None:
    record = recorded_in_corpus(SEQUENTIAL)

    assert _replayed(forged(record), record).status is ReplayStatus.EQUAL


EVENT, PROMPT, CALL, TOOL = DifferenceKind

FORGED: dict[str, tuple[str, Change, DifferenceKind]] = {
    "a verdict": ("initial/sim-policy/evaluated", set_to("evaluation", "verdict", to="unsafe_fail"), EVENT),
    "a confidence": ("initial/sim-policy/evaluated", set_to("evaluation", "confidence", to=0.01), EVENT),
    "the model that answered": (
        "initial/sim-policy/evaluated", set_to("evaluation", "model_version", to="another"), EVENT,
    ),
    "that it was not simulated": ("initial/sim-policy/evaluated", set_to("evaluation", "simulated", to=False), EVENT),
    "a check": ("initial/check", set_to("check", "largest", to=3), EVENT),
    "why a discussion ended": ("round-1/check", set_to("end_reason", to="max_rounds"), EVENT),
    "a change of position": (
        "round-1/sim-misuse/statement", set_to("statement", "position_changed", to=True), EVENT,
    ),
    "a speaker order": (
        "round-1/started", set_to("speaker_order", to=["sim-misuse", "sim-policy", "sim-security"]), EVENT,
    ),
    "the judgment": ("final/judgment", set_to("judgment", "verdict", to="safe_pass"), EVENT),
    "a vote": ("final/judgment", set_to("judgment", "votes", 0, "confidence", to=0.99), EVENT),
    "the final verdict": ("completed", set_to("final_verdict", to="safe_pass"), EVENT),
    "the rounds": ("completed", set_to("total_rounds", to=0), EVENT),
    "whether tools were offered": ("initial/sim-policy/simulated%2Fjuror/1/1", set_to("tools", to=False), CALL),
    "a call's settings": (
        "initial/sim-policy/simulated%2Fjuror/1/1", set_to("settings", "max_output_tokens", to=16), CALL,
    ),
    "whose call it was": ("initial/sim-policy/simulated%2Fjuror/1/1", set_to("juror_id", to="sim-misuse"), CALL),
    **{
        f"the request of a call in {step}": (
            f"{step}/sim-policy/simulated%2Fjuror/1/1", lambda body: body["request"].reverse(), PROMPT,
        ) for step in ("initial", "round-1")
    },
    "the order of its prompt pieces": ("opened", lambda body: body["pieces"].reverse(), PROMPT),
    "a prompt piece, hidden by another of its name": (
        "opened", lambda body: body["pieces"].insert(0, {**body["pieces"][0], "text": body["secret"]}), PROMPT,
    ),
    "the outcome of a call": (
        "round-1/sim-policy/simulated%2Fjuror/1/1", set_to("outcome", to="blocked"), EVENT,
    ),
}  # fmt: skip


def test_a_forged_record_whose_hashes_fit_is_found(subtests: pytest.Subtests) -> None:
    for name, (event_id, change, kind) in FORGED.items():
        with subtests.test(name=name):
            record = recorded_in_corpus(SEQUENTIAL)

            replayed = _replayed(forged(record, change={event_id: change}), record)

            assert replayed.status is ReplayStatus.DIFFERENT
            assert kind in {difference.kind for difference in replayed.differences}
            assert replayed.differences[0].place in {event_id, *_following(record, event_id)}


def _following(record: DebateHistory, event_id: str) -> list[str]:
    """What may be named as well: the events of the call's step."""
    step = event_id.rsplit("/", 3)[0]
    return [one.event_id for one in record.streams[debate_stream(record.debate_id)] if one.event_id.startswith(step)]


TEXTS: dict[str, tuple[str, str, DifferenceKind]] = {
    "an answer": ('"confidence": 0.75', '"confidence": 0.25', EVENT),
    "what a prompt says": ("You are Juror A", "You are Judge A", PROMPT),
    "what a round's prompt says": ("discussion (round 1)", "discussion (round 9)", PROMPT),
    "what a tool answered": ('{"count":1', '{"count":7', TOOL),
}


def test_a_forged_text_whose_digest_fits_is_found(subtests: pytest.Subtests) -> None:
    for name, (old, new, kind) in TEXTS.items():
        with subtests.test(name=name):
            record = recorded_in_corpus(SEQUENTIAL)
            assert any(old.encode() in part.content for part in record.parts.values())
            store = forged(record, text=methodcaller("replace", old.encode(), new.encode()))

            replayed = _replayed(store, record)

            assert replayed.status is ReplayStatus.DIFFERENT
            assert kind in {difference.kind for difference in replayed.differences}


def test_a_call_that_follows_from_nothing_is_found() -> None:
    """The second try is recorded as a permanent failure, so there was no third."""
    record = recorded_in_corpus("repairs-and-fallbacks")
    change = {"initial/gemini/simulated%2Fjuror/1/2": set_to("outcome", to="bad_request")}

    replayed = _replayed(forged(record, change=change), record)

    assert replayed.status is ReplayStatus.DIFFERENT
    assert any("initial/gemini" in difference.place for difference in replayed.differences)


@each_row(
    ("step", "says"),
    [
        *((step, f"the step {step} is not asked") for step in ("round-7/sim-policy", "initial/nobody")),
        (
            "initial/sim-policy",
            "the step initial/sim-policy ends before this call (tries, repairs, tools, or the parser)",
        ),
    ],
)
def test_a_call_of_a_step_that_is_not_pending_is_found(step: str, says: str) -> None:
    replayed = replay_history(_with_call(recorded_in_corpus(SEQUENTIAL), step))

    assert [(CALL, f"{step}/simulated%2Fjuror/9/1", says)] == [
        (one.kind, one.place, one.cause) for one in replayed.differences
    ]


def test_a_late_answer_to_a_debate_that_was_cancelled_is_none_of_them() -> None:
    record = recorded_in_corpus("cancelled-in-the-middle")
    due, later = (
        replay_history(_with_call(record, step)).status for step in ("round-1/sim-policy", "round-2/sim-policy")
    )

    assert (ReplayStatus.EQUAL, ReplayStatus.DIFFERENT) == (due, later)


def _with_call(record: DebateHistory, step: str) -> DebateHistory:
    """A ninth turn of a step."""
    stream = calls_stream(record.debate_id)
    body = {**json.loads(record.streams[stream][-1].body), "step": step, "model": "simulated/juror", "turn": 9}
    call = record.streams[stream][-1]._replace(
        event_id=exchange_id(step, "simulated/juror", 9, 1), body=json.dumps(body).encode()
    )
    return replace(record, streams={**record.streams, stream: [*record.streams[stream], call]})


def test_a_debate_that_was_not_finished_is_equal_as_far_as_it_came() -> None:
    record = recorded_in_corpus("tie-of-two")
    store = forged(record, without=("final/judgment", "completed"))

    replayed = _replayed(store, record)

    assert (ReplayStatus.EQUAL, 5, False) == (replayed.status, replayed.events, replayed.finished)


def test_an_ended_debate_is_finished_however_it_ended() -> None:
    ended = [replay_history(recorded_in_corpus(name)).finished for name in (SEQUENTIAL, "cancelled-in-the-middle")]

    assert [True, True] == ended


def test_another_request_in_a_debate_that_stopped_is_reported_once_a_call() -> None:
    record = recorded_in_corpus("parallel-tools-ja")
    debate, calls = debate_stream(record.debate_id), calls_stream(record.debate_id)
    asked = [one for one in record.streams[calls] if one.event_id.startswith("initial/")]
    asked.pop()
    hotter = [one._replace(body=one.body.replace(b'"timeout_', b'"temperature":0.9,"timeout_')) for one in asked]
    stopped = replace(record, streams={debate: record.streams[debate][:2], calls: hotter})

    replayed = replay_history(stopped)

    assert sorted(one.event_id for one in asked) == sorted(one.place for one in replayed.differences)


def test_the_record_of_one_debate_under_the_name_of_another_is_unreadable() -> None:
    record = recorded_in_corpus("tie-of-two")

    store = forged(record, change={"opened": set_to("debate_id", to="another")})
    replayed = replay_history(store.histories([record.debate_id])[0])

    assert "it opens another debate, another" == verify(store).failures[0].what
    assert replayed.status is ReplayStatus.UNREADABLE
    assert f"debate {record.debate_id} begins with the opening of another, another" == replayed.detail


def test_a_call_among_the_events_is_unreadable() -> None:
    record = recorded_in_corpus("tie-of-two")
    debate, calls = debate_stream(record.debate_id), calls_stream(record.debate_id)
    moved = replace(
        record, streams={debate: [*record.streams[debate], record.streams[calls][0]], calls: record.streams[calls][1:]}
    )

    replayed = replay_history(moved)

    assert replayed.status is ReplayStatus.UNREADABLE
    assert f"is stored in {debate}" in (replayed.detail or "")


@pytest.mark.parametrize(("named", "status"), [(True, ReplayStatus.ERASED), (False, ReplayStatus.UNREADABLE)])
def test_a_lost_text_is_not_erased_because_another_one_was(named: bool, status: ReplayStatus) -> None:
    record = recorded_in_corpus("tie-of-two")
    case = json.loads(record.streams[debate_stream(record.debate_id)][0].body)["case"]
    other = next(part.ref.part for part in record.parts.values() if part.ref.part != case["part"])
    lost = replace(record, parts={key: one for key, one in record.parts.items() if one.ref.part != case["part"]})

    replayed = replay_history(_with_erasure(lost, case["part"] if named else other))

    assert (status, True) == (replayed.status, case["part"] in (replayed.detail or ""))


def _with_erasure(record: DebateHistory, part: str) -> DebateHistory:
    """An erasure of this text and of an unknown one is recorded; no text is removed."""
    erased = TextsErased(
        by="ops", reason="asked", scope="debate", number=1, parts=(PartRef(part=part), PartRef(part="A" * 43))
    )
    stream = debate_stream(record.debate_id)
    last, new = record.streams[stream][-1], encode(erased, recorded_at=1)
    stored = last._replace(event_id=new.event_id, type=new.type, schema=new.schema, body=new.body)
    return replace(record, streams={**record.streams, stream: [*record.streams[stream], stored]})


def test_a_name_that_is_no_debate_is_an_error() -> None:
    with pytest.raises(DebateNotFound, match="there is no debate 'nope'"):
        list(replay(MemoryEventStore(), DebateSelection(("nope",))))


def test_every_debate_of_the_corpus_is_recorded_again_as_it_is_kept(subtests: pytest.Subtests) -> None:
    """`python tests/support/corpus.py` records the corpus anew, where rules, prompts or events changed on purpose."""
    expected = json.loads(EXPECTED.read_text("utf-8"))

    assert (
        sorted(expected)
        == sorted(PLANS)
        == sorted(path.name.removesuffix(SUFFIX) for path in CORPUS.glob(f"*{SUFFIX}"))
    )
    for name, plan in PLANS.items():
        with subtests.test(name=name):
            history = asyncio.run(record(name, plan))

            assert expected[name] == course(history)
            assert (CORPUS / (name + SUFFIX)).read_bytes() == write_cassette(history)


def test_no_connection_and_no_lookup_leaves_the_process_meanwhile() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        address = listener.getsockname()
        with no_network():
            with pytest.raises(PermissionError, match="without a network"):
                socket.create_connection(address)
            with pytest.raises(PermissionError, match="without a network"), socket.socket() as sender:
                sender.connect(address)

        socket.create_connection(address).close()


def test_processes_of_one_machine_may_still_talk() -> None:
    with no_network():
        ours, theirs = socket.socketpair()
        ours.sendall(b"x")

        assert theirs.recv(1) == b"x"

    ours.close()
    theirs.close()
