"""A debate over pictures with a sighted and a blind seat: recorded, replayed, erased."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from unittest.mock import patch

import pytest

from jury_actors import ForgetDebate, Juror, StepRequest
from jury_debate import CASE_WITH_IMAGES, CallMessage, ResolvedPanel, spec_of
from jury_events import (
    DebateOpened,
    ExchangeRecorded,
    ImageRef,
    JurorEvaluated,
    RequestMessage,
    calls_stream,
    debate_stream,
    decode,
)
from jury_replay import (
    ErasureOrder,
    ReplayStatus,
    erase,
    replay_history,
    request_changes,
    verify,
)
from jury_store import EventStore
from support.branches import a_branch, execute_branch, origin_in, stored
from support.debate_harness import DeterministicParts
from support.each_row import each_row
from support.pictures import OTHER_PNG, PNG, a_case_with_pictures
from support.runtime_harness import KeptStore, Run, completed

SIGHTED, BLIND = "sighted", "blind"
SEATS = [
    {"model": "simulated/a", "juror_id": SIGHTED, "images": True},
    {"model": "simulated/b", "juror_id": BLIND},
]


async def judged(store: KeptStore) -> KeptStore:
    """The debate `d0`."""
    run = Run(
        store,
        case=lambda case_id: a_case_with_pictures(case_id=case_id),
        seats=SEATS,
        discussion={"max_rounds": 1, "end_early": False},
        final={"judge": {"model": "simulated/judge", "images": True}},
    )
    assert completed((await run.execute()).values())
    return store


@pytest.fixture(scope="module")
def record() -> KeptStore:
    return asyncio.run(judged(KeptStore()))


class Log:
    """All that the store has of a debate."""

    def __init__(self, store: EventStore, debate_id: str = "d0") -> None:
        self.events = [decode(one) for one in store.read_stream(debate_stream(debate_id))]
        self.calls = [decode(one) for one in store.read_stream(calls_stream(debate_id))]
        self._parts = store.parts(debate_id)

    @property
    def opened(self) -> DebateOpened:
        assert isinstance(self.events[0], DebateOpened)
        return self.events[0]

    def exchanges(self, juror_id: str | None) -> list[ExchangeRecorded]:
        return [call for call in self.calls if isinstance(call, ExchangeRecorded) and call.juror_id == juror_id]

    def shown(self, exchange: ExchangeRecorded) -> tuple[str, list[tuple[str, bytes]]]:
        """The user's text of a request, and the pictures that followed it."""
        user = exchange.request[1]
        text = b"".join(self._parts[ref.digest].content for ref in user.parts).decode().replace("ˆ", " ")
        return text, [(image.media_type, self._parts[image.content.digest].content) for image in user.images]

    def count(self, content: bytes) -> int:
        return sum(part.content == content for part in self._parts.values())


def test_only_sighted_seats_are_sent_pictures_and_the_others_get_a_description(record: KeptStore) -> None:
    log = Log(record)

    for juror in (SIGHTED, None):
        for exchange in log.exchanges(juror):
            text, pictures = log.shown(exchange)

            assert [("image/png", PNG), ("image/png", OTHER_PNG)] == pictures
            assert ("picture 1 of 2" in text, "picture 2 of 2" in text, "not shown: image" in text) == (
                True,
                True,
                False,
            )
    for exchange in log.exchanges(BLIND):
        text, pictures = log.shown(exchange)

        assert [] == pictures
        assert (2, 0) == (text.count("not shown: image/png"), text.count("of this message"))


def test_a_picture_is_kept_once_a_debate(record: KeptStore) -> None:
    log = Log(record)

    assert (1, 1) == (log.count(PNG), log.count(OTHER_PNG))
    assert ["image/png", "image/png"] == [image.media_type for image in log.opened.images]
    assert CASE_WITH_IMAGES in [piece.name for piece in log.opened.pieces]


def test_a_simulated_seat_says_that_it_does_not_read_the_pictures_that_it_is_sent(record: KeptStore) -> None:
    parts = record.parts("d0")
    evaluated = [event for event in Log(record).events if isinstance(event, JurorEvaluated)]

    assert 2 == len(evaluated)
    for event in evaluated:
        said = parts[event.evaluation.rationale.digest].content
        assert (event.juror_id == SIGHTED) == (b"2 pictures not read" in said)


async def test_without_a_sighted_seat_no_picture_is_kept() -> None:
    store = KeptStore()
    run = Run(store, case=lambda case_id: a_case_with_pictures(case_id=case_id))
    await run.execute()
    log = Log(store)

    assert ((), 0) == (log.opened.images, log.count(PNG))
    assert [("image/png", 2)] == [(omission.what, omission.count) for omission in log.opened.omissions]
    assert ReplayStatus.EQUAL is replay_history(store.histories(["d0"])[0]).status


