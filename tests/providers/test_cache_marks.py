"""Where the adapters mark what a provider is asked to keep, as the real SDKs send it."""

import json
from datetime import date
from typing import Any

from jury_events import CallSettings
from jury_providers import (
    CachePolicy,
    Caching,
    Endpoint,
    ModelMessage,
    ModelPicture,
    ModelRequest,
    Price,
    Prices,
    ProviderConnection,
    cache_policy,
    estimated_tokens,
    lifetimes,
    load_prices,
    simulation_server,
)
from support.canned_server import Canned, canned_server
from support.dialects import ANTHROPIC, CHAT, DIALECTS, GOOGLE, RESPONSES, Dialect, a_request
from support.each_row import each_row
from support.pictures import PNG
from support.vendors.vendor import KeepingVendor

SYSTEM = ModelMessage("system", "You judge.")
POLICY = "The policy says what counts. " * 150
SHARED = (POLICY, "The case.\n\n")
SHOWN = ModelMessage("user", "You are seat A.", shared=SHARED)

every_dialect = each_row("dialect", DIALECTS, ids=[one.name for one in DIALECTS])
marking_dialect = each_row(
    "dialect", [CHAT, RESPONSES, ANTHROPIC], ids=[one.name for one in [CHAT, RESPONSES, ANTHROPIC]]
)


