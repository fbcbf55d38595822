"""Bytes are made once and read for ever: every event type has a golden file, and old schemas are raised on reading."""

import json
from pathlib import Path

import pytest

from jury_events.codec import SCHEMAS, decode, encode
from jury_events.debate_events import DebateForked, DebateOpened, JurorAbstained
from jury_events.envelope import GENESIS, StoredEvent, chain_hash
from jury_events.errors import MalformedBody, UnknownEventType
from jury_events.exchange import ExchangeRecorded
from jury_events.upcasters import UPCASTERS
from support.samples import sample_events

GOLDEN = Path(__file__).parent / "golden"
SAMPLES = sample_events()


def stored(event_type: str, body: bytes, *, schema: int | None = None, event_id: str | None = None) -> StoredEvent:
    return StoredEvent(
        position=1,
        stream="debate/d1",
        version=1,
        event_id=event_id or SAMPLES[event_type].event_id,
        type=event_type,
        schema=SCHEMAS.get(event_type, 1) if schema is None else schema,
        recorded_at=1_700_000_000_000_000,
        body=body,
        hash=bytes(32),
    )


def test_there_is_a_sample_and_a_golden_file_for_every_type() -> None:
    assert set(SCHEMAS) == set(SAMPLES)
    assert {f"{name}.{SCHEMAS[name]}.json" for name in SCHEMAS} <= {path.name for path in GOLDEN.iterdir()}


@pytest.mark.parametrize("name", sorted(SCHEMAS))
def test_the_bytes_of_an_event_are_those_of_its_golden_file(name: str) -> None:
    golden = (GOLDEN / f"{name}.{SCHEMAS[name]}.json").read_bytes()

    assert golden == encode(SAMPLES[name], recorded_at=0).body
    assert SAMPLES[name] == decode(stored(name, golden))


@pytest.mark.parametrize("name", sorted(SCHEMAS))
def test_bodies_are_canonical(name: str) -> None:
    body = encode(SAMPLES[name], recorded_at=0).body

    assert body == json.dumps(json.loads(body), sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def test_an_abstention_of_schema_1_is_read_as_one_of_today() -> None:
    golden = (GOLDEN / "juror_abstained.1.json").read_bytes()

    event = decode(stored("juror_abstained", golden, schema=1, event_id="round-2/gpt/abstained"))

    assert isinstance(event, JurorAbstained)
    assert (event.step, event.reason, event.stale) == ("round-2/gpt", "timeout", True)


def test_an_opening_of_schema_1_has_no_pictures_and_nothing_of_its_case_but_the_label() -> None:
    golden = (GOLDEN / "debate_opened.1.json").read_bytes()

    event = decode(stored("debate_opened", golden, schema=1, event_id="opened"))

    assert isinstance(event, DebateOpened)
    assert ((), (), {}, ()) == (event.images, event.losses, event.metadata, event.tags)
    assert {False} == {place.images for place in event.panel.places}


def test_an_exchange_of_schema_1_sent_no_pictures() -> None:
    golden = (GOLDEN / "exchange_recorded.1.json").read_bytes()

    event = decode(stored("exchange_recorded", golden, schema=1))

    assert isinstance(event, ExchangeRecorded)
    assert {()} == {message.images for message in event.request}


def test_a_branch_of_schema_1_names_no_reused_steps() -> None:
    golden = (GOLDEN / "debate_forked.1.json").read_bytes()

    event = decode(stored("debate_forked", golden, schema=1, event_id="forked"))

    assert isinstance(event, DebateForked)
    assert (event.origin, event.version, event.steps, event.inherited) == ("r1~refund", 12, (), ())


def test_a_branch_tells_the_secret_of_each_reused_step() -> None:
    event = SAMPLES["debate_forked"]

    assert isinstance(event, DebateForked)
    (inherited,) = event.inherited
    steps = ("initial/gpt", "initial/a%2Fb", "round-1/gpt", "round-1/a%2Fb")
    assert [inherited.secret, event.secret, event.secret, None] == [event.secret_of(step) for step in steps]


def test_every_older_schema_has_its_way_up() -> None:
    needed = {(name, schema) for name, current in SCHEMAS.items() for schema in range(1, current)}

    assert needed == set(UPCASTERS)


@pytest.mark.parametrize(("event_type", "schema"), [("debate_opened", 99), ("verdict_overturned", 1)])
def test_what_a_newer_version_wrote_says_to_upgrade(event_type: str, schema: int) -> None:
    with pytest.raises(UnknownEventType, match="upgrade jury-judge"):
        decode(stored(event_type, b"{}", schema=schema, event_id="x"))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"{}",
        b'{"type":"debate_completed"}',
        b"\xff\xfe",
        (
            b'{"type":"debate_completed","final_verdict":"safe_pass","final_score":101,"total_rounds":0,'
            b'"end_reason":"consensus","early_termination":true}'
        ),
        (
            b'{"type":"debate_completed","final_verdict":"safe_pass","final_score":"90","total_rounds":0,'
            b'"end_reason":"consensus","early_termination":true}'
        ),
    ],
)
def test_a_body_that_is_no_event_is_named(body: bytes) -> None:
    with pytest.raises(MalformedBody, match=r"event 1 of debate/d1 \(debate_completed\)"):
        decode(stored("debate_completed", body))


def test_a_body_under_another_events_envelope_is_named() -> None:
    body = encode(SAMPLES["debate_completed"], recorded_at=0).body

    with pytest.raises(MalformedBody, match="the envelope says debate_completed 'other'"):
        decode(stored("debate_completed", body, event_id="other"))


def test_the_chain_hash_is_what_its_definition_says() -> None:
    expected = "2a10c01cd81aef486a813a0fcb9ec9fe6de222e2deb9155559d24939c6ed85ef"

    found = chain_hash(
        GENESIS,
        stream="debate/d1",
        version=1,
        event_id="opened",
        event_type="debate_opened",
        schema=1,
        recorded_at=1_700_000_000_000_000,
        body=b"{}",
    )

    assert expected == found.hex()


def test_no_two_envelopes_share_a_hash_by_moving_bytes_between_fields() -> None:
    def hashed(event_id: str, event_type: str) -> bytes:
        return chain_hash(
            GENESIS,
            stream="debate/d1",
            version=1,
            event_id=event_id,
            event_type=event_type,
            schema=1,
            recorded_at=0,
            body=b"",
        )

    assert hashed("ab", "c") != hashed("a", "bc")
