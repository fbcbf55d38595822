"""Decision models over the three APIs, from the SDK to the log: every failure ends as the rules say, nothing is
asked twice, and a price bounds a run."""

import json
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml

from jury_actors import Halted
from jury_events import JurorAbstained, JurorEvaluated
from jury_judge import Budget, Jury, RunUnfinished
from jury_providers import WireScript, simulation_server
from jury_replay import intact_history, replay_history
from jury_store import open_store
from support.canned_server import Asked, Canned, canned_server
from support.vendors.vendor import DecisionVendor

pytestmark = pytest.mark.full_for("postgresql")

APIS = ("openai-decisions", "google-decisions", "systemone")
ABSTAINS: dict[str, tuple[str, str, str | None]] = {
    "blocked": ("blocked", "blocked", None),
    "wrong_sum": ("answered", "unparseable", "out_of_range"),
    "negative": ("answered", "unparseable", "out_of_range"),
    "not_a_number": ("answered", "unparseable", "not_a_number"),
    "unknown_label": ("answered", "unparseable", "unknown_verdict"),
    "missing_label": ("answered", "unparseable", "missing_field"),
    "doubled_label": ("answered", "unparseable", "duplicate_key"),
    "no_answer": ("answered", "unparseable", "missing_field"),
    "context_too_long": ("context_too_long", "context_too_long", None),
}
"""What the call is recorded as, why the seat abstains, and why the answer was refused; it is asked once."""

TRIED_AGAIN = {"rate_limited": "rate_limited", "overloaded": "overloaded", "html": "malformed_response"}
CASE = {"case_id": "c", "question": "Refund order 7.", "response": "Refunded to 4242."}


def a_panel(folder: Path, url: str, *models: str, **more: Any) -> str:
    """A panel file with a seat of each model in each API, where its name ends with that of the API."""
    seats = [{"model": f"{api}-test/{model}.{api}", "juror_id": f"{api}.{model}"} for model in models for api in APIS]
    providers = {f"{api}-test": {"protocol": api, "base_url": url} for api in APIS}
    providers["openai-decisions-test"]["base_url"] = f"{url}/v1"
    path = folder / "panel.yaml"
    path.write_text(yaml.safe_dump({"preset": "independent", "seats": seats, "providers": providers, **more}))
    return str(path)


async def test_every_failure_ends_over_each_api_as_the_table_says(url: str, tmp_path: Path) -> None:
    once = {f"*/{fault}.*/*": (fault,) for fault in ABSTAINS}
    again = {f"*/{fault}.*/*": (fault, "answered") for fault in TRIED_AGAIN}
    async with simulation_server(WireScript(scripted={**once, **again}), vendor=DecisionVendor()) as server:
        panel = a_panel(tmp_path, server.url, *ABSTAINS, *TRIED_AGAIN)
        async with Jury(panel, store=url, environ={}) as jury:
            result = await jury.evaluate(CASE, debate_id="d")
        served = server.served.requests
    store = open_store(url, write=False)
    history = intact_history(store, "d")
    store.close()
    calls: dict[str | None, list[str]] = {}
    for one in history.exchanges:
        calls.setdefault(one.juror_id, []).append(one.outcome.value)
    absent = {one.juror_id: one for one in history.events if isinstance(one, JurorAbstained)}
    voted = {one.juror_id for one in history.events if isinstance(one, JurorEvaluated)}

    for api in APIS:
        for fault, (outcome, reason, refusal) in ABSTAINS.items():
            found = absent[f"{api}.{fault}"]
            assert ([outcome], reason, refusal) == (calls[found.juror_id], found.reason, found.refusal), found.juror_id
        for fault, outcome in TRIED_AGAIN.items():
            assert [outcome, "answered"] == calls[f"{api}.{fault}"]
    assert {f"{api}.{fault}" for api in APIS for fault in TRIED_AGAIN} == voted
    assert len(history.exchanges) == served
    assert "needs_review" == result.final_verdict, "the quorum is lost"
    assert "equal" == replay_history(history).status


@pytest.mark.parametrize("api", APIS)
async def test_a_refused_key_stops_the_run_and_what_was_answered_is_not_asked_again(
    url: str, tmp_path: Path, api: str
) -> None:
    others = [one for one in APIS if one != api]
    async with simulation_server(
        WireScript(scripted={f"*/m.{api}/*": ("authentication", "answered")}), vendor=DecisionVendor()
    ) as server:
        panel = a_panel(tmp_path, server.url, "m")
        async with Jury(panel, store=url, environ={}) as jury:
            with pytest.raises(Halted, match=f"{api}-test"):
                await jury.evaluate(CASE, debate_id="d")
        async with Jury(panel, store=url, environ={}) as jury:
            result = await jury.evaluate(CASE, debate_id="d")
        served = server.served.by_protocol
    store = open_store(url, write=False)
    history = intact_history(store, "d")
    store.close()

    assert {api: 2, **dict.fromkeys(others, 1)} == served
    assert "completed" == result.status
    assert ["answered"] * 3 == [one.outcome for one in history.exchanges if one.outcome != "authentication"]
    assert "equal" == replay_history(history).status


def charged(asked: Asked) -> Canned:
    """An answer of no simulated model: three probabilities for each question, for 300 tokens."""
    body = json.loads(asked.body)
    named = body["questions"]
    names = list(named) if isinstance(named, dict) else [one["name"] for one in named]
    given = {"unsafe_fail": 0.1, "needs_review": 0.2, "safe_pass": 0.7}
    answers = {name: {"type": "choice", "choice": "safe_pass", "probabilities": given} for name in names}
    usage = {"input_tokens": 300, "output_tokens": 0, "total_input_tokens": 300, "total_output_tokens": 0}
    answer = {"id": "dec_1", "model": body["model"], "answers": answers, "usage": usage}
    return Canned(pieces=[json.dumps(answer).encode()], headers={"content-type": "application/json"})


async def test_a_priced_run_ends_with_its_budget_and_goes_on_with_a_higher_one(url: str, tmp_path: Path) -> None:
    prices = tmp_path / "prices.toml"
    models = ", ".join(f'"{api}-test/m.{api}"' for api in APIS)
    prices.write_text(f"[[price]]\nmodels = [{models}]\ninput = 1.0\noutput = 0\n")
    cases = [{**CASE, "case_id": f"c{number}"} for number in range(4)]
    async with canned_server(charged) as server:
        panel = a_panel(tmp_path, server.url, "m")

        async def judged(most: float) -> dict[str, str | None]:
            budget = Budget(max_cost=most, prices=str(prices))
            ended = {}
            async with Jury(panel, store=url, environ={}, budget=budget) as jury:
                with suppress(RunUnfinished, Halted):
                    async for result in jury.evaluate_many(cases, run_id="r", concurrency=1):
                        ended[result.case_id] = result.final_verdict
            return ended

        first = await judged(0.0025)
        asked = len(server.asked)
        whole = await judged(1.0)
    paths = Counter(one.path for one in server.asked)

    assert dict.fromkeys(("c0", "c1"), "safe_pass") == first
    assert 6 <= asked <= 8
    assert dict.fromkeys(("c0", "c1", "c2", "c3"), "safe_pass") == whole
    assert {"/v1/decisions": 4, "/v1beta/decisions": 4, "/v1/systemone": 4} == paths
