"""A provider's list of batches, and its clock: what they say, and when they say nothing."""

from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from jury_events import CallOutcome
from jury_providers import BatchUnavailable, ItemEnd, PreparedBatch
from jury_providers.batches.documents import listed, may_be
from support.batched import HOUR, PROTOCOLS, START, BatchedModels, BatchProtocol, batched_models

SENT_AFTER = datetime.fromtimestamp(START, UTC)


@pytest.fixture(params=PROTOCOLS)
def protocol(request: pytest.FixtureRequest) -> BatchProtocol:
    return PROTOCOLS[request.param]


@pytest_asyncio.fixture
async def models(protocol: BatchProtocol, tmp_path: Path) -> AsyncIterator[BatchedModels]:
    async with batched_models(protocol, tmp_path) as running:
        yield running


@pytest.mark.parametrize("page", [{}, {"data": None}, {"data": {}}, {"error": {"message": "x"}}])
async def test_a_page_that_is_no_list_does_not_say_that_there_is_no_batch(page: dict[str, Any]) -> None:
    async def ask(_arguments: Mapping[str, Any]) -> dict[str, Any]:
        return page

    with pytest.raises(BatchUnavailable, match="no list of batches"):
        _ = [one async for one in listed(ask, "data", lambda _page, _batches: None)]


async def test_a_list_without_an_end_does_not_say_that_there_is_no_batch() -> None:
    async def ask(_arguments: Mapping[str, Any]) -> dict[str, Any]:
        return {"data": [{"id": "b"}]}

    with pytest.raises(BatchUnavailable, match="does not end within 500 pages"):
        _ = [one async for one in listed(ask, "data", lambda _page, _batches: {"after": "b"})]


@pytest.mark.parametrize(
    ("sent_after", "minutes", "expected"),
    [
        (SENT_AFTER, -6, False),
        (SENT_AFTER, -4, True),  # two of the provider's clocks may differ
        (SENT_AFTER, 60, True),
        (SENT_AFTER, 70, False),
        (None, -100_000, True),  # nothing is known of its clock: any may be it
    ],
)
def test_a_batch_may_be_this_one_if_it_was_created_while_this_one_was_sent(
    sent_after: datetime | None, minutes: int, expected: bool
) -> None:
    prepared = PreparedBatch("n", "m", 1, 100, Path("x"), sent_after)

    assert expected == may_be(SENT_AFTER + timedelta(minutes=minutes), prepared)


async def test_the_time_is_that_of_the_provider(models: BatchedModels) -> None:
    models.wait(5 * HOUR)
    time = await models.batches.ask_time()
    submitted = await models.submit(models.prepare(2))
    models.wait(3 * HOUR)
    state = await models.batches.state(submitted.batch_id)

    assert SENT_AFTER + timedelta(hours=5) == time
    assert SENT_AFTER + timedelta(hours=8) == models.batches.time
    assert SENT_AFTER + timedelta(hours=5) == state.created_at


async def test_a_provider_that_does_not_answer_says_no_time(models: BatchedModels) -> None:
    models.script.calls = {"list": ("connection",)}

    assert await models.batches.ask_time() is None


async def test_an_answer_is_read_without_what_was_asked(models: BatchedModels) -> None:
    submitted = await models.submit(models.prepare(1))
    (line,) = await models.lines(submitted.batch_id)
    known, unknown = models.batches.reply(models.request(0), line), models.batches.reply(None, line)

    assert CallOutcome.ANSWERED == unknown.outcome
    assert known._replace(sent=unknown.sent) == unknown


async def test_a_state_that_says_nothing_is_asked_for_again(
    models: BatchedModels, monkeypatch: pytest.MonkeyPatch
) -> None:
    submitted = await models.submit(models.prepare(1))

    async def nothing(*_: Any) -> dict[str, Any]:
        return {}

    monkeypatch.setattr(models.batches.calls, "document", nothing)

    with pytest.raises(BatchUnavailable, match="does not say how far the batch is"):
        await models.batches.state(submitted.batch_id)


async def test_a_batch_that_fails_as_a_whole_says_so(models: BatchedModels) -> None:
    if models.protocol.name == "anthropic":  # it refuses the submission
        return
    models.script.jobs = ("failed",)
    state = await models.ended((await models.submit(models.prepare(2))).batch_id)

    assert state.failed
    assert state.error
    assert ItemEnd.ANSWERED not in [line.end async for line in models.batches.results("x", state)]
