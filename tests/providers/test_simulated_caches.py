"""The simulated servers keep prompts as the providers do: what is read and written, how long, what is refused."""

import json
from typing import Any

import pytest

from jury_providers.endpoints import ProviderConnection
from jury_providers.provider import ModelMessage
from jury_providers.simulated.http.backend import SimulationBackend
from jury_providers.simulated.http.chat import Chat
from jury_providers.simulated.http.delivery import Transmission
from jury_providers.simulated.http.generate import Generate
from jury_providers.simulated.http.messages import Messages
from jury_providers.simulated.http.protocol import ProtocolHandler
from jury_providers.simulated.http.responses import Responses
from jury_providers.simulated.script import NO_FAULTS
from support.dialects import ANTHROPIC, CHAT, GOOGLE, RESPONSES, Dialect, a_request

PROTOCOLS: dict[str, ProtocolHandler] = {
    CHAT.name: Chat(),
    RESPONSES.name: Responses(),
    ANTHROPIC.name: Messages(),
    GOOGLE.name: Generate(),
}
MODELS = {CHAT.name: "gpt-6-sol", RESPONSES.name: "gpt-6-sol", ANTHROPIC.name: "claude-haiku-5-5"}
MARKING = pytest.mark.parametrize("dialect", [CHAT, RESPONSES, ANTHROPIC], ids=lambda dialect: dialect.name)
CASE = "The agent answered every question. " * 200
SYSTEM = ModelMessage("system", "You judge.")