async def test_a_branch_has_no_pictures_where_its_origin_kept_none_and_reports_it() -> None:
    store = KeptStore()
    run = Run(store, case=lambda case_id: a_case_with_pictures(case_id=case_id))
    await run.execute()
    origin = origin_in(store)
    branch = stored(store, a_branch(origin, 1, with_images(origin.panel(), images=True)))
    await execute_branch(store, branch)
    opened = Log(store, branch.debate_id).opened

    assert () == opened.images
    assert [("image/png", 2)] == [(omission.what, omission.count) for omission in opened.omissions]
    assert ReplayStatus.EQUAL is replay_history(store.histories([branch.debate_id])[0]).status


def with_images(resolved: ResolvedPanel, *, images: bool) -> ResolvedPanel:
    seats = tuple(seat.changed(images=images) for seat in resolved.panel.seats)
    return resolved._replace(panel=resolved.panel.changed(seats=seats))


@each_row(("images", "sent"), [(True, 2), (False, 0)])
async def test_a_branch_may_send_them_to_other_seats_and_the_judge_gets_them_as_before(
    record: KeptStore, *, images: bool, sent: int
) -> None:
    origin = origin_in(record)
    branch = stored(record, a_branch(origin, 1, with_images(origin.panel(), images=images)))
    await execute_branch(record, branch)
    log = Log(record, branch.debate_id)

    assert {sent} == {len(log.shown(one)[1]) for juror in (SIGHTED, BLIND) for one in log.exchanges(juror)}
    assert [("image/png", PNG), ("image/png", OTHER_PNG)] == log.shown(log.exchanges(None)[0])[1]
    assert (1, 1) == (log.count(PNG), log.count(OTHER_PNG))
    assert [True, None] == [seat.images for seat in spec_of(origin.panel()).seats]


@each_row("scope", ["debate", "case", None])
async def test_pictures_are_erased_with_their_debate_and_stay_where_an_exchange_is_erased(scope: str | None) -> None:
    store = await judged(KeptStore())
    exchange = Log(store).exchanges(SIGHTED)[0].event_id
    erase(store, "d0", ErasureOrder("dpo", "request 17", scope or exchange), now=1)
    log = Log(store)

    assert verify(store).ok
    if scope is None:
        assert (1, 1) == (log.count(PNG), log.count(OTHER_PNG)), "the case needs them"
    else:
        assert {} == store.parts("d0")
        assert ReplayStatus.ERASED is replay_history(store.histories(["d0"])[0]).status


def a_request(pen: DeterministicParts, *pictures: bytes) -> tuple[CallMessage, ...]:
    images = tuple(ImageRef(media_type="image/png", content=pen.make(content)) for content in pictures)
    return (CallMessage("user", (pen.make("Look."),), images=images),)


@each_row(
    ("sent", "now", "path"),
    [
        ((PNG, OTHER_PNG), (PNG, OTHER_PNG), []),
        ((PNG,), (), ["request.0.images"]),
        ((), (PNG,), ["request.0.images"]),
        ((PNG, OTHER_PNG), (OTHER_PNG, PNG), ["request.0.images.0", "request.0.images.1"]),
    ],
    ids=["the same", "gone", "new", "in another order"],
)
def test_a_request_with_other_pictures_is_another_request(
    sent: tuple[bytes, ...], now: tuple[bytes, ...], path: list[str]
) -> None:
    pen = DeterministicParts()
    (message,) = a_request(pen, *sent)
    recorded = (RequestMessage(role="user", parts=message.parts, images=message.images),)

    changes = request_changes(recorded, a_request(pen, *now), lambda ref: pen.texts[ref.part])

    assert path == [change.path for change in changes]
    assert all("PNG" not in str(change) for change in changes), "a picture is named by its digest"


async def test_a_jurors_process_is_sent_each_picture_of_a_debate_once() -> None:
    sent: Counter[tuple[int, bytes]] = Counter()
    submit = Juror.submit

    async def counted(juror: Juror, messages: Sequence[StepRequest | ForgetDebate]) -> None:
        requests = [message for message in messages if isinstance(message, StepRequest)]
        sent.update((id(juror), text) for one in requests for text in one.texts.values() if text in {PNG, OTHER_PNG})
        await submit(juror, messages)

    with patch.object(Juror, "submit", counted):
        await judged(KeptStore())

    assert {1} == set(sent.values())
    assert 4 == len(sent), "two pictures to the sighted seat and to the judge, none to the blind seat"
