"""Bytes are made once and read for ever: every event type has a golden file, and old schemas are raised on reading."""

import json
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_events import (
    GENESIS,
    INPUTS,
    SCHEMAS,
    STREAMS,
    UPCASTERS,
    AnyEvent,
    DebateEvent,
    DebateForked,
    DebateOpened,
    EventError,
    ExchangeRecorded,
    JurorAbstained,
    LocalEvent,
    MalformedBody,
    ReviewEvent,
    StoredEvent,
    UnknownEventType,
    Usage,
    canonical_json,
    chain_hash,
    decode,
    decode_batch,
    decode_drift,
    decode_exactly,
    decode_local,
    decode_review,
    decode_run,
    encode,
)
from support.each_row import each_row
from support.samples import sample_events

GOLDEN = Path(__file__).parent / "golden"
SAMPLES = sample_events()


def stored(event_type: str, body: bytes, *, schema: int | None = None, event_id: str | None = None) -> StoredEvent:
    return StoredEvent(
        position=1,
        stream=STREAMS.get(event_type, "debate/") + "d1",
        version=1,
        event_id=event_id or SAMPLES[event_type].event_id,
        type=event_type,
        schema=SCHEMAS.get(event_type, 1) if schema is None else schema,
        recorded_at=1_700_000_000_000_000,
        body=body,
        hash=bytes(32),
    )


def read(row: StoredEvent) -> AnyEvent:
    kind = row.stream.partition("/")[0]
    return {
        "local": decode_local,
        "review": decode_review,
        "batches": decode_batch,
        "run": decode_run,
        "drift": decode_drift,
    }.get(kind, decode)(row)


def test_there_is_a_sample_and_a_golden_file_for_every_type() -> None:
    assert set(SCHEMAS) == set(SAMPLES)
    assert {f"{name}.{SCHEMAS[name]}.json" for name in SCHEMAS} == {path.name for path in GOLDEN.iterdir()}


def test_the_bytes_of_an_event_are_those_of_its_golden_file(subtests: pytest.Subtests) -> None:
    for name in SCHEMAS:
        with subtests.test(name):
            golden = (GOLDEN / f"{name}.{SCHEMAS[name]}.json").read_bytes()

            assert golden == encode(SAMPLES[name], recorded_at=0).body
            assert SAMPLES[name] == read(stored(name, golden))


def dumped(event: AnyEvent) -> bytes:
    """The bytes as `docs/log-format.md` defines them, from pydantic's own dump."""
    decoded = event.model_dump(mode="json", exclude_none=True)
    return json.dumps(decoded, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def test_a_body_has_the_bytes_of_the_events_dump(subtests: pytest.Subtests) -> None:
    for name in SCHEMAS:
        with subtests.test(name):
            assert dumped(SAMPLES[name]) == encode(SAMPLES[name], recorded_at=0).body


MAGNITUDES = st.builds(lambda digits, power: digits * 10.0**power, st.integers(0, 10**6), st.integers(-12, 24))
NUMBERS = st.floats(min_value=0, allow_nan=False, allow_infinity=False) | MAGNITUDES
LABELS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1, max_size=20)
METADATA = st.dictionaries(LABELS, LABELS | st.booleans() | st.integers(-(2**53), 2**53) | NUMBERS, max_size=4)


@given(cost=NUMBERS | st.none(), latency=NUMBERS, label=LABELS, metadata=METADATA, tokens=st.integers(0, 2**63 - 1))
def test_any_number_and_label_has_the_bytes_of_the_dump(
    cost: float | None, latency: float, label: str, metadata: dict[str, Any], tokens: int
) -> None:
    exchange, opened = SAMPLES["exchange_recorded"], SAMPLES["debate_opened"]
    assert isinstance(exchange, ExchangeRecorded)
    assert isinstance(opened, DebateOpened)
    exchange = exchange.changed(
        cost=cost, latency_ms=latency, request_id=label, usage=Usage(output_tokens=tokens), finish_reason=label
    )
    opened = opened.changed(metadata=metadata, tags=(label,), agent_cost=cost, cluster=label)

    assert dumped(exchange) == canonical_json(exchange)
    assert dumped(opened) == canonical_json(opened)


@each_row(
    "number",
    [0.0, -0.0, 5e-324, 1e-07, 1e-05, 9.999e-05, 0.0001, 0.1 + 0.2, 123456.5, 9999999999999998.0, 1e16, 1.5e17, 1e300],
)
def test_a_number_is_written_as_python_writes_it(number: float) -> None:
    exchange = SAMPLES["exchange_recorded"]
    assert isinstance(exchange, ExchangeRecorded)

    body = encode(exchange.changed(latency_ms=number), recorded_at=0).body

    assert f'"latency_ms":{number!r},'.encode() in body


