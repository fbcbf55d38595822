"""Calls about batches that fail: what they mean, whether they may have arrived, and what their errors do not show."""

from collections.abc import Awaitable, Callable
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
from support.batched import KEY, PROTOCOLS, BatchedModels, BatchProtocol, batched_models
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
