"""Dollars a debate at list prices, with and without caching in one run, over the simulated servers of the providers.

    uv run --with tiktoken --with litellm python benchmarks/prices.py CASES [--policy FILE] [--debates 20] [--tier flex]

`CASES` is a file that `jury run` reads. One seat each of OpenAI, Anthropic and Google, three rounds and a final judge:
13 calls a debate, through the providers' own SDKs. The servers keep prompts as the providers do and count tokens with
o200k; every answer counts as 350 tokens. `before` asks for nothing, `after` lets the jury decide what is kept. Google
keeps beginnings without being asked and does not promise to find them: `missed` is `before` as if nothing had been
found, and the second pair of ratios is to that.
"""

import argparse
import asyncio
import json
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from vocabularies import o200k

from jury_actors.messages import Job, RunContext
from jury_actors.runtime import RuntimeConfig, drive, in_process_runtime
from jury_cases.case_files import CaseFiles
from jury_cases.labels import Labels
from jury_cases.options import CaseOptions
from jury_debate.panel_spec import PanelSpec
from jury_debate.resolved_panel import ResolvedPanel, resolve
from jury_events.case import Case
from jury_events.codec import decode
from jury_events.exchange import ExchangeRecorded
from jury_events.ids import calls_stream
from jury_providers.endpoints import Endpoint
from jury_providers.prices import Prices, load_prices
from jury_providers.simulated.http.server import Simulation, simulation_server
from jury_store.memory import MemoryEventStore
from support.vendors.vendor import KeepingVendor

MODELS = {"openai": "gpt-6-sol", "anthropic": "claude-sonnet-5-5", "google": "gemini-3.8-flash"}
JUDGE = "openai"
ANSWER_TOKENS = 350


class _Kept(MemoryEventStore):
    def close(self) -> None:
        """The events are read afterwards."""


def main() -> None:
    """Print dollars a debate by provider, before and after, and their ratios."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("cases", nargs="+")
    parser.add_argument("--policy", type=Path, help="the policy of cases without one")
    parser.add_argument("--debates", type=int, default=20)
    parser.add_argument("--tier", choices=["standard", "flex"], default="standard", help="of OpenAI and Google, after")
    parser.add_argument("--one-model", choices=sorted(MODELS), help="three seats of this provider's model")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY"):
        os.environ[name] = "sk-simulated"
    policy = None if arguments.policy is None else arguments.policy.read_text(encoding="utf-8")
    files = CaseFiles(arguments.cases, CaseOptions(labels=Labels(refuse=False), policy=policy))
    cases = list(islice(files, arguments.debates))
    found = asyncio.run(_both(cases, arguments.tier, arguments.one_model))
    _print(found, len(cases))
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(found, indent=2), encoding="utf-8")


async def _both(cases: list[Case], tier: str, one_model: str | None) -> dict[str, Any]:
    count = o200k()
    return {
        "before": await _spent(cases, count, carriage={}, one_model=one_model),
        "after": await _spent(cases, count, carriage={"cache": "auto", "tier": tier}, one_model=one_model),
    }


async def _spent(
    cases: list[Case], count: Callable[[str], int], *, carriage: dict[str, str], one_model: str | None
) -> dict[str, dict[str, float]]:
    """What a debate costs on average, by provider."""
    async with simulation_server(vendor=KeepingVendor(count_tokens=count)) as server:
        store = _Kept()
        resolved = _panel(carriage, one_model)
        config = RuntimeConfig(
            (resolved.panel,), "", "run", endpoints=_endpoints(server), prices=load_prices(), replicas=1
        )
        context = RunContext("run", resolved)
        jobs = (Job(f"d{number}", case.model_dump_json().encode(), context) for number, case in enumerate(cases))
        async with in_process_runtime(config, lambda: store) as runtime:
            async for finished in drive(runtime, jobs, concurrency=8):
                if finished.problem is not None:
                    raise finished.problem
    return _sums(store, len(cases))


def _panel(carriage: dict[str, str], one_model: str | None) -> ResolvedPanel:
    def settings(provider: str) -> dict[str, str]:
        offered = {} if provider == "anthropic" and carriage.get("tier") == "flex" else carriage
        return offered or {name: value for name, value in carriage.items() if name != "tier"}

    providers = [one_model] * 3 if one_model else list(MODELS)
    seats = [
        {"juror_id": f"seat-{number}", "model": f"{name}/{MODELS[name]}", "settings": settings(name), "fallbacks": []}
        for number, name in enumerate(providers)
    ]
    judge = one_model or JUDGE
    final = {"model": f"{judge}/{MODELS[judge]}", "settings": settings(judge), "fallbacks": []}
    return resolve(
        PanelSpec.model_validate(
            {
                "seats": seats,
                "discussion": {"max_rounds": 3, "end_early": False},
                "final": {"method": "final_judge", "judge": final},
                "artifacts": {"mode": "summary"},
                "language": "en",
            }
        )
    )


def _endpoints(server: Simulation) -> dict[str, Endpoint]:
    paths = {"openai": "/v1", "anthropic": "", "google": ""}
    keys = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY", "google": "GOOGLE_API_KEY"}
    return {name: Endpoint(base_url=server.url + path, key_env=keys[name]) for name, path in paths.items()}


def _sums(store: MemoryEventStore, debates: int) -> dict[str, dict[str, float]]:
    prices, today = load_prices(), datetime.now(UTC).date()
    sums: dict[str, Counter[str]] = defaultdict(Counter)
    for number in range(debates):
        for stored in store.read_stream(calls_stream(f"d{number}")):
            exchange = decode(stored)
            if not isinstance(exchange, ExchangeRecorded):
                continue
            usage = exchange.usage.changed(output_tokens=ANSWER_TOKENS)
            one = sums[exchange.model.partition("/")[0]]
            one["calls"] += 1
            one["tokens"] += usage.input_tokens or 0
            one["read"] += usage.cached_input_tokens or 0
            one["written"] += usage.written_tokens
            one["all"] += _dollars(prices, exchange.model, usage, today)
            missed = usage.changed(cached_input_tokens=None)
            one["missed all"] += _dollars(prices, exchange.model, missed, today)
            one["missed input"] += _dollars(prices, exchange.model, missed.changed(output_tokens=0), today)
            one["input"] += _dollars(prices, exchange.model, usage.changed(output_tokens=0), today)
    return {name: {key: value / debates for key, value in one.items()} for name, one in sums.items()}


def _dollars(prices: Prices, model: str, usage: Any, today: Any) -> float:
    cost = prices.cost(model, usage, today)
    if cost is None:
        raise SystemExit(f"{model} has no list price for {usage}")
    return cost


def _print(found: dict[str, Any], debates: int) -> None:
    print(f"{debates} debates")
    print(
        f"{'provider':<10} {'calls':>6} {'before $':>9} {'missed $':>9} {'after $':>9} "
        f"{'input':>6} {'all':>6} {'input':>6} {'all':>6} {'read':>6}"
    )
    for name, after in found["after"].items():
        before = found["before"][name]
        dollars = " ".join(f"{one:>9.4f}" for one in (before["all"], before["missed all"], after["all"]))
        ratios = " ".join(
            f"{after[key] / before[base + key]:>6.2f}" for base in ("", "missed ") for key in ("input", "all")
        )
        print(f"{name:<10} {after['calls']:>6.1f} {dollars} {ratios} {after['read'] / after['tokens']:>6.0%}")


if __name__ == "__main__":
    main()