@given(step=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40))
def test_any_text_has_the_bytes_of_the_dump(step: str) -> None:
    abstained = SAMPLES["juror_abstained"]
    assert isinstance(abstained, JurorAbstained)
    abstained = abstained.changed(step=step, exchanges=(step, step[::-1]))

    assert dumped(abstained) == encode(abstained, recorded_at=0).body


def test_what_no_database_stores_is_refused() -> None:
    exchange, abstained = SAMPLES["exchange_recorded"], SAMPLES["juror_abstained"]
    assert isinstance(exchange, ExchangeRecorded)
    assert isinstance(abstained, JurorAbstained)

    for tokens in (2**63, 2**64, 10**30):
        with pytest.raises(MalformedBody, match="which no database stores"):
            encode(exchange.changed(usage=Usage(output_tokens=tokens)), recorded_at=0)
    with pytest.raises(EventError, match=r"the lone surrogate U\+D800 at index"):
        encode(abstained.model_copy(update={"step": "initial/\ud800"}), recorded_at=0)


def test_a_fork_names_the_secret_of_each_reused_step() -> None:
    event = SAMPLES["debate_forked"]

    assert isinstance(event, DebateForked)
    (inherited,) = event.inherited_steps
    steps = ("initial/gpt", "initial/a%2Fb", "round-1/gpt", "round-1/a%2Fb")
    assert [inherited.secret, event.secret, event.secret, None] == [event.secret_of(step) for step in steps]


def test_every_schema_is_the_first_and_an_older_one_would_need_an_upcaster() -> None:
    needed = {(name, schema) for name, current in SCHEMAS.items() for schema in range(1, current)}

    assert {1} == {*SCHEMAS.values()}
    assert needed == set(UPCASTERS)


def renamed(body: dict[str, Any]) -> dict[str, Any]:
    """From a schema in which a person who cancelled was named `who`."""
    return {"by": body["who"], **{name: one for name, one in body.items() if name != "who"}}


@pytest.fixture
def second_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    """A later version, in which a field of the cancellation has another name."""
    monkeypatch.setitem(SCHEMAS, "debate_cancelled", 2)
    monkeypatch.setitem(UPCASTERS, ("debate_cancelled", 1), renamed)


@pytest.mark.usefixtures("second_schema")
def test_a_body_of_an_older_schema_is_read_as_the_event_of_today() -> None:
    old = stored("debate_cancelled", b'{"type":"debate_cancelled","who":"operator"}', schema=1)
    spaced = old._replace(body=b'{"type": "debate_cancelled","who":"operator"}')

    assert SAMPLES["debate_cancelled"] == decode(old) == decode_exactly(old) == decode(spaced)
    with pytest.raises(MalformedBody, match="not canonical JSON"):
        decode_exactly(spaced)
    with pytest.raises(UnknownEventType, match=r"schema 3, .*upgrade jury-judge"):
        decode(old._replace(schema=3))


@pytest.mark.usefixtures("second_schema")
@each_row("body", [b"[]", b"{}", b'{"who":7}', b"[" * 100_000, b'{"who":NaN}'])
def test_an_older_body_that_is_not_an_event_is_refused(body: bytes) -> None:
    with pytest.raises(MalformedBody, match=r"event 1 of debate/d1 .debate_cancelled. does not decode"):
        decode(stored("debate_cancelled", body, schema=1))


@each_row(("event_type", "schema"), [("debate_opened", 99), ("verdict_overturned", 1)])
def test_the_error_of_an_event_of_a_newer_version_asks_to_upgrade(event_type: str, schema: int) -> None:
    with pytest.raises(UnknownEventType, match="upgrade jury-judge"):
        decode(stored(event_type, b"{}", schema=schema, event_id="x"))


