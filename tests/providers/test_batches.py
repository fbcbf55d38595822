"""Batches of every provider through its SDK: from the spool to the replies, with whatever batches suffer there."""

import json
from pathlib import Path

import pytest

from jury_events import CallOutcome
from jury_providers import BatchNotFound, BatchRefused, BatchStatus, BatchUnavailable, ItemEnd, ModelMessage, Script
from support.batched import HOUR, KEY, BatchedModels, BatchProtocol, batched_models

pytestmark = pytest.mark.asyncio(loop_scope="module")

DAY = 24 * HOUR


async def test_the_replies_of_a_batch_are_those_of_live_calls(models: BatchedModels) -> None:
    prepared = models.prepare(5)
    submitted = await models.submit(prepared)
    lines = {line.custom_id: line for line in await models.lines(submitted.batch_id)}
    live = models.protocol.live(models.connection())
    output = models.jobs.jobs[submitted.batch_id].output

    assert {f"{prepared.nonce}-{number}" for number in range(5)} == set(lines)
    for number in range(5):
        line, request = lines[f"{prepared.nonce}-{number}"], models.request(number)
        batched, called = models.batches.reply(request, line), await live.call(request)
        assert called.outcome is CallOutcome.ANSWERED
        assert (called.answer, called.outcome, called.model_version) == (
            batched.answer,
            batched.outcome,
            batched.model_version,
        )
        assert called.usage.changed(service_tier="batch") == batched.usage
        assert (True, True) == (called.simulated, batched.simulated)
        assert batched.request_id
        # The answer is kept as it stands in the line, and is read the same without what was asked.
        assert line.response is not None
        assert output is not None
        assert line.response in output.read_bytes()
        assert line.response == batched.response
        unknown = models.batches.reply(None, line)
        assert batched._replace(sent=unknown.sent) == unknown
    assert sorted(lines) == sorted(line.custom_id or "" for line in await models.lines(submitted.batch_id))
    await live.close()


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


async def test_an_item_depends_on_its_arguments_alone_and_names_no_tier(models: BatchedModels) -> None:
    request = models.request(1)
    shared = request.messages[-1]._replace(shared=("A case. " * 3000,))
    lifetime = "30m" if models.protocol.base else "5m"
    request = request._replace(messages=(request.messages[0], shared), cache=lifetime)
    line = models.batches.item("a-1", request).line
    live = models.protocol.live(models.connection())
    await live.call(request)
    await live.close()
    hosted = models.protocol.batches(models.connection()._replace(base_url=None))
    prior, plain = [models.batches.item("a-1", models.request(1, **more)).line for more in ({"tier": "priority"}, {})]
    at_home = hosted.item("a-1", models.request(1)).line
    asked = models.protocol.live(hosted.connection).body(models.request(1), stream=False)
    await hosted.close()

    assert line == models.batches.item("a-1", request).line
    assert b"\n" not in line
    assert prior == plain
    assert b"tier" not in (plain + at_home).lower()
    assert ("tier" in str(asked)) == (models.protocol.name != "google")
    # Only Anthropic's prices of caches are halved too.
    assert (models.protocol.name == "anthropic") == (b'"cache_control"' in line)
    assert b"breakpoint" not in line


async def test_a_request_that_cannot_be_sent_goes_live(models: BatchedModels) -> None:
    request = models.request(1)
    broken = request._replace(messages=(ModelMessage("user", "\ud800"),))

    assert models.batches.supports(request) is None
    assert "cannot be built" in (models.batches.supports(broken) or "")


