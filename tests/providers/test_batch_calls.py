"""Calls about batches that fail, lists of batches and their clock: what they mean, and what errors do not show."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from jury_events import CallOutcome
from jury_providers import (
    AnthropicErrors,
    BatchFailure,
    BatchNotFound,
    BatchRefused,
    BatchUnavailable,
    GoogleErrors,
    InvalidRequest,
    ItemEnd,
    OpenAIErrors,
    PreparedBatch,
)
from jury_providers.batches.documents import listed, may_be
from support.batched import HOUR, KEY, PROTOCOLS, START, BatchedModels, BatchProtocol, batched_models
from support.vendors.batch_script import CALLS

pytestmark = pytest.mark.asyncio(loop_scope="module")

Ask = Callable[[BatchedModels, PreparedBatch, str], Awaitable[object]]


async def _results(models: BatchedModels, _prepared: PreparedBatch, batch_id: str) -> object:
    state = await models.ended(batch_id)
    return [line async for line in models.batches.results(batch_id, state)]


async def _submit(models: BatchedModels, prepared: PreparedBatch, _batch_id: str) -> object:
    file_id = await models.batches.upload(prepared)
    return await models.batches.submit(prepared, file_id)


ASKS: dict[str, Ask] = {
    "upload": lambda models, prepared, _: models.batches.upload(prepared),
    "submit": _submit,
    "list": lambda models, prepared, _: models.batches.find(prepared),
    "state": lambda models, _, batch_id: models.batches.state(batch_id),
    "results": _results,
    "cancel": lambda models, _, batch_id: models.batches.cancel(batch_id),
}

FAULTS: dict[str, tuple[type[BatchFailure], CallOutcome]] = {
    "rate_limited": (BatchUnavailable, CallOutcome.RATE_LIMITED),
    "overloaded": (BatchUnavailable, CallOutcome.OVERLOADED),
    "authentication": (BatchRefused, CallOutcome.AUTHENTICATION),
    "bad_request": (BatchRefused, CallOutcome.BAD_REQUEST),
    "not_found": (BatchNotFound, CallOutcome.BAD_REQUEST),
    "connection": (BatchUnavailable, CallOutcome.CONNECTION),
    "cut": (BatchUnavailable, CallOutcome.CONNECTION),
}


async def test_each_call_says_why_it_failed_and_the_next_one_is_answered(models: BatchedModels) -> None:
    prepared = models.prepare(3)
    ended = (await models.submit(prepared)).batch_id
    models.script.seconds = 1000.0
    running = (await models.submit(models.prepare(3))).batch_id
    models.script.seconds = 0.0
    for call, (fault, (kind, outcome)) in product(CALLS, FAULTS.items()):
        if (models.protocol.name, call) == ("anthropic", "upload"):
            continue  # the items go with the submission
        batch_id = running if call == "cancel" else ended
        models.script.calls = {call: ("none",) * models.scripted.calls[call] + (fault,)}
        with pytest.raises(BatchFailure) as caught:
            await ASKS[call](models, prepared, batch_id)
        models.script.calls = {}

        assert (kind, outcome) == (type(caught.value), caught.value.outcome), (call, fault)
        assert "\n" not in str(caught.value)
        assert caught.value.may_have_arrived == (fault in {"overloaded", "connection", "cut"}), fault
        if fault == "cut":
            await ASKS[call](models, prepared, batch_id)


async def test_a_provider_that_asks_to_wait_is_heard(models: BatchedModels) -> None:
    models.script.calls = {"submit": ("rate_limited",)}
    with pytest.raises(BatchUnavailable) as caught:
        await models.submit(models.prepare(1))

    assert (1.0, False) == (caught.value.retry_after, caught.value.may_have_arrived)


async def test_a_page_that_is_no_json_is_no_answer(models: BatchedModels) -> None:
    batch_id = (await models.submit(models.prepare(1))).batch_id
    models.script.calls = {"state": ("none",) * models.scripted.calls["state"] + ("html",)}
    with pytest.raises(BatchUnavailable, match="no JSON object"):
        await models.batches.state(batch_id)


async def test_results_that_break_off_are_not_given_as_whole(models: BatchedModels) -> None:
    batch_id = (await models.submit(models.prepare(9))).batch_id
    state = await models.ended(batch_id)
    models.script.calls = {"results": ("cut",)}
    with pytest.raises(BatchUnavailable):
        _ = [line async for line in models.batches.results(batch_id, state)]
    lines = [line async for line in models.batches.results(batch_id, state)]

    assert 9 == len(lines)


@pytest.mark.parametrize("fault", ["short", "html"])
async def test_answers_that_the_provider_counts_are_not_missing_at_once(models: BatchedModels, fault: str) -> None:
    prepared = models.prepare(9)
    batch_id = (await models.submit(prepared)).batch_id
    state = await models.ended(batch_id)
    models.script.calls = {"results": (fault,)}
    if fault == "html":
        with pytest.raises(BatchUnavailable, match="a page of HTML"):
            _ = [line async for line in models.batches.results(batch_id, state)]
    lines = [line async for line in models.batches.results(batch_id, state)]
    answered = [line.custom_id for line in lines if line.end is ItemEnd.ANSWERED]

    assert {f"{prepared.nonce}-{number}" for number in range(9)} == set(answered)
    assert 9 == len(answered)


async def test_a_server_error_about_a_key_may_have_arrived(models: BatchedModels) -> None:
    errors = {**OpenAIErrors.failures, "authentication": OpenAIErrors.failures["authentication"]._replace(status=500)}
    prepared = models.prepare(1)
    file_id = await models.batches.upload(prepared)
    models.script.calls = {"submit": ("none",) * models.scripted.calls["submit"] + ("authentication",)}
    with pytest.MonkeyPatch.context() as patched:
        for kind in (OpenAIErrors, AnthropicErrors, GoogleErrors):
            patched.setattr(kind, "failures", errors)
        with pytest.raises(BatchUnavailable) as caught:
            await models.batches.submit(prepared, file_id)

    assert caught.value.may_have_arrived


async def test_nothing_listens_means_that_nothing_arrived(protocol: BatchProtocol, tmp_path: Path) -> None:
    async with batched_models(protocol, tmp_path) as models:
        prepared = models.prepare(1)
    client = protocol.batches(models.connection())
    with pytest.raises(BatchUnavailable) as caught:
        await client.submit(prepared, "files/x")
    await client.close()

    assert not caught.value.may_have_arrived


async def test_no_error_shows_the_key(models: BatchedModels, monkeypatch: pytest.MonkeyPatch) -> None:
    batch_id = (await models.submit(models.prepare(1))).batch_id
    echo = f"The key {KEY} is not welcome."

    async def refuse(*_args: Any) -> object:
        raise InvalidRequest.verbatim(echo)

    monkeypatch.setattr(models.jobs, "state", refuse)
    with pytest.raises(BatchRefused, match="is not welcome") as caught:
        await models.batches.state(batch_id)

    assert KEY not in str(caught.value)


async def test_an_answer_leads_to_no_other_host(tmp_path: Path) -> None:
    async with batched_models(PROTOCOLS["google"], tmp_path) as models:
        prepared = models.prepare(1)
        batches = models.batches
        sent: list[str] = []
        client = batches.calls.client
        send = client.send

        async def redirected(request: Any, **options: Any) -> Any:
            sent.append(request.url.host)
            if len(sent) > 1:
                request.url = request.url.copy_with(host="localhost.example")
            return await send(request, **options)

        client.send = redirected  # type: ignore[method-assign]  # what Google's SDK calls
        with pytest.raises(BatchRefused, match="another host"):
            await batches.upload(prepared)


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