@each_row(
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
def test_a_body_that_is_not_an_event_is_refused(body: bytes) -> None:
    with pytest.raises(MalformedBody, match=r"event 1 of debate/d1 \(debate_completed\)"):
        decode(stored("debate_completed", body))


def test_a_body_under_another_events_envelope_is_refused() -> None:
    body = encode(SAMPLES["debate_completed"], recorded_at=0).body

    with pytest.raises(MalformedBody, match="the envelope says debate_completed 'other'"):
        decode(stored("debate_completed", body, event_id="other"))


def test_a_body_decodes_exactly_and_without_one_of_its_fields_only_as_another_event(subtests: pytest.Subtests) -> None:
    for name in SCHEMAS:
        with subtests.test(name):
            body = encode(SAMPLES[name], recorded_at=0).body
            whole = stored(name, body)

            assert SAMPLES[name] == decode_exactly(whole) == read(whole)
            for changed in map(canonical, lacking_one(json.loads(body))):
                try:
                    event = decode_exactly(whole._replace(body=changed))
                except (MalformedBody, UnknownEventType):
                    continue
                assert (changed, False) == (encode(event, recorded_at=0).body, event == SAMPLES[name])


def canonical(body: object) -> bytes:
    return json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def lacking_one(value: Any, key: str = "") -> Iterator[Any]:
    """A body without one of its fields, at any depth; the names in `metadata` are no fields."""
    if isinstance(value, dict):
        for name, one in value.items():
            if key != "metadata":
                yield {other: there for other, there in value.items() if other != name}
            yield from ({**value, name: changed} for changed in lacking_one(one, name))
    elif isinstance(value, list):
        for at, one in enumerate(value):
            yield from ([*value[:at], changed, *value[at + 1 :]] for changed in lacking_one(one))


@each_row(
    ("old", "new"),
    [
        (b'"cost":', b'"cost": '),
        (b'"cost":', b'"answer":null,"cost":'),
        (b'"simulated":', b'"simul\\u0061ted":'),
        (b'"latency_ms":812.125', b'"latency_ms":812.1250'),
        (b'"cost":0.00421', b'"cost":0'),
        (b'"input_tokens":1200', b'"input_tokens":9223372036854775808'),
        (b'"input_tokens":1200', b'"input_tokens":-9223372036854775809'),
        (b'"input_tokens":1200', b'"input_tokens":' + b"9" * 5000),
        (b'"latency_ms":812.125', b'"latency_ms":1e999'),
    ],
)
def test_a_body_in_another_notation_is_not_exact(old: bytes, new: bytes) -> None:
    golden = encode(SAMPLES["exchange_recorded"], recorded_at=0).body
    assert golden.count(old) == 1

    with pytest.raises(MalformedBody):
        decode_exactly(stored("exchange_recorded", golden.replace(old, new)))


def test_a_number_that_no_database_stores_is_not_encoded() -> None:
    exchange = SAMPLES["exchange_recorded"]
    assert isinstance(exchange, ExchangeRecorded)

    most = exchange.changed(usage=Usage(input_tokens=2**63 - 1), request_id="9" * 40)
    beyond = exchange.changed(usage=Usage(input_tokens=2**63))

    assert b"9223372036854775807" in encode(most, recorded_at=0).body
    with pytest.raises(MalformedBody, match=r"9.22337e\+18, which no database stores"):
        encode(beyond, recorded_at=0)


def test_an_event_in_a_stream_of_another_kind_is_refused(subtests: pytest.Subtests) -> None:
    for name, prefix in product(SCHEMAS, ("debate/", "calls/", "local/", "review/", "x/")):
        with subtests.test(f"{prefix}: {name}"):
            row = stored(name, encode(SAMPLES[name], recorded_at=0).body)._replace(stream=f"{prefix}d1")

            if prefix == STREAMS[name]:
                assert SAMPLES[name] == decode_exactly(row)
            else:
                with pytest.raises(
                    MalformedBody, match=f"event 1 of {prefix}d1 is '{name}', which belongs to a stream"
                ):
                    decode_exactly(row)
            if prefix in {"local/", "review/"} or isinstance(SAMPLES[name], LocalEvent | ReviewEvent):
                with pytest.raises(MalformedBody):
                    decode(row)
            if prefix != "review/" or not isinstance(SAMPLES[name], ReviewEvent):
                with pytest.raises(MalformedBody):
                    decode_review(row)


def test_a_review_has_the_number_of_its_place_in_the_stream() -> None:
    row = stored("human_reviewed", encode(SAMPLES["human_reviewed"], recorded_at=0).body)

    with pytest.raises(MalformedBody, match="its number is 1"):
        decode_review(row._replace(version=2))


def test_the_chain_hash_is_as_defined() -> None:
    expected = "bd52624d88dccd0756e38b3ea9c46204946d3fd950766ca9d03ba45477cc4d65"

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


ROOT = Path(__file__).parents[2]

PLACES = {
    "the rules": "debate/jury_debate/rules_1/rules.py",
    "the fold for people": "views/jury_views/debate_fold.py",
    "its words": "views/jury_views/event_words.py",
    "the name of its kind": "views/jury_views/terms.py",
    "the rows of lists": "store/jury_store/projection.py",
}
"""Beside its class, the codec, which this test reads, and the stand-alone auditor, which needs none of them by name."""

OF_COMPUTED = {"why a replay differs": "replay/jury_replay/replay.py"}
"""Of all but inputs: these are computed again."""

WITHOUT = {
    ("juror_abstained", "the rows of lists"): "no column says who abstained before the judgment",
    ("reasoning_shown", "the rows of lists"): "the votes after it are those of phase 1",
    ("seats_not_asked", "the rows of lists"): "the judgment's votes say it",
    ("texts_erased", "the rows of lists"): "texts are no columns",
}


def test_a_type_stands_in_every_place_or_it_is_said_why_not() -> None:
    missed = {}
    for event in DebateEvent.__args__:
        name = event.model_fields["type"].default
        named = re.compile(rf'\b{event.__name__}\b|"{name}"')
        for place, path in (PLACES if name in INPUTS else PLACES | OF_COMPUTED).items():
            if not named.search((ROOT / path).read_text(encoding="utf-8")):
                missed[name, place] = path

    assert set(WITHOUT) == set(missed), missed
