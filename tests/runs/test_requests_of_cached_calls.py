"""What a call asks a provider to keep stands in what was sent; the recorded request is the same without it."""

import json
from typing import Any

import pytest

from jury_actors import Job, RunContext, RuntimeConfig, drive, in_process_runtime
from jury_events import ExchangeRecorded, PartRef, RequestMessage, calls_stream, decode, encode_digest
from jury_providers import Endpoint, load_prices, simulation_server
from support.debate_harness import a_case
from support.runtime_harness import KeptStore, a_resolved, fixed_effects

CASE = a_case(artifact_summary="The order was refunded. " * 1000)


class Recorded:
    """The calls of one debate, by their ids, and their texts."""

    def __init__(self, store: KeptStore) -> None:
        self._texts = store.parts("d")
        decoded = map(decode, store.read_stream(calls_stream("d")))
        self.calls = {call.event_id: call for call in decoded if isinstance(call, ExchangeRecorded)}

    @property
    def requests(self) -> dict[str, tuple[RequestMessage, ...]]:
        return {name: call.request for name, call in self.calls.items()}

    def sent(self, ref: PartRef | None) -> dict[str, Any]:
        assert ref is not None
        texts = {encode_digest(digest): part.content for digest, part in self._texts.items()}
        document: dict[str, Any] = json.loads(texts[ref.part])
        return document

    @property
    def marks(self) -> int:
        return sum(self.sent(call.sent).get("cache_marks", 0) for call in self.calls.values())


async def recorded(model: str, cache: str) -> Recorded:
    name = model.partition("/")[0]
    seats = [
        {"model": model, "juror_id": f"seat-{number}", "settings": {"cache": cache}, "fallbacks": []}
        for number in range(2)
    ]
    discussion = {"max_rounds": 1, "end_early": False}
    resolved = a_resolved(seats=seats, discussion=discussion, final={"method": "majority_vote"})
    store = KeptStore()
    async with simulation_server() as server:
        endpoints = {name: Endpoint(base_url=server.url + ("" if name == "anthropic" else "/v1"))}
        config = RuntimeConfig((resolved.panel,), "", "run", endpoints=endpoints, prices=load_prices())
        job = Job("d", CASE.model_dump_json().encode(), RunContext("run", resolved))
        async with in_process_runtime(config, lambda: store, effects=fixed_effects()) as runtime:
            assert [None] == [one.problem async for one in drive(runtime, iter([job]), concurrency=1)]
    return Recorded(store)


@pytest.mark.parametrize(
    ("model", "lifetime"),
    [("openai/gpt-6-sol", "30m"), ("openai-responses/gpt-6-sol", "12h"), ("anthropic/claude-haiku-5-5", "1h")],
)
async def test_the_recorded_request_is_the_same_with_a_cache_and_without(model: str, lifetime: str) -> None:
    without, kept = await recorded(model, "off"), await recorded(model, lifetime)

    assert without.requests == kept.requests
    assert 4 == len(kept.requests)
    assert 0 == without.marks
    assert kept.marks
