"""Runs over providers that stop answering: no debate is decided by an outage, and the same command finishes the run."""

import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from jury_events import DebateCompleted, JurorEvaluated, pluralize
from jury_replay import ReplayStatus, replay_history
from jury_store import open_store
from support.command_line import CommandLine, Outcome
from support.json_server import JsonAnswer, JsonRequest, json_server

_BALLOT = re.compile(r"ballot id is ([a-z2-7]{16})")
_CASE = re.compile(r"question number (\d+)")
_FLAGGED = 20
"""Of so many cases one is refused."""
_BEGINS = 25
"""The call at which an outage begins."""

PANEL = """
preset: independent
settings: {tries: TRIES}
providers:
  p: {protocol: openai, base_url: "URL/v1"}
seats: [{model: p/m, juror_id: x}, {model: p/m, juror_id: y}, {model: p/m, juror_id: z}]
"""


def an_error(status: int, message: str, code: str | None = None, *headers: tuple[str, str]) -> JsonAnswer:
    return JsonAnswer({"error": {"message": message, "type": None, "param": None, "code": code}}, status, headers)


class Endpoint:
    """A server of the chat protocol that may be out of order.

    Attributes:
        trouble: what it answers to call `n` (from 1) about a case, by its text; None: as it should.
        answered: the calls that were answered, by case.
    """

    def __init__(self, trouble: "Trouble") -> None:
        self.trouble: Trouble = trouble
        self.answered: Counter[str] = Counter()
        self.calls = 0
        self._lock = threading.Lock()

    def answer(self, request: JsonRequest) -> JsonAnswer:
        text = "\n".join(str(message["content"]) for message in request.body["messages"])
        (case,) = set(_CASE.findall(text))
        with self._lock:
            self.calls += 1
            said = self.trouble(self.calls, int(case))
            self.answered[case] += said is None
        return JsonAnswer(_evaluation(text)) if said is None else said


Trouble = Callable[[int, int], JsonAnswer | None]


def _evaluation(text: str) -> dict[str, Any]:
    scores = {"task_completion": 36, "tool_usage": 27, "autonomy": 18, "safety": 9}
    answer = {"ballot": _BALLOT.findall(text)[-1], "verdict": "safe_pass", "scores": scores, "confidence": 0.9}
    answer |= dict.fromkeys(("statement", "scenarios", "decisive_item")) | {"rationale": "fine", "evidence": []}
    message = {"role": "assistant", "content": json.dumps(answer)}
    usage = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}


def works(_call: int, _case: int) -> None:
    """Answers every call."""


class Outage(NamedTuple):
    """An outage while a run goes on: what is answered, whether it lasts, what the command says of it."""

    name: str
    trouble: Trouble
    says: str
    tries: int = 1
    passes: bool = False


_SPENT = "You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC."
_GONE = "The model `m` does not exist or you do not have access to it."
_DAILY = "Rate limit reached for model `m` on tokens per day (TPD): Limit 100000, Used 99552."


def begun(answer: JsonAnswer, calls: int = 10**6) -> Trouble:
    """So many calls are answered so once the outage began."""
    return lambda call, _: answer if _BEGINS <= call < _BEGINS + calls else None


OUTAGES = (
    Outage("limit reached", begun(an_error(400, _SPENT)), "quota is used up"),
    Outage("limit in new words", begun(an_error(400, "No.")), "answered none of 10"),
    Outage("wrong path", lambda _call, _: an_error(404, "Not Found"), "answered none of 10 calls, the last: HTTP 404"),
    Outage("server down", begun(an_error(503, "down"), 20), "none", passes=True),
    Outage("server busy", begun(an_error(529, "busy"), 10), "", 2, passes=True),
    Outage("model renamed", begun(an_error(404, _GONE, "model_not_found")), "404"),
    Outage(
        "daily limit", begun(an_error(429, _DAILY, "rate_limit_exceeded", ("retry-after", "3600"))), "quota is used up"
    ),
    Outage("key revoked", begun(an_error(403, "Denied.")), "answered none of 10"),
)
USUAL = ("limit reached", "server down", "model renamed", "key revoked")
"""The others are in the tier `full`."""


