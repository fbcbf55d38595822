"""A provider's list of batches, and its clock: what they say, and when they say nothing."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from jury_providers import BatchUnavailable, PreparedBatch
from jury_providers.batches.documents import listed, may_be
from support.batched import HOUR, START, BatchedModels

pytestmark = pytest.mark.asyncio(loop_scope="module")

SENT_AFTER = datetime.fromtimestamp(START, UTC)


async def test_a_page_that_is_no_list_or_a_list_without_an_end_does_not_say_that_there_is_no_batch() -> None:
    no_list: list[dict[str, Any]] = [{}, {"data": None}, {"data": {}}, {"error": {"message": "x"}}]
    for page, said in [*((one, "no list of batches") for one in no_list), ({"data": [{"id": "b"}]}, "does not end")]:

        async def ask(_arguments: Mapping[str, Any], page: dict[str, Any] = page) -> dict[str, Any]:
            return page

        with pytest.raises(BatchUnavailable, match=said):
            _ = [one async for one in listed(ask, "data", lambda _page, _batches: {"after": "b"})]


async def test_a_batch_may_be_this_one_if_it_was_created_while_this_one_was_sent() -> None:
    for sent_after, minutes, expected in (
        (SENT_AFTER, -6, False),
        (SENT_AFTER, -4, True),  # two of the provider's clocks may differ
        (SENT_AFTER, 60, True),
        (SENT_AFTER, 70, False),
        (None, -100_000, True),  # nothing is known of its clock: any may be it
    ):
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


async def test_a_state_that_says_nothing_is_asked_for_again(
    models: BatchedModels, monkeypatch: pytest.MonkeyPatch
) -> None:
    submitted = await models.submit(models.prepare(1))

    async def nothing(*_: Any) -> dict[str, Any]:
        return {}

    monkeypatch.setattr(models.batches.calls, "document", nothing)

    with pytest.raises(BatchUnavailable, match="does not say how far the batch is"):
        await models.batches.state(submitted.batch_id)
