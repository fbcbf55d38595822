"""What adapters ask providers to keep is found there, and only that: over a vendor that keeps prompts as they do."""

from jury_providers import Caching, ModelMessage, ProviderConnection, simulation_server
from support.dialects import ANTHROPIC, DIALECTS, GOOGLE, Dialect, a_request
from support.each_row import each_row
from support.vendors.vendor import KeepingVendor

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