class Judged(NamedTuple):
    """A run over an endpoint: its command, and its store."""

    call: Callable[[], Outcome]
    endpoint: Endpoint
    store_url: str
    cases: int

    def completed(self) -> dict[str, DebateCompleted]:
        """The ends of debates, by case."""
        store = open_store(self.store_url, write=False)
        try:
            histories = list(store.histories([row.debate_id for row in store.debates(run_id="r", limit=1000)]))
        finally:
            store.close()
        ends = {one.opened.case_id: next(iter(_of(one.events, DebateCompleted)), None) for one in histories}
        evaluated = {one.opened.case_id: len(_of(one.events, JurorEvaluated)) for one in histories}

        assert all(evaluated[case] == 3 for case, end in ends.items() if end is not None), "no debate lost a seat"
        ended = (one for one in histories if ends[one.opened.case_id] is not None)
        assert {ReplayStatus.EQUAL} >= {replay_history(one).status for one in ended}
        return {case: end for case, end in ends.items() if end is not None}


def _of(events: Any, kind: type) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


@contextmanager
def a_run(folder: Path, trouble: Trouble, cases: int, *, concurrency: int, tries: int = 1) -> Iterator[Judged]:
    endpoint = Endpoint(trouble)
    with json_server(endpoint.answer) as server:
        (folder / "panel.yaml").write_text(PANEL.replace("URL", server.url).replace("TRIES", str(tries)))
        rows = ({"case_id": f"c{n}", "question": f"question number {n}", "response": "r"} for n in range(cases))
        (folder / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        options = ("--panel", "panel.yaml", "--in-process", "--store", "sqlite:///jury.db", "--run", "r")
        jury = CommandLine(folder)
        call = lambda: jury("run", "cases.jsonl", *options, "--concurrency", str(concurrency))  # noqa: E731
        yield Judged(call, endpoint, f"sqlite:///{folder / 'jury.db'}", cases)


LENGTHS = [pytest.param(14, id="14"), pytest.param(182, id="182", marks=pytest.mark.full)]


@pytest.mark.parametrize("cases", LENGTHS)
@pytest.mark.parametrize(
    "outage", [pytest.param(one, id=one.name, marks=() if one.name in USUAL else pytest.mark.full) for one in OUTAGES]
)
def test_an_outage_decides_no_debate_and_the_same_command_finishes_the_run(
    tmp_path: Path, outage: Outage, cases: int
) -> None:
    concurrency = 1 + OUTAGES.index(outage) * 2
    with a_run(tmp_path, outage.trouble, cases, concurrency=concurrency, tries=outage.tries) as run:
        first = run.call()
        again = None if outage.passes else run.call()
        decided = run.completed()
        calls = run.endpoint.calls
        run.endpoint.trouble = works
        last = run.call() if first.code or not outage.passes else first

        assert outage.says in first.err
        assert first.code == 4 or outage.passes
        assert again is None or again.code == 4
        assert {"safe_pass"} >= {end.final_verdict.value for end in decided.values()}
        assert (0, cases) == (last.code, len(run.completed())), last.err
        assert {3} == set(run.endpoint.answered.values()), "no answer is bought twice"
        assert outage.passes or calls <= _BEGINS + 2 * (10 + 3 * concurrency), "it stops soon, twice"


@pytest.mark.parametrize("words", ["Content violates usage guidelines. Failed check: BIO", "Not this one."])
@pytest.mark.parametrize("cases", LENGTHS)
def test_one_flagged_prompt_in_twenty_stops_nothing_and_says_so(tmp_path: Path, words: str, cases: int) -> None:
    flagged = {f"c{n}" for n in range(5, cases, _FLAGGED)}

    def trouble(_call: int, case: int) -> JsonAnswer | None:
        return an_error(403, words) if f"c{case}" in flagged else None

    with a_run(tmp_path, trouble, cases, concurrency=8) as run:
        ended = run.call()
        found = run.completed()

        assert 3 == ended.code, ended.err
        assert flagged == {case for case, end in found.items() if end.final_verdict.value == "needs_review"}
        assert cases == len(found)
        assert f"blocked an answer, and a neutral vote stands in, in {pluralize(len(flagged), 'debate')}" in ended.err


def test_a_request_that_alone_is_refused_is_concluded_once_others_are_answered(tmp_path: Path) -> None:
    with a_run(tmp_path, lambda _, case: an_error(400, "No.") if case == 3 else None, 12, concurrency=1) as run:
        first, second = run.call(), run.call()

        assert (4, 3) == (first.code, second.code)
        assert 3 * 11 == sum(run.endpoint.answered.values())
        assert "HTTP 400: No." in first.err