class Server:
    """A backend whose clock is set, asked with bodies that the adapters build."""

    def __init__(self, dialect: Dialect) -> None:
        self.now = 0.0
        self._dialect = dialect
        self._backend = SimulationBackend(NO_FAULTS, 0, clock=lambda: self.now)
        self._adapter = dialect.make(ProviderConnection(dialect.name, None, "sk-test"))

    def body(
        self, seat: str, *, cache: Any = None, shared: tuple[str, ...] = (CASE,), **settings: Any
    ) -> dict[str, Any]:
        messages = (SYSTEM, ModelMessage("user", f"You are seat {seat}.", shared=shared))
        request = a_request(*messages, **settings)._replace(cache=cache)
        model = MODELS.get(self._dialect.name, "gemini-3.8-flash")
        return self._adapter.body(request._replace(model=model), stream=False)

    async def send(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        path: dict[str, object] = {}
        if self._dialect is GOOGLE:
            path = {"model": "gemini-3.8-flash", "stream": False}
        answer = await self._backend.answer(PROTOCOLS[self._dialect.name], json.dumps(body).encode(), path)
        assert isinstance(answer, Transmission)
        return answer.status, json.loads(b"".join(answer.pieces))

    async def counts(self, body: dict[str, Any]) -> tuple[int, int, int]:
        """Tokens of the prompt, read ones, written ones, as the adapter reads them."""
        status, document = await self.send(body)
        assert status == 200, document
        usage = self._adapter.parse(document).usage
        return usage.input_tokens or 0, usage.cached_input_tokens or 0, usage.written_tokens


@MARKING
async def test_what_was_marked_is_written_once_and_read_by_calls_that_begin_alike(dialect: Dialect) -> None:
    server = Server(dialect)
    shortest = "5m" if dialect is ANTHROPIC else "30m"

    total, read, written = await server.counts(server.body("A", cache=shortest))
    again = await server.counts(server.body("B", cache=shortest))

    assert (0, True) == (read, total * 0.9 < written < total)
    assert (total, written, 0) == again


@MARKING
async def test_what_was_kept_is_forgotten_after_its_lifetime_which_a_read_by_another_call_begins_anew(
    dialect: Dialect,
) -> None:
    server = Server(dialect)
    shortest, seconds = ("5m", 300) if dialect is ANTHROPIC else ("30m", 1800)
    for server.now in (0, seconds - 1, 2 * seconds - 2):
        _, read, _ = await server.counts(server.body("A", cache=shortest))
    server.now += seconds

    _, late, written = await server.counts(server.body("A", cache=shortest))

    assert read > 1024
    assert (0, True) == (late, written > 1024)


@MARKING
async def test_other_tools_and_another_case_begin_otherwise(dialect: Dialect) -> None:
    server = Server(dialect)
    shortest = "5m" if dialect is ANTHROPIC else "30m"
    await server.counts(server.body("A", cache=shortest))
    tools = [{"name": "look", "description": "", "input_schema": {}}]
    with_tools = server.body("A", cache=shortest) | {"tools": tools if dialect is ANTHROPIC else _functions(dialect)}

    for body in (with_tools, server.body("A", cache=shortest, shared=("Another." + CASE,))):
        _, read, _ = await server.counts(body)
        assert 0 == read


def _functions(dialect: Dialect) -> list[dict[str, Any]]:
    function = {"name": "look", "description": "", "parameters": {}}
    return [{"type": "function", **function} if dialect is RESPONSES else {"type": "function", "function": function}]


@MARKING
async def test_a_short_prompt_is_not_kept(dialect: Dialect) -> None:
    server = Server(dialect)

    for seat in "AB":
        _, read, written = await server.counts(
            server.body(seat, cache="30m" if dialect is not ANTHROPIC else "5m", shared=("Short.",))
        )
        assert (0, 0) == (read, written)


@pytest.mark.parametrize("dialect", [CHAT, RESPONSES], ids=lambda dialect: dialect.name)
async def test_openai_writes_every_prompt_for_a_fee_unless_it_is_told_not_to(dialect: Dialect) -> None:
    server = Server(dialect)

    total, _, written = await server.counts(server.body("A", shared=()) | _one_block(dialect))
    _, _, told = await server.counts(server.body("A", cache="none"))

    assert total == written
    assert 0 == told


def _one_block(dialect: Dialect) -> dict[str, Any]:
    return {"input" if dialect is RESPONSES else "messages": [{"role": "user", "content": CASE}]}


async def test_google_keeps_beginnings_without_being_asked_and_without_a_fee() -> None:
    server = Server(GOOGLE)
    case = CASE * 4

    first = await server.counts(server.body("A", shared=(case,)))
    second = await server.counts(server.body("B", shared=(case,)))

    assert (0, 0) == first[1:]
    assert second[1] > 4096
    assert 0 == second[2]


@pytest.mark.parametrize(
    ("dialect", "changes", "says"),
    [
        (CHAT, {"prompt_cache_options": {"ttl": "12h"}}, "prompt_cache_options.ttl"),
        (CHAT, {"model": "gpt-5.5", "prompt_cache_options": {"mode": "explicit"}}, "not supported with gpt-5.5"),
        (CHAT, {"temperature": 0.5}, "'temperature' is not supported"),
        (CHAT, {"model": "gpt-6.1-sol", "tools": [{"type": "function"}]}, "Function tools are not supported"),
        (RESPONSES, {"top_p": 0.5, "reasoning": {"effort": "low"}}, "'top_p' is not supported"),
        (ANTHROPIC, {"temperature": 0.5}, "temperature"),
        (ANTHROPIC, {"model": "claude-opus-5-5", "thinking": {"type": "disabled"}}, "thinking.type"),
        (
            ANTHROPIC,
            {"model": "claude-sonnet-5", "thinking": {"type": "enabled", "budget_tokens": 2000}},
            "thinking.type",
        ),
        (ANTHROPIC, {"service_tier": "flex"}, "service_tier"),
        (CHAT, {"service_tier": "cheap"}, "'service_tier' does not support 'cheap'"),
        (CHAT, {"model": "gpt-4o", "reasoning_effort": "low"}, "'reasoning_effort' is not supported"),
        (CHAT, {"model": "gpt-4o", "verbosity": "low"}, "'verbosity' is not supported"),
        (CHAT, {"reasoning_effort": "huge"}, "'reasoning_effort' does not support 'huge'"),
        (RESPONSES, {"reasoning": {"effort": "huge"}}, "'reasoning.effort' does not support 'huge'"),
        (RESPONSES, {"text": {"verbosity": "huge"}}, "'text.verbosity' does not support 'huge'"),
        (ANTHROPIC, {"output_config": {"effort": "none"}}, "output_config.effort: Input should be 'low'"),
        (ANTHROPIC, {"model": "claude-haiku-4-5", "output_config": {"effort": "low"}}, "the effort parameter"),
        (ANTHROPIC, {"model": "claude-haiku-4-5", "thinking": {"type": "adaptive"}}, "thinking.type"),
        (ANTHROPIC, {"thinking": {"type": "enabled", "budget_tokens": 1023}}, "greater than or equal to 1024"),
        (ANTHROPIC, {"thinking": {"type": "enabled", "budget_tokens": 8192}}, "must be greater than"),
        (GOOGLE, {"generationConfig": {"thinkingConfig": {"thinkingLevel": "MAX"}}}, "MAX is not supported"),
        (GOOGLE, {"generationConfig": {"thinkingConfig": {"thinkingBudget": -2}}}, "budget -2 is invalid"),
        (
            GOOGLE,
            {"generationConfig": {"thinkingConfig": {"thinkingBudget": 512, "thinkingLevel": "LOW"}}},
            "only set one",
        ),
        (GOOGLE, {"serviceTier": "cheap"}, "service_tier"),
    ],
)
async def test_what_a_model_does_not_take_is_answered_400(dialect: Dialect, changes: dict[str, Any], says: str) -> None:
    server = Server(dialect)

    status, document = await server.send(server.body("A") | changes)

    assert 400 == status
    assert says in document["error"]["message"]


@pytest.mark.parametrize(
    ("dialect", "settings"),
    [
        (CHAT, {"effort": "max", "verbosity": "low", "tier": "flex"}),
        (RESPONSES, {"effort": "none", "verbosity": "high", "temperature": 0.5}),
        (ANTHROPIC, {"effort": "max", "thinking": "adaptive"}),
        (ANTHROPIC, {"thinking": 1024}),
        (GOOGLE, {"effort": "xhigh", "tier": "priority"}),
        (GOOGLE, {"thinking": "adaptive", "temperature": 0.5}),
        (GOOGLE, {"thinking": "off"}),
    ],
)
async def test_what_a_model_takes_is_answered(dialect: Dialect, settings: dict[str, Any]) -> None:
    server = Server(dialect)

    assert 200 == (await server.send(server.body("A", **settings)))[0]


@pytest.mark.parametrize(("ttl", "marks", "says"), [("2h", 1, "ttl"), ("5m", 5, "maximum of 4 blocks")])
async def test_anthropic_refuses_other_lifetimes_and_a_fifth_mark(ttl: str, marks: int, says: str) -> None:
    server = Server(ANTHROPIC)
    mark = {"type": "text", "text": CASE, "cache_control": {"type": "ephemeral", "ttl": ttl}}

    status, document = await server.send(server.body("A") | {"messages": [{"role": "user", "content": [mark] * marks}]})

    assert 400 == status
    assert says in document["error"]["message"]


@pytest.mark.parametrize(
    ("dialect", "tier", "answered"),
    [
        (CHAT, "flex", "flex"),
        (RESPONSES, "priority", "priority"),
        (CHAT, None, "default"),
        (GOOGLE, "flex", "flex"),
        (ANTHROPIC, "standard", "standard"),
        (ANTHROPIC, "priority", "priority"),
    ],
)
async def test_the_answer_names_its_tier(dialect: Dialect, tier: Any, answered: str) -> None:
    server = Server(dialect)

    _, document = await server.send(server.body("A", tier=tier))

    assert answered == server._adapter.parse(document).usage.service_tier


DIAGNOSING = pytest.mark.parametrize("dialect", [RESPONSES, ANTHROPIC], ids=lambda dialect: dialect.name)


async def miss(server: Server, body: dict[str, Any], earlier: str | None) -> tuple[str | None, str]:
    """The reason that the adapter reads, and the id of the reply."""
    if server._dialect is RESPONSES:
        body["prompt_cache_options"] = {**body["prompt_cache_options"], "comparison_response_id": earlier}
    else:
        body["diagnostics"] = {"previous_message_id": earlier}
    _, document = await server.send(body)
    return server._adapter.parse(document).usage.cache_miss, document["id"]


@DIAGNOSING
async def test_the_answer_says_what_differs_from_the_request_that_is_named(dialect: Dialect) -> None:
    server = Server(dialect)
    lifetime = "30m" if dialect is RESPONSES else "5m"
    _, first = await miss(server, server.body("A", cache=lifetime), None)

    tools = [{"name": "look", "description": "", "input_schema": {}}] if dialect is ANTHROPIC else _functions(dialect)
    others: dict[str, dict[str, Any]] = {
        "tools_changed": {"tools": tools},
        "model_changed": {"model": "gpt-6.1-sol" if dialect is RESPONSES else "claude-opus-5-5"},
    }
    assert [*others] == [
        (await miss(server, server.body("A", cache=lifetime) | changes, first))[0] for changes in others.values()
    ]
    another = server.body("A", cache=lifetime, shared=("Another." + CASE,))
    if dialect is ANTHROPIC:
        assert ("messages_changed", "previous_message_not_found") == (
            (await miss(server, another, first))[0],
            (await miss(server, server.body("A", cache=lifetime, shared=("Third.",)), "msg_0"))[0],
        )
    else:
        assert ("prompt_cache_key_changed", "comparison_response_not_found") == (
            (await miss(server, another, first))[0],
            (await miss(server, server.body("A", cache=lifetime, shared=("Third.",)), "resp_0"))[0],
        )


@DIAGNOSING
async def test_a_call_that_reads_what_is_kept_has_no_miss(dialect: Dialect) -> None:
    server = Server(dialect)
    lifetime = "30m" if dialect is RESPONSES else "5m"
    _, first = await miss(server, server.body("A", cache=lifetime), None)

    assert (await miss(server, server.body("B", cache=lifetime), first))[0] is None


async def test_what_has_ended_is_no_change() -> None:
    server = Server(RESPONSES)
    _, first = await miss(server, server.body("A", cache="30m"), None)
    server.now = 1801.0

    assert "unavailable" == (await miss(server, server.body("A", cache="30m"), first))[0]