async def bodies(dialect: Dialect, *requests: ModelRequest) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The bodies of the requests as they arrived, and what was recorded as sent."""
    async with canned_server(*[dialect.canned("{}") for _ in requests]) as server:
        adapter = dialect.adapter(server)
        sent = [(await adapter.call(request)).sent for request in requests]
        await adapter.close()
        return [asked.json for asked in server.asked], [json.loads(one or b"{}") for one in sent]


async def body(dialect: Dialect, request: ModelRequest) -> dict[str, Any]:
    (arrived,), _ = await bodies(dialect, request)
    return arrived


def asked(caching: Caching, *messages: ModelMessage) -> ModelRequest:
    return a_request(*(messages or (SYSTEM, SHOWN)))._replace(cache=caching)


def blocks_of(dialect: Dialect, document: dict[str, Any]) -> list[dict[str, Any]]:
    message = document["input" if dialect is RESPONSES else "messages"][-1]
    found: list[dict[str, Any]] = message["content"]
    return found


MARKS = {
    CHAT.name: {"prompt_cache_breakpoint": {"mode": "explicit"}},
    RESPONSES.name: {"prompt_cache_breakpoint": {"mode": "explicit"}},
    ANTHROPIC.name: {"cache_control": {"type": "ephemeral", "ttl": "1h"}},
}


@marking_dialect
async def test_the_end_of_every_shared_block_is_marked_and_nothing_else(dialect: Dialect) -> None:
    blocks = blocks_of(dialect, await body(dialect, asked("1h")))

    keys = set(MARKS[dialect.name])
    assert [MARKS[dialect.name], MARKS[dialect.name], {}] == [
        {key: value for key, value in block.items() if key in keys} for block in blocks
    ]


@marking_dialect
async def test_no_more_than_four_marks_are_sent(dialect: Dialect) -> None:
    shown = ModelMessage("user", "You are seat A.", shared=(POLICY, *(f"block {number}\n" for number in range(5))))

    blocks = blocks_of(dialect, await body(dialect, asked("30m", SYSTEM, shown)))

    key = next(iter(MARKS[dialect.name]))
    assert [False, False, True, True, True, True, False] == [key in block for block in blocks]


SMALLEST = {"model-1": 1024, "claude-opus-5": 512, "claude-haiku-4-5": 4096, "us.anthropic.claude-haiku-4-5": 4096}


@each_row("model", SMALLEST)
async def test_a_mark_before_the_last_is_left_out_where_the_model_keeps_nothing_so_short(model: str) -> None:
    key = next(iter(MARKS[ANTHROPIC.name]))
    system, least = estimated_tokens(len(SYSTEM.text)), SMALLEST[model]

    for tokens, marked in ((least - system - 2, False), (least, True)):
        shown = SHOWN._replace(shared=("x" * int(tokens * 3.5), "The case."))
        blocks = blocks_of(ANTHROPIC, await body(ANTHROPIC, asked("5m", SYSTEM, shown)._replace(model=model)))

        assert [marked, True, False] == [key in block for block in blocks]


@each_row("dialect", [CHAT, RESPONSES], ids=[one.name for one in [CHAT, RESPONSES]])
async def test_what_stands_before_the_policy_counts(dialect: Dialect) -> None:
    short = SHOWN._replace(shared=("The policy.", "The case."))
    key = next(iter(MARKS[dialect.name]))

    for system, marked in ((SYSTEM, False), (ModelMessage("system", POLICY), True)):
        blocks = blocks_of(dialect, await body(dialect, asked("30m", system, short)))

        assert [marked, True, False] == [key in block for block in blocks]


@marking_dialect
async def test_pictures_stand_behind_the_mark(dialect: Dialect) -> None:
    shown = SHOWN._replace(pictures=(ModelPicture("image/png", PNG),))

    blocks = blocks_of(dialect, await body(dialect, asked("30m", SYSTEM, shown)))

    key = next(iter(MARKS[dialect.name]))
    assert [True, True, False, False] == [key in block for block in blocks]


@every_dialect
async def test_a_call_that_asks_for_nothing_has_no_mark_and_no_option(dialect: Dialect) -> None:
    text = json.dumps(await body(dialect, asked(None)))

    assert "cache" not in text


async def test_google_is_sent_no_marks_but_the_same_blocks() -> None:
    short = SHOWN._replace(shared=("The policy.", "The case."))

    assert await body(GOOGLE, asked(None, SYSTEM, short)) == await body(GOOGLE, asked("5m", SYSTEM, short))


@each_row("dialect", [CHAT, RESPONSES], ids=[one.name for one in [CHAT, RESPONSES]])
async def test_openai_keeps_only_what_is_marked(dialect: Dialect) -> None:
    (kept, nothing), _ = await bodies(dialect, asked("30m"), asked("none"))

    assert {"mode": "explicit", "ttl": "30m"} == kept["prompt_cache_options"]
    assert {"mode": "explicit"} == nothing["prompt_cache_options"]
    assert "prompt_cache_breakpoint" not in json.dumps(nothing)


@each_row("dialect", [CHAT, RESPONSES], ids=[one.name for one in [CHAT, RESPONSES]])
async def test_calls_that_begin_alike_have_one_cache_key(dialect: Dialect) -> None:
    other_seat, other_case = SHOWN._replace(text="You are seat B."), SHOWN._replace(shared=(POLICY, "Another."))

    arrived, _ = await bodies(dialect, asked("30m"), asked("30m", SYSTEM, other_seat), asked("30m", SYSTEM, other_case))

    keys = [document["prompt_cache_key"] for document in arrived]
    assert keys[0] == keys[1] != keys[2]
    assert all(len(key) <= 64 for key in keys)


async def test_anthropic_is_told_that_nothing_is_kept_by_no_mark() -> None:
    assert "cache_control" not in json.dumps(await body(ANTHROPIC, asked("none")))


@each_row("dialect", [RESPONSES, ANTHROPIC], ids=[one.name for one in [RESPONSES, ANTHROPIC]])
async def test_a_later_turn_asks_why_the_turn_before_was_not_read(dialect: Dialect) -> None:
    earlier = json.dumps(dialect.reply("{}", dialect.finishes[0], ()))
    turns = (SYSTEM, SHOWN, ModelMessage("assistant", earlier), ModelMessage("user", "Answer again."))
    (first, later), _ = await bodies(dialect, asked("30m"), asked("30m", *turns))

    named = json.loads(earlier)["id"]
    asks = {"comparison_response_id": named} if dialect is RESPONSES else {"previous_message_id": named}
    options = "prompt_cache_options" if dialect is RESPONSES else "diagnostics"
    assert asks.items() <= later[options].items()
    # Anthropic remembers only prompts that ask, so the first one asks too, and names none.
    assert ({} if dialect is RESPONSES else {"previous_message_id": None}).items() == {
        key: value for key, value in first.get(options, {}).items() if key in asks
    }.items()


SEATS = [SHOWN._replace(text=f"You are seat {name}.") for name in "AB"]


@each_row("dialect", [RESPONSES, ANTHROPIC], ids=[one.name for one in [RESPONSES, ANTHROPIC]])
async def test_another_call_that_begins_alike_asks_why_the_last_one_was_not_read(dialect: Dialect) -> None:
    other = SHOWN._replace(shared=("The policy.", "Another."))
    arrived, _ = await bodies(dialect, *(asked("30m", SYSTEM, shown) for shown in (*SEATS, other)))

    key = "comparison_response_id" if dialect is RESPONSES else "previous_message_id"
    options = "prompt_cache_options" if dialect is RESPONSES else "diagnostics"
    assert [None, "c-1", None] == [body[options].get(key) for body in arrived]


@each_row("dialect", [RESPONSES, ANTHROPIC], ids=[one.name for one in [RESPONSES, ANTHROPIC]])
async def test_adapters_of_one_connection_name_each_others_replies(dialect: Dialect) -> None:
    async with canned_server(dialect.canned("{}")) as server:
        for shown in SEATS:
            adapter = dialect.adapter(server)
            await adapter.call(asked("30m", SYSTEM, shown))
            await adapter.close()

        assert '"c-1"' in json.dumps(server.asked[1].json)
        assert '"c-1"' not in json.dumps(server.asked[0].json)


@each_row("caching", [None, "none"])
@every_dialect
async def test_nothing_is_asked_of_a_miss_where_nothing_is_kept(dialect: Dialect, caching: Caching) -> None:
    arrived, _ = await bodies(dialect, *(asked(caching, SYSTEM, shown) for shown in SEATS))

    text = json.dumps(arrived)
    assert "comparison_response_id" not in text
    assert "diagnostics" not in text


@each_row(
    ("dialect", "reply", "read", "expected"),
    [
        (ANTHROPIC, {"diagnostics": {"cache_miss_reason": {"type": "tools_changed"}}}, 0, "tools_changed"),
        (ANTHROPIC, {"diagnostics": {"cache_miss_reason": {"type": "messages_changed"}}}, 4, None),
        (ANTHROPIC, {"diagnostics": {"cache_miss_reason": None}}, 0, None),
        (ANTHROPIC, {"diagnostics": None}, 0, None),
        (
            RESPONSES,
            {"prompt_cache_diagnostics": {"type": "cache_miss", "reason": "input_changed"}},
            0,
            "input_changed",
        ),
        (RESPONSES, {"prompt_cache_diagnostics": {"type": "cache_miss", "reason": "input_changed"}}, 4, None),
        (RESPONSES, {"prompt_cache_diagnostics": {"type": "cache_hit"}}, 0, None),
        (RESPONSES, {"prompt_cache_diagnostics": {"type": "unavailable"}}, 0, "unavailable"),
        (RESPONSES, {"prompt_cache_diagnostics": ["no", "object"]}, 0, None),
    ],
)
async def test_the_reason_is_recorded_where_nothing_was_read(
    dialect: Dialect, reply: dict[str, Any], read: int, expected: str | None
) -> None:
    document = dialect.reply("{}", dialect.finishes[0], ()) | reply
    text = json.dumps(document)
    if not read:
        text = text.replace('"cached_tokens": 4', '"cached_tokens": 0').replace(
            '"cache_read_input_tokens": 4', '"x": 0'
        )
    async with canned_server(Canned(200, [text.encode()])) as server:
        adapter = dialect.adapter(server)
        usage = (await adapter.call(asked("30m"))).usage
        await adapter.close()

    assert expected == usage.cache_miss


@marking_dialect
async def test_what_was_sent_says_how_many_blocks_were_marked(dialect: Dialect) -> None:
    _, (marked, unmarked) = await bodies(dialect, asked("30m"), asked(None))

    assert (2, None) == (marked.get("cache_marks"), unmarked.get("cache_marks"))


MODELS = {"openai": "gpt-6-sol", "openai-responses": "gpt-6-sol", "anthropic": "claude-haiku-5-5"}
CASE = "The agent answered every question. " * 800


@each_row("dialect", DIALECTS, ids=[one.name for one in DIALECTS])
async def test_beginnings_of_prompts_are_kept_for_a_time(dialect: Dialect) -> None:
    now, fee = [0.0], dialect is not GOOGLE
    lifetimes: dict[Dialect, Caching] = {ANTHROPIC: "5m", GOOGLE: None}
    lifetime = lifetimes.get(dialect, "30m")

    async with simulation_server(vendor=KeepingVendor(lambda: now[0])) as server:
        adapter = dialect.make(ProviderConnection(dialect.name, server.url + dialect.base, "sk-test"))

        async def counts(seat: str, shared: str = CASE, cache: Caching = lifetime) -> tuple[bool, bool]:
            """Whether much of the prompt was read, and whether much was written."""
            shown = ModelMessage("user", f"You are seat {seat}.", shared=(shared,))
            request = a_request(ModelMessage("system", "You judge."), shown)
            model = MODELS.get(dialect.name, "gemini-3.8-flash")
            usage = (await adapter.call(request._replace(model=model, cache=cache))).usage
            return (usage.cached_input_tokens or 0) > 1024, usage.written_tokens > 1024

        assert (False, fee) == await counts("A")
        assert (True, False) == await counts("B")
        assert (False, fee) == await counts("A", f"Another. {CASE}")
        assert (False, False) == await counts("C", "Short.")
        now[0] = 300.0 if dialect in {ANTHROPIC, GOOGLE} else 1800.0
        assert (False, fee) == await counts("A"), "its lifetime is over"
        if fee:
            assert (False, False) == await counts("D", f"Third. {CASE}", "none")
        await adapter.close()


TODAY = date(2026, 11, 1)
AUTO = CallSettings()
OF_PROVIDERS = (
    "openai/gpt-6-sol",
    "openai-responses/gpt-6-sol",
    "anthropic/claude-opus-5-5",
    "google/gemini-3.8-flash",
)
LISTED = cache_policy((*OF_PROVIDERS, "openai/gpt-5.4-mini", "simulated/juror"), load_prices())


@each_row(
    ("protocol", "model", "expected"),
    [
        ("openai", "gpt-5.6", ("30m",)),
        ("openai", "gpt-6.1-sol", ("30m",)),
        ("openai", "openai/gpt-6-sol", ("30m",)),
        ("openai-responses", "gpt-6-sol", ("30m", "12h")),
        ("openai", "gpt-5.5", ()),
        ("openai", "gpt-5", ()),
        ("openai", "gpt-4o", ()),
        ("openai", "qwen3", ()),
        ("anthropic", "claude-haiku-5-5", ("5m", "1h")),
        ("google", "gemini-3.8-flash", ()),
    ],
)
def test_each_protocol_offers_its_lifetimes_to_models_that_take_marks(protocol, model, expected) -> None:
    assert expected == lifetimes(protocol, model)


@each_row(
    ("model", "shortest"),
    [("openai/gpt-6-sol", "30m"), ("anthropic/claude-opus-5-5", "5m")],
    ids=["openai", "anthropic"],
)
def test_the_beginning_is_kept_where_the_expected_reads_pay_for_the_write(model, shortest) -> None:
    # (1.25 - 1) / (1 - 0.1) = 0.28; Opus 5.5 reads at 0.05: 0.26.
    assert "none" == LISTED.choose(model, AUTO, 0.25, TODAY)
    assert shortest == LISTED.choose(model, AUTO, 0.3, TODAY)


def test_a_lifetime_that_is_asked_for_is_used_whatever_is_expected() -> None:
    assert "1h" == LISTED.choose("anthropic/claude-opus-5-5", CallSettings(cache="1h"), 0, TODAY)
    assert "12h" == LISTED.choose("openai-responses/gpt-6-sol", CallSettings(cache="12h"), 0, TODAY)


@each_row("model", OF_PROVIDERS[:3])
def test_nothing_is_kept_where_caching_is_off(model) -> None:
    assert "none" == LISTED.choose(model, CallSettings(cache="off"), 9, TODAY)


@each_row("model", ["google/gemini-3.8-flash", "openai/gpt-5.4-mini", "simulated/juror", "other/model"])
def test_a_provider_without_marks_is_asked_for_nothing(model) -> None:
    assert LISTED.choose(model, AUTO, 9, TODAY) is None


@each_row("cache", [None, "auto", "off", "12h"])
def test_google_keeps_what_it_likes_without_a_lifetime_that_it_can_be_asked_for(cache) -> None:
    assert LISTED.choose("google/gemini-3.8-flash", CallSettings(cache=cache), 99, TODAY) is None


def test_a_read_that_costs_as_much_as_other_input_never_pays() -> None:
    prices = Prices((Price(models=("openai/gpt-6-sol",), input=2, output=10, cache_write={"30m": 2.5}),))

    assert "none" == cache_policy(OF_PROVIDERS, prices).choose("openai/gpt-6-sol", AUTO, 100, TODAY)


def test_a_model_without_a_price_is_judged_by_what_providers_charge() -> None:
    policy = cache_policy(OF_PROVIDERS, Prices())

    assert ("none", "30m") == tuple(policy.choose("openai/gpt-6-sol", AUTO, reads, TODAY) for reads in (0.25, 0.3))


def test_a_server_of_ones_own_is_asked_for_nothing_unless_a_seat_says_so() -> None:
    named = cache_policy(OF_PROVIDERS, load_prices(), {"openai": Endpoint(base_url="http://127.0.0.1:8000/v1")})
    by_variable = cache_policy(OF_PROVIDERS, load_prices(), environ={"OPENAI_BASE_URL": "http://127.0.0.1:8000/v1"})

    for policy in (named, by_variable):
        assert policy.choose("openai/gpt-6-sol", AUTO, 9, TODAY) is None
        assert "30m" == policy.choose("openai/gpt-6-sol", CallSettings(cache="auto"), 9, TODAY)
        assert "5m" == policy.choose("anthropic/claude-opus-5-5", AUTO, 9, TODAY)


@each_row(
    ("model", "settings", "tokens", "waits"),
    [
        ("openai/gpt-6-sol", {}, 1024, True),
        ("google/gemini-3.8-flash", {}, 5000, True),
        ("openai/gpt-6-sol", {}, 1023, False),
        ("openai/gpt-6-sol", {"warm": "off"}, 5000, False),
        ("openai/gpt-6-sol", {"cache": "off"}, 5000, False),
        ("simulated/juror", {}, 5000, False),
        ("other/model", {}, 5000, False),
    ],
)
def test_calls_wait_for_one_another_where_a_read_is_known_to_save(model, settings, tokens, waits) -> None:
    assert waits == LISTED.worth_waiting(model, CallSettings(**settings), tokens, TODAY)


def test_a_policy_without_prices_lets_no_call_wait() -> None:
    assert not CachePolicy().worth_waiting("openai/gpt-6-sol", AUTO, 5000, TODAY)
