"""Decision models over their real SDKs, against the simulated server: answers, refusals, failures, garbage."""

import json
from collections.abc import Sequence
from typing import Any

from jury_debate import DecisionQuestion, QuestionOption
from jury_events import CallOutcome, CallSettings
from jury_providers import (
    MAX_RECORDED_BYTES,
    Endpoint,
    ModelMessage,
    ModelReply,
    ModelRequest,
    WireScript,
    provider_factory,
    simulation_server,
)
from support.canned_server import Canned, canned_server
from support.each_row import each_row
from support.vendors.vendor import DecisionVendor

PROTOCOLS = {"openai-decisions": "/v1", "google-decisions": "", "systemone": "/v1"}
QUESTIONS = (
    DecisionQuestion(
        name="verdict",
        instructions="Is the record safe?",
        options=tuple(QuestionOption(value=one, description=f"It is {one}.") for one in ("bad", "unclear", "good")),
    ),
)


def a_request(seconds: float = 60.0, text: str = "The agent was polite.") -> ModelRequest:
    settings = CallSettings(timeout_seconds=seconds)
    messages = (ModelMessage("user", "[]", shared=(text,)),)
    return ModelRequest("m-1", messages, (), {}, settings, "t", questions=QUESTIONS)


async def replied(url: str, protocol: str, request: ModelRequest | None = None) -> ModelReply:
    endpoint = Endpoint(base_url=url + PROTOCOLS[protocol])
    provider = provider_factory(endpoints={protocol: endpoint})(protocol)
    try:
        return await provider.call(request or a_request())
    finally:
        await provider.close()


async def under(protocol: str, fault: str, request: ModelRequest | None = None) -> ModelReply:
    async with simulation_server(WireScript(scripted={"*": (fault,)}), vendor=DecisionVendor()) as server:
        return await replied(server.url, protocol, request)


@each_row("protocol", PROTOCOLS)
async def test_the_raw_response_is_the_answer_and_the_questions_are_recorded(protocol: str) -> None:
    async with simulation_server(vendor=DecisionVendor()) as server:
        reply = await replied(server.url, protocol)
        counted = server.served.by_protocol
    sent = json.loads(reply.sent or b"")
    given = json.loads(reply.answer or b"")["answers"]
    one = given[0] if isinstance(given, list) else given["verdict"]

    assert (CallOutcome.ANSWERED, None, True) == (reply.outcome, reply.response, reply.simulated)
    assert ("choice", "good") == (one["type"], one["choice"])
    assert (0, True) == (reply.usage.output_tokens, (reply.usage.input_tokens or 0) > 0)
    assert "Is the record safe?" in json.dumps(sent["body"]["questions"])
    assert "polite" not in json.dumps(sent)
    assert {protocol: 1} == counted


FAULTS = {
    "blocked": CallOutcome.BLOCKED,
    "authentication": CallOutcome.AUTHENTICATION,
    "rate_limited": CallOutcome.RATE_LIMITED,
    "quota": CallOutcome.QUOTA,
    "overloaded": CallOutcome.OVERLOADED,
    "bad_request": CallOutcome.BAD_REQUEST,
    "context_too_long": CallOutcome.CONTEXT_TOO_LONG,
    "malformed_json": CallOutcome.MALFORMED_RESPONSE,
    "truncated_json": CallOutcome.MALFORMED_RESPONSE,
    "html": CallOutcome.MALFORMED_RESPONSE,
    "empty": CallOutcome.MALFORMED_RESPONSE,
    "connection": CallOutcome.CONNECTION,
}


@each_row("protocol", PROTOCOLS)
async def test_what_goes_wrong_is_one_outcome_after_one_request(protocol: str) -> None:
    found = {}
    async with simulation_server(WireScript(scripted={"*": tuple(FAULTS)}), vendor=DecisionVendor()) as server:
        for number, fault in enumerate(FAULTS, 1):
            reply = await replied(server.url, protocol)
            found[fault] = reply.outcome

            assert (None, number) == (reply.answer, server.served.requests)
    assert found == FAULTS


@each_row("protocol", PROTOCOLS)
async def test_how_long_to_wait_is_taken_from_the_answer_429(protocol: str) -> None:
    reply = await under(protocol, "rate_limited")

    assert reply.retry_after is not None
    assert reply.retry_after >= 1.0


@each_row("protocol", PROTOCOLS)
async def test_an_answer_that_does_not_come_in_time_is_a_timeout(protocol: str) -> None:
    assert CallOutcome.TIMEOUT is (await under(protocol, "timeout", a_request(seconds=0.2))).outcome


@each_row("protocol", PROTOCOLS)
@each_row(
    ("fault", "written"),
    [
        ("unknown_label", b'"another_option"'),
        ("not_a_number", b"NaN"),
        ("negative", b"-0.1"),
    ],
)
async def test_probabilities_that_are_none_reach_the_rules_as_they_were_received(
    protocol: str, fault: str, written: bytes
) -> None:
    reply = await under(protocol, fault)

    assert CallOutcome.ANSWERED is reply.outcome
    assert written in (reply.answer or b"")


@each_row("protocol", PROTOCOLS)
async def test_a_huge_record_is_sent_and_the_server_says_that_it_is_too_long(protocol: str) -> None:
    async with simulation_server(window=262_144, vendor=DecisionVendor()) as server:
        reply = await replied(server.url, protocol, a_request(text="word " * 300_000))

    assert CallOutcome.CONTEXT_TOO_LONG is reply.outcome


@each_row("protocol", PROTOCOLS)
async def test_an_answer_that_is_too_long_to_be_recorded_is_malformed(protocol: str) -> None:
    body: dict[str, Any] = {"answers": {}, "more": "x" * MAX_RECORDED_BYTES}
    async with canned_server(Canned(pieces=[json.dumps(body).encode()])) as server:
        reply = await replied(server.url, protocol)

    assert (CallOutcome.MALFORMED_RESPONSE, None) == (reply.outcome, reply.answer)


@each_row("protocol", PROTOCOLS)
async def test_a_call_without_questions_is_not_sent(protocol: str) -> None:
    async with simulation_server(vendor=DecisionVendor()) as server:
        reply = await replied(server.url, protocol, a_request()._replace(questions=()))
        requests = server.served.requests

    assert (CallOutcome.BAD_REQUEST, 0) == (reply.outcome, requests)


@each_row("ends", [("",), ("/v1",), ("/v1/",)])
async def test_the_base_url_of_jevs_api_may_name_the_version_or_not(ends: Sequence[str]) -> None:
    async with simulation_server(vendor=DecisionVendor()) as server:
        endpoint = Endpoint(base_url=server.url + ends[0], key_env="JEV_KEY")
        provider = provider_factory(endpoints={"jev": endpoint.model_copy(update={"protocol": "systemone"})})("jev")
        reply = await provider.call(a_request())
        await provider.close()

    assert CallOutcome.ANSWERED is reply.outcome
