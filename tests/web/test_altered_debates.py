"""An altered debate is not shown as if it were sound, by no endpoint, page, live stream or method."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from jury_events import CallOutcome, JuryError, Usage, Verdict
from jury_judge import Feed, NewReview, Records, Service
from jury_replay import RecordDamaged, intact_history
from jury_store import MemoryEventStore
from jury_web import create_app
from support.debate_builder import DebateBuilder
from support.pages import Site, stored
from support.recorded_reviews import record_review
from support.tampered_store import TamperedStore, flips
from support.unguarded import unguarded

from .conftest import BASE, GATE

NO_RECORD = {("events", "position"), ("streams", "epoch")}
"""Columns of the store, not of a debate."""


@pytest.fixture
def store() -> MemoryEventStore:
    """A debate with a discussion, a model call and a review of it."""
    made = DebateBuilder().phase_1().round_1().judged()
    made.called("openai/m", CallOutcome.ANSWERED, Usage(), None)
    found = stored(made.opened_as(debate_id="d", case_id="c"))
    record_review(found, "d", NewReview("ann", Verdict.UNSAFE_FAIL, "No."), clock=lambda: 1)
    return found


@pytest.mark.full
def test_a_flipped_bit_of_any_column_of_an_event_a_head_or_a_text_is_refused(store: MemoryEventStore) -> None:
    log = TamperedStore(store)
    sound: list[Any] = []
    for table, rows in (("events", log.events), ("streams", log.streams), ("texts", log.texts)):
        for number, row in enumerate(rows):
            first, part = row if isinstance(row[0], str) and len(row) == 2 else (None, row)
            for column in part._fields:
                if (table, column) in NO_RECORD:
                    continue
                for value in flips(getattr(part, column), every_bit=False):
                    changed = part._replace(**{column: value})
                    other = log.changed(table, number, changed if first is None else (first, changed))
                    if _reads(other):
                        sound.append((table, number, column, value))

    assert [] == sound


def _reads(store: TamperedStore) -> bool:
    try:
        intact_history(store, "d")
    except JuryError:
        return False
    return True


def test_a_removed_event_head_or_text_is_refused(store: MemoryEventStore) -> None:
    log = TamperedStore(store)
    kept = [
        (table, number)
        for table in ("events", "streams", "texts")
        for number in range(len(getattr(log, table)))
        if _reads(log.without(table, number))
    ]

    assert _reads(log)
    assert [] == kept


ALTERATIONS = {
    "an event": "UPDATE events SET recorded_at = recorded_at + 1 WHERE stream = 'debate/d' AND version = 3",
    "a call": "UPDATE events SET body = CAST(replace(CAST(body AS TEXT), 'answered', 'timeout_') AS BLOB) "
    "WHERE stream = 'calls/d'",
    "a text": "UPDATE parts SET content = CAST(content || '!' AS BLOB) WHERE rowid = 1",
    "a text less": "DELETE FROM parts WHERE rowid = 1",
}

ADDRESSES = (
    "",
    "/events",
    "/events?stream=calls",
    "/exchanges",
    "/exchanges/1",
    "/exchanges/1/raw",
    "/live",
    "/progress",
)

PAGES = ("", "/events", "/exchanges/1", "/transcripts/1", "/transcripts/1/1", "/export.html")


@pytest.fixture(params=ALTERATIONS)
def altered(request: pytest.FixtureRequest, store: MemoryEventStore) -> MemoryEventStore:
    with unguarded(store) as connection:
        connection.execute(ALTERATIONS[request.param])
    return store


def test_every_endpoint_answers_with_500_and_what_looks_at_it(altered: MemoryEventStore) -> None:
    with TestClient(create_app(Service(altered), GATE), base_url=BASE, raise_server_exceptions=False) as client:
        answers = {one: client.get(f"/api/debates/d{one}") for one in ADDRESSES}
        answers["replay"] = client.post("/api/debates/d/replay")

    assert dict.fromkeys(answers, 500) == {one: answer.status_code for one, answer in answers.items()}
    assert all("debate d was altered: " in answer.json()["error"] for answer in answers.values())
    assert all("jury verify d " in answer.json()["remedy"] for answer in answers.values())


def test_every_page_answers_with_500_and_says_so(altered: MemoryEventStore) -> None:
    site = Site(altered)
    pages = {one: site.get(f"/debates/d{one}") for one in PAGES} | {"review": site.get("/reviews/d")}

    assert dict.fromkeys(pages, 500) == {one: page.status for one, page in pages.items()}
    assert all("altered" in page.text for page in pages.values())
    assert "Why:" not in site.get("/?check=1").text


async def test_methods_and_live_streams_refuse_it(altered: MemoryEventStore) -> None:
    records = Records.over(altered, Feed(altered))
    with pytest.raises(RecordDamaged, match="jury verify d "):
        await records.read("d")
    with pytest.raises(RecordDamaged):
        await records.result("d")
    with pytest.raises(RecordDamaged):
        await records.item_messages("d")
    with pytest.raises(RecordDamaged):
        async for _ in records.events("d"):
            pass
    with pytest.raises(RecordDamaged):
        await records.cassette("d")