async def test_a_lost_submission_is_found(models: BatchedModels) -> None:
    """At last: for some minutes it may not be listed."""
    models.script.calls, models.script.jobs = {"submit": ("lost",)}, ("unlisted",)
    prepared = models.prepare(3)
    with pytest.raises(BatchUnavailable) as caught:
        await models.submit(prepared)
    early = await models.batches.find(prepared)
    other = await models.submit(models.prepare(2))
    models.wait(HOUR)
    (found,) = await models.batches.find(prepared)

    assert caught.value.may_have_arrived
    assert [] == early
    assert found.batch_id != other.batch_id
    assert found.certain == (models.protocol.name != "anthropic")
    assert {f"{prepared.nonce}-{n}" for n in range(3)} == {
        line.custom_id for line in await models.lines(found.batch_id)
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
    job = models.jobs.jobs[submitted.batch_id]
    prefix = "batches/" if models.protocol.name == "google" else submitted.batch_id.partition("_")[0] + "_"
    for _ in range(110):
        copy = models.jobs.new_job(job.account, job.spool, prefix=prefix, label="{}", endpoint=job.endpoint)
        copy.items, copy.seconds = job.items[:2], DAY
        models.jobs.jobs[copy.identity] = copy

    assert [submitted.batch_id] == [one.batch_id for one in await models.batches.find(prepared)]


async def test_an_expired_batch_has_answers_of_what_was_in_time(models: BatchedModels) -> None:
    models.script.jobs = ("expired",)
    submitted = await models.submit(models.prepare(6))
    models.wait(2 * DAY if models.protocol.name == "google" else DAY)
    lines = await models.lines(submitted.batch_id)
    ends = [line.end for line in lines]

    assert 3 == ends.count(ItemEnd.ANSWERED)
    assert (0 if models.protocol.name == "google" else 3) == ends.count(ItemEnd.EXPIRED)
    with pytest.raises(ValueError, match="no response"):
        models.batches.reply(models.request(0), lines[0]._replace(response=None))


async def test_a_cancelled_batch_has_answers_of_what_was_begun(models: BatchedModels) -> None:
    models.script.seconds, models.script.cancel_seconds = 10 * HOUR, HOUR
    submitted = await models.submit(models.prepare(10))
    models.wait(3 * HOUR)
    await models.batches.cancel(submitted.batch_id)
    cancelling = await models.batches.state(submitted.batch_id)
    models.wait(HOUR)
    ends = [line.end for line in await models.lines(submitted.batch_id)]
    await models.batches.cancel(submitted.batch_id)

    google = models.protocol.name == "google"
    assert cancelling.status is (BatchStatus.RUNNING if google else BatchStatus.CANCELLING)
    assert (3, 0 if google else 7) == (ends.count(ItemEnd.ANSWERED), ends.count(ItemEnd.CANCELLED))


async def test_one_bad_item_fails_alone(models: BatchedModels) -> None:
    lines = [models.batches.item(f"n-{number}", models.request(number)).line for number in range(3)]
    broken = json.loads(lines[1])
    body = next(value for value in broken.values() if isinstance(value, dict))
    body[next(name for name in ("messages", "input", "contents") if name in body)] = 7
    submitted = await models.submit(models.spooled("n", [lines[0], json.dumps(broken).encode(), lines[2]]))
    found = {line.custom_id: line for line in await models.lines(submitted.batch_id)}
    reply = models.batches.reply(models.request(1), found["n-1"])

    assert [ItemEnd.ANSWERED, ItemEnd.ERRORED, ItemEnd.ANSWERED] == [found[f"n-{n}"].end for n in range(3)]
    assert (400, CallOutcome.BAD_REQUEST) == (found["n-1"].status, reply.outcome)
    assert reply.error


async def test_a_batch_may_fail_as_a_whole_and_because_of_one_line(models: BatchedModels) -> None:
    models.script.jobs = ("bad_line", "failed")
    prepared = models.prepare(5)
    if models.protocol.name == "anthropic":  # it refuses the submission
        with pytest.raises(BatchRefused, match=r"requests\.2") as caught:
            await models.submit(prepared)
        assert [3] == [line.number for line in caught.value.refused_lines]
        assert not caught.value.may_have_arrived
        assert [] == await models.batches.find(prepared)
        return
    states = [await models.batches.state((await models.submit(prepared)).batch_id) for _ in range(2)]

    for state in states:
        assert (BatchStatus.ENDED, True) == (state.status, state.failed)
        assert state.error
        assert [] == [line async for line in models.batches.results("x", state)]
    lines = [3] if models.protocol.name.startswith("openai") else []
    assert [lines, []] == [[line.number for line in state.refused_lines] for state in states]


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


async def test_lines_are_given_as_they_are(models: BatchedModels) -> None:
    """Missing, cut, of no item, or of one that another line has named."""
    models.script.jobs = ("unknown_ids+doubled_ids", "truncated_lines", "missing")
    odd, cut, missing = [
        await models.lines((await models.submit(models.prepare(count))).batch_id) for count in (3, 5, 8)
    ]
    names = [line.custom_id for line in odd]
    bad = [line for line in cut if line.end is ItemEnd.UNREADABLE]

    assert (6, 2) == (len(names), max(map(names.count, names)))
    assert {"not-of-this-batch-1", "not-of-this-batch-2"} <= set(names)
    assert [1, 5] == [line.number for line in bad]
    assert all("cannot be read" in (line.error or "") for line in bad)
    assert [ItemEnd.ANSWERED] * 3 == [line.end for line in cut if line not in bad]
    assert 6 == len(missing)


@pytest.mark.parametrize("bound", ["lines", "bytes"])
async def test_a_file_that_never_ends_is_read_up_to_a_bound(models: BatchedModels, bound: str) -> None:
    models.script.jobs = ("endless",)
    models.batches.most_bytes = 1_000_000 if bound == "lines" else 10_000
    prepared = models.prepare(3)
    lines = await models.lines((await models.submit(prepared)).batch_id)

    assert f"do not end within {'106 lines' if bound == 'lines' else '10,000 bytes'}" in (lines[-1].error or "")
    assert {f"{prepared.nonce}-{number}" for number in range(3)} <= {line.custom_id for line in lines}


async def test_a_batch_may_end_long_after_its_time_or_never(models: BatchedModels) -> None:
    models.script.jobs = ("overdue", "stuck")
    late, stuck = [(await models.submit(models.prepare(3))).batch_id for _ in range(2)]
    models.wait(49 * HOUR)
    states = [(await models.batches.state(one)).status for one in (late, stuck)]
    models.wait(HOUR)
    lines = await models.lines(late)
    await models.batches.cancel(stuck)
    models.wait(100 * DAY)

    assert [BatchStatus.RUNNING] * 2 == states
    assert [ItemEnd.ANSWERED] * 3 == [line.end for line in lines]
    assert BatchStatus.ENDED is not (await models.batches.state(stuck)).status


async def test_a_batch_is_seen_by_its_account_alone_with_any_of_its_keys(models: BatchedModels) -> None:
    prepared = models.prepare(3)
    submitted = await models.submit(prepared)
    other = models.protocol.batches(models.connection("sk-test-other-0123456789"))
    for ask in (other.state, other.cancel):
        with pytest.raises(BatchNotFound):
            await ask(submitted.batch_id)
    elsewhere, known = other.account(), models.batches.account()
    renewed = models.protocol.batches(models.connection(KEY.replace(".1", ".2")))

    assert [] == await other.find(prepared)
    assert elsewhere != known
    assert BatchStatus.ENDED is (await renewed.state(submitted.batch_id)).status
    assert known.address == renewed.account().address
    assert known.key != renewed.account().key
    assert KEY not in known.address + known.key
    await other.close()
    await renewed.close()


async def test_results_are_kept_for_a_time(models: BatchedModels) -> None:
    submitted = await models.submit(models.prepare(2))
    state = await models.ended(submitted.batch_id)
    models.wait(31 * DAY)
    for known in (state, await models.batches.state(submitted.batch_id)):
        with pytest.raises(BatchNotFound):
            _ = [line async for line in models.batches.results(submitted.batch_id, known)]
