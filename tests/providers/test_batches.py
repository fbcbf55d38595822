"""Batches of every provider through its SDK: from the spool to the replies, against the simulated servers."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from jury_events import CallOutcome
from jury_providers import BatchNotFound, BatchRefused, BatchStatus, BatchUnavailable, ItemEnd, ModelMessage, Script
from support.batched import HOUR, KEY, PROTOCOLS, BatchedModels, BatchProtocol, batched_models

DAY = 24 * HOUR
EXPIRES = {"google": 2 * DAY}


@pytest.fixture(params=PROTOCOLS)
def protocol(request: pytest.FixtureRequest) -> BatchProtocol:
    return PROTOCOLS[request.param]


@pytest_asyncio.fixture
async def models(protocol: BatchProtocol, tmp_path: Path) -> AsyncIterator[BatchedModels]:
    async with batched_models(protocol, tmp_path) as running:
        yield running


async def test_the_replies_of_a_batch_are_those_of_live_calls(models: BatchedModels) -> None:
    prepared = models.prepare(5)
    submitted = await models.submit(prepared)
    lines = {line.custom_id: line for line in await models.lines(submitted.batch_id)}
    live = models.protocol.live(models.connection())

    assert {f"{prepared.nonce}-{number}" for number in range(5)} == set(lines)
    for number in range(5):
        request = models.request(number)
        batched = models.batches.reply(request, lines[f"{prepared.nonce}-{number}"])
        called = await live.call(request)
        assert called.outcome is CallOutcome.ANSWERED
        assert (called.answer, called.outcome, called.model_version) == (
            batched.answer,
            batched.outcome,
            batched.model_version,
        )
        assert called.usage.changed(service_tier="batch") == batched.usage
        assert called.simulated
        assert batched.simulated
        assert batched.request_id
    await live.close()


async def test_an_answer_is_kept_as_it_stands_in_the_line(models: BatchedModels) -> None:
    submitted = await models.submit(models.prepare(1))
    (line,) = await models.lines(submitted.batch_id)
    job = models.server.batches.find(submitted.batch_id, KEY.rpartition(".")[0])
    assert job is not None
    assert job.output is not None
    assert line.response is not None

    assert line.response in job.output.read_bytes()
    assert models.batches.reply(models.request(0), line).response == line.response


async def test_a_batch_waits_runs_and_ends_by_the_providers_clock(models: BatchedModels) -> None:
    models.script.seconds = 10 * HOUR
    submitted = await models.submit(models.prepare(4))
    found = [(await models.batches.state(submitted.batch_id)).status]
    models.wait(5 * HOUR)
    found.append((await models.batches.state(submitted.batch_id)).status)
    models.wait(5 * HOUR)
    state = await models.ended(submitted.batch_id)

    first = BatchStatus.RUNNING if models.protocol.name == "anthropic" else BatchStatus.WAITING
    assert [first, BatchStatus.RUNNING] == found
    assert (4, 4) == (state.counts.total, state.counts.answered)
    assert state.ended_at is not None


async def test_results_may_be_read_again(models: BatchedModels) -> None:
    submitted = await models.submit(models.prepare(3))

    assert await models.lines(submitted.batch_id) == await models.lines(submitted.batch_id)


async def test_the_line_of_an_item_depends_on_its_arguments_alone(models: BatchedModels) -> None:
    request = models.request(1)
    shared = request.messages[-1]._replace(shared=("A case. " * 3000,))
    request = request._replace(messages=(request.messages[0], shared), cache="5m")
    line = models.batches.item("a-1", request).line
    live = models.protocol.live(models.connection())
    await live.call(request)
    await live.close()

    assert line == models.batches.item("a-1", request).line
    assert b"\n" not in line


async def test_an_item_names_no_service_tier(models: BatchedModels) -> None:
    line = models.batches.item("a-1", models.request(1, tier="priority")).line

    assert line == models.batches.item("a-1", models.request(1)).line
    assert b"tier" not in line.lower()


async def test_an_item_for_the_providers_own_server_names_no_tier_either(models: BatchedModels) -> None:
    hosted = models.protocol.batches(models.connection()._replace(base_url=None))
    line = hosted.item("a-1", models.request(1)).line
    live = models.protocol.live(models.connection()._replace(base_url=None)).body(models.request(1), stream=False)
    await hosted.close()

    assert b"tier" not in line.lower()
    assert ("tier" in str(live)) == (models.protocol.name != "google")


async def test_only_anthropics_items_mark_what_is_to_be_kept(models: BatchedModels) -> None:
    request = models.request(1)
    shared = request.messages[-1]._replace(shared=("A case. " * 3000,))
    lifetime = "30m" if models.protocol.base else "5m"
    line = models.batches.item("a-1", request._replace(messages=(shared,), cache=lifetime)).line

    assert (models.protocol.name == "anthropic") == (b'"cache_control"' in line)
    assert b"breakpoint" not in line


async def test_a_request_that_cannot_be_sent_goes_live(models: BatchedModels) -> None:
    request = models.request(1)
    broken = request._replace(messages=(ModelMessage("user", "\ud800"),))

    assert models.batches.supports(request) is None
    assert "cannot be built" in (models.batches.supports(broken) or "")


async def test_a_lost_submission_is_found(models: BatchedModels) -> None:
    models.script.calls = {"submit": ("lost",)}
    prepared = models.prepare(3)
    with pytest.raises(BatchUnavailable) as caught:
        await models.submit(prepared)
    models.wait(60)
    other = await models.submit(models.prepare(2))
    (found,) = await models.batches.find(prepared)

    assert caught.value.may_have_arrived
    assert found.batch_id != other.batch_id
    assert found.certain == (models.protocol.name != "anthropic")
    assert {line.custom_id for line in await models.lines(found.batch_id)} == {
        f"{prepared.nonce}-{n}" for n in range(3)
    }


async def test_a_submission_that_did_not_arrive_is_not_found(models: BatchedModels) -> None:
    models.script.calls = {"submit": ("connection",)}
    prepared = models.prepare(3)
    with pytest.raises(BatchUnavailable):
        await models.submit(prepared)

    assert [] == await models.batches.find(prepared)


async def test_a_batch_is_found_behind_pages_of_others(models: BatchedModels) -> None:
    prepared = models.prepare(3)
    submitted = await models.submit(prepared)
    file = models.server.batches
    job = file.find(submitted.batch_id, KEY.rpartition(".")[0])
    assert job is not None
    for _ in range(230):
        copy = file.new_job(
            job.account,
            job.spool,
            prefix=submitted.batch_id.partition("_")[0] + "_" if "_" in submitted.batch_id else "batches/",
            label="{}",
            model=job.model,
            endpoint=job.endpoint,
            lifetime=job.lifetime,
        )
        copy.items = job.items[:2]

    assert [submitted.batch_id] == [one.batch_id for one in await models.batches.find(prepared)]


async def test_an_expired_batch_has_answers_of_what_was_in_time(models: BatchedModels) -> None:
    models.script.jobs = ("expired",)
    submitted = await models.submit(models.prepare(6))
    models.wait(EXPIRES.get(models.protocol.name, DAY))
    lines = await models.lines(submitted.batch_id)
    ends = [line.end for line in lines]

    assert ends.count(ItemEnd.ANSWERED) == 3
    assert ends.count(ItemEnd.EXPIRED) == (0 if models.protocol.name == "google" else 3)
    with pytest.raises(ValueError, match="no response"):
        models.batches.reply(models.request(0), lines[0]._replace(response=None))


async def test_a_cancelled_batch_has_answers_of_what_was_begun(models: BatchedModels) -> None:
    models.script.seconds, models.script.cancel_seconds = 10 * HOUR, HOUR
    submitted = await models.submit(models.prepare(10))
    models.wait(3 * HOUR)
    await models.batches.cancel(submitted.batch_id)
    cancelling = await models.batches.state(submitted.batch_id)
    models.wait(HOUR)
    lines = await models.lines(submitted.batch_id)
    ends = [line.end for line in lines]
    await models.batches.cancel(submitted.batch_id)

    assert cancelling.status is (BatchStatus.RUNNING if models.protocol.name == "google" else BatchStatus.CANCELLING)
    assert ends.count(ItemEnd.ANSWERED) == 3
    assert ends.count(ItemEnd.CANCELLED) == (0 if models.protocol.name == "google" else 7)


async def test_one_bad_item_fails_alone(models: BatchedModels) -> None:
    lines = [models.batches.item(f"n-{number}", models.request(number)).line for number in range(3)]
    broken = json.loads(lines[1])
    body = next(value for value in broken.values() if isinstance(value, dict))
    body[next(name for name in ("messages", "input", "contents") if name in body)] = 7
    submitted = await models.submit(models.spooled("n", [lines[0], json.dumps(broken).encode(), lines[2]]))
    found = {line.custom_id: line for line in await models.lines(submitted.batch_id)}
    reply = models.batches.reply(models.request(1), found["n-1"])

    assert [ItemEnd.ANSWERED, ItemEnd.ERRORED, ItemEnd.ANSWERED] == [found[f"n-{n}"].end for n in range(3)]
    assert found["n-1"].status == 400
    assert reply.outcome is CallOutcome.BAD_REQUEST
    assert reply.error


async def test_one_line_may_fail_the_whole_batch(models: BatchedModels) -> None:
    models.script.jobs = ("bad_line",)
    prepared = models.prepare(5)
    if models.protocol.name == "anthropic":
        with pytest.raises(BatchRefused, match=r"requests\.2") as caught:
            await models.submit(prepared)
        assert [3] == [line.number for line in caught.value.refused_lines]
        assert not caught.value.may_have_arrived
        assert [] == await models.batches.find(prepared)
        return
    state = await models.batches.state((await models.submit(prepared)).batch_id)

    assert state.status is BatchStatus.ENDED
    assert state.error
    assert [] == [line async for line in models.batches.results("x", state)]
    if models.protocol.name.startswith("openai"):
        assert [3] == [line.number for line in state.refused_lines]


async def test_faults_of_models_are_those_of_live_calls(protocol: BatchProtocol, tmp_path: Path) -> None:
    outcomes = {
        "rate_limited": CallOutcome.RATE_LIMITED,
        "context_too_long": CallOutcome.CONTEXT_TOO_LONG,
        "overloaded": CallOutcome.OVERLOADED,
        "quota": CallOutcome.QUOTA,
    }
    for fault, outcome in outcomes.items():
        async with batched_models(protocol, tmp_path, script=Script(rates={fault: 1.0})) as models:
            submitted = await models.submit(models.prepare(1))
            (line,) = await models.lines(submitted.batch_id)
            reply = models.batches.reply(models.request(0), line)

        assert line.end is ItemEnd.ERRORED
        # Google's lines have no details of an exhausted quota.
        is_quota_of_google = (fault, protocol.name) == ("quota", "google")
        assert reply.outcome is (CallOutcome.RATE_LIMITED if is_quota_of_google else outcome), fault


async def test_lines_that_name_no_item_or_one_twice_are_given_as_they_are(models: BatchedModels) -> None:
    models.script.jobs = ("unknown_ids+doubled_ids",)
    submitted = await models.submit(models.prepare(3))
    names = [line.custom_id for line in await models.lines(submitted.batch_id)]

    assert names.count("n000-0") == 2
    assert {"not-of-this-batch-1", "not-of-this-batch-2"} <= set(names)
    assert len(names) == 6


async def test_a_line_that_is_cut_is_an_error_of_that_line_alone(models: BatchedModels) -> None:
    models.script.jobs = ("truncated_lines",)
    submitted = await models.submit(models.prepare(5))
    lines = await models.lines(submitted.batch_id)
    bad = [line for line in lines if line.end is ItemEnd.UNREADABLE]

    assert [1, 5] == [line.number for line in bad]
    assert all("cannot be read" in (line.error or "") for line in bad)
    assert [ItemEnd.ANSWERED] * 3 == [line.end for line in lines if line not in bad]


async def test_missing_items_have_no_line(models: BatchedModels) -> None:
    models.script.jobs = ("missing",)
    submitted = await models.submit(models.prepare(8))

    assert len(await models.lines(submitted.batch_id)) == 6


@pytest.mark.parametrize("bound", ["lines", "bytes"])
async def test_a_file_that_never_ends_is_read_up_to_a_bound(models: BatchedModels, bound: str) -> None:
    models.script.jobs = ("endless",)
    models.batches.most_bytes = 1_000_000 if bound == "lines" else 10_000
    submitted = await models.submit(models.prepare(3))
    lines = await models.lines(submitted.batch_id)

    assert f"do not end within {'106 lines' if bound == 'lines' else '10,000 bytes'}" in (lines[-1].error or "")
    assert {"n000-0", "n000-1", "n000-2"} <= {line.custom_id for line in lines}


async def test_a_stuck_batch_does_not_end_even_if_cancelled(models: BatchedModels) -> None:
    models.script.jobs = ("stuck",)
    submitted = await models.submit(models.prepare(3))
    models.wait(100 * DAY)
    before = await models.batches.state(submitted.batch_id)
    await models.batches.cancel(submitted.batch_id)
    after = await models.batches.state(submitted.batch_id)

    assert before.status is BatchStatus.RUNNING
    assert after.status in {BatchStatus.CANCELLING, BatchStatus.RUNNING}


async def test_a_batch_may_be_answered_after_its_time(models: BatchedModels) -> None:
    models.script.jobs = ("overdue",)
    submitted = await models.submit(models.prepare(3))
    models.wait(49 * HOUR)
    late = await models.batches.state(submitted.batch_id)
    models.wait(HOUR)

    assert late.status is BatchStatus.RUNNING
    assert [ItemEnd.ANSWERED] * 3 == [line.end for line in await models.lines(submitted.batch_id)]


async def test_another_account_does_not_see_a_batch(models: BatchedModels) -> None:
    prepared = models.prepare(3)
    submitted = await models.submit(prepared)
    other = models.protocol.batches(models.connection("sk-test-other-0123456789"))
    with pytest.raises(BatchNotFound):
        await other.state(submitted.batch_id)
    with pytest.raises(BatchNotFound):
        await other.cancel(submitted.batch_id)

    assert [] == await other.find(prepared)
    assert other.account() != models.batches.account()
    await other.close()


async def test_a_new_key_of_the_same_account_sees_the_batch(models: BatchedModels) -> None:
    submitted = await models.submit(models.prepare(3))
    renewed = models.protocol.batches(models.connection(KEY.replace(".1", ".2")))
    state = await renewed.state(submitted.batch_id)
    account, known = renewed.account(), models.batches.account()
    await renewed.close()

    assert state.status is BatchStatus.ENDED
    assert account.address == known.address
    assert account.key != known.key
    assert KEY not in known.address + known.key


async def test_results_are_kept_for_a_time(models: BatchedModels) -> None:
    submitted = await models.submit(models.prepare(2))
    state = await models.ended(submitted.batch_id)
    models.wait(31 * DAY)
    with pytest.raises(BatchNotFound):
        _ = [line async for line in models.batches.results(submitted.batch_id, state)]


async def test_a_batch_may_be_listed_late(models: BatchedModels) -> None:
    models.script.jobs, models.script.calls = ("unlisted",), {"submit": ("lost",)}
    prepared = models.prepare(3)
    with pytest.raises(BatchUnavailable):
        await models.submit(prepared)
    early = await models.batches.find(prepared)
    models.wait(HOUR)

    assert [] == early
    assert len(await models.batches.find(prepared)) == 1
