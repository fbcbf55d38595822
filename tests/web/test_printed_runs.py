"""Lists, runs, statistics and comparisons as a reader finds them: stores of debates, and what stands there."""

import os
import socket
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from typing import Any

from jsonschema import Draft202012Validator
from starlette.applications import Starlette
from starlette.testclient import TestClient

from jury_actors import ModelLoad, RuntimeLoad, SeatLoad
from jury_events import (
    CallOutcome,
    ConsensusStatus,
    DebateCompleted,
    JudgmentRendered,
    Omission,
    ReasoningShown,
    Usage,
    Verdict,
)
from jury_judge import LiveRun, LiveRuns, OpenWave, Service
from jury_store import EventStore, MemoryEventStore, open_store
from jury_web import create_app, page_routes
from support.debate_builder import DebateBuilder
from support.debate_harness import SEATS, DebateHarness, Says, a_case, a_panel, by_round
from support.evidence_lists import SAID, a_debate, store_quoting_debates
from support.live_figures import a_run, executed, figures
from support.located_debates import a_located_case, a_located_debate
from support.pages import Page, Site, stored
from support.partly_read_debates import a_partly_read_debate
from support.printed_page import printed_page, printed_pages
from support.quoting_debates import EXACT, a_quoting_debate, quoting
from support.refusals import RefusalTables
from support.run_lists import complete_list
from support.scaled_debates import (
    a_moved_answer,
    a_right_answer,
    a_scaled_debate,
    an_answer_without_facts,
    mixed_levels,
)
from support.scales import LEVELS
from support.stored_debates import store_debate

from .conftest import BASE, GATE

SAFE, REVIEW, FAIL = Verdict.SAFE_PASS, Verdict.NEEDS_REVIEW, Verdict.UNSAFE_FAIL

Rows = dict[str, tuple[EventStore, str, str]]


def debate(
    name: str, *, run: str = "run-1", case: str | None = None, whole: bool = True, **opened: Any
) -> DebateBuilder:
    made = DebateBuilder().phase_1()
    if whole:
        made.round_1().judged()
    return made.opened_as(**{"debate_id": f"{run}~{name}", "run_id": run, "case_id": case or name} | opened)


def judged_by(made: DebateBuilder, *positions: Verdict) -> DebateBuilder:
    """With votes for these verdicts; None abstains."""
    rendered = made.events[-2]
    assert isinstance(rendered, JudgmentRendered)
    votes = [
        vote.changed(position=position, score=50.0, confidence=0.5, kind="own", round=1)
        for vote, position in zip(rendered.judgment.votes, positions, strict=True)
    ]
    made.events[-2] = rendered.changed(judgment=rendered.judgment.changed(votes=tuple(votes)))
    return made


def test_the_list_of_debates(printed: RefusalTables) -> None:
    other = debate("one", run="run-2", whole=False, roles={"juror-gpt": "Clerk"})
    plain = stored(debate("one"), debate("two", case="返金"), debate("three", whole=False), other)
    lost = (Omission(what="image/png", count=2, size=96_000), Omission(what="audio/wav", count=1))
    known = stored(
        debate("one", tags=("refund", "a&b"), cluster="支払い", metadata={"level": 3}),
        debate("two", tags=("refund",), metadata={"level": 10}, omissions=lost),
        debate("three", whole=False, tags=("other",), metadata={"level": 3}, label=None),
    )
    abstaining = debate("one")
    rendered = abstaining.events[-2]
    assert isinstance(rendered, JudgmentRendered)
    one, second, third = rendered.judgment.votes
    absent = third.changed(kind="abstained", position=None, score=None, confidence=None, round=None, stale=False)
    votes = (one, absent.changed(juror_id=second.juror_id), absent)
    abstaining.events[-2] = rendered.changed(judgment=rendered.judgment.changed(votes=votes))
    rows: Rows = {
        "newest first": (plain, "/", ".list; main > p"),
        "in Japanese": (plain, "/?lang=ja", ".list; form.filters label"),
        "checked": (plain, "/?check=1", "td .integrity; [data-then]"),
        "an abstention is no agreement": (stored(abstaining), "/", ".agree"),
        "one vote agrees with no other": (stored(abstaining), "/?split=no", ".list; main > p"),
        "a search": (plain, "/?search=OVERLOOKED+code", ".list"),
        "sorted, with chosen columns": (
            *(plain, "/?sort=score&order=asc&columns=score&columns=models&verdict=unsafe_fail", ".list"),
        ),
        "conditions": (known, "/?where=tags~REF&where=metadata.level=3", "[name=where]; #check; header a; .list thead"),
        "tags and clusters": (known, "/?where=tags=a%26b", ".known a"),
        "totals": (plain, "/?run=run-1&totals=1", ".totals"),
        "beyond the last": (plain, "/?after=1", "main > .absent"),
        "an empty store": (stored(), "/", "main > .absent"),
        "runs of an empty store": (stored(), "/runs", "main > .absent"),
        "runs": (plain, "/runs", ".list"),
        "what jurors were not shown": (known, "/debates/run-1~two", ".omissions; .facts"),
        "what jurors were not shown, in Japanese": (known, "/debates/run-1~two?lang=ja", ".omissions"),
        "nothing left out": (known, "/debates/run-1~one", ".omissions"),
        "quotations": (quoted(), "/", ".list"),
    }
    printed.compare("lists", printed_pages(rows))


def quoted() -> MemoryEventStore:
    store = stored(debate("d", run="none"))
    store_quoting_debates(store)
    return store


def with_caches(model: str) -> DebateBuilder:
    """One call at half of what it lists: 10,000 tokens, of which 8,000 were read from a cache."""
    usage = Usage(input_tokens=10_000, output_tokens=100, cached_input_tokens=8000)
    return debate("one").called(model, CallOutcome.ANSWERED, usage, 0.0033)


def test_a_run(printed: RefusalTables) -> None:
    grouped = stored(
        debate("one", metadata={"level": 3}, cluster="c"),
        debate("two", metadata={"level": 10}),
        debate("three", whole=False, metadata={"level": 3}, label=None),
    )
    complete_list(grouped, "run-1", 123)
    full = debate("one")
    completed = full.events[-1]
    assert isinstance(completed, DebateCompleted)
    full.events[-1] = completed.changed(final_score=100)
    labels = stored(
        *(debate(f"c{number}", run="a", label=(SAFE, FAIL, None)[number % 3], simulated=False) for number in range(5))
    )
    split = stored(
        *(
            judged_by(debate(name, run="a", simulated=False), *votes)
            for name, votes in (
                ("alike", (SAFE, SAFE, SAFE)),
                ("near", (SAFE, REVIEW, SAFE)),
                ("opposed", (SAFE, FAIL, SAFE)),
                ("scattered", (SAFE, FAIL, REVIEW)),
            )
        )
    )
    open_run = stored(debate("c1", run="a", label=SAFE), debate("c2", run="a", label=SAFE, whole=False))
    repeats, judge = MemoryEventStore(), MemoryEventStore()
    for debate_id in ("c", "c~2"):
        store_debate(repeats, a_debate(*SAID["agreeing"]), debate_id, case_id="c")
    store_debate(repeats, a_debate(*(quoting(EXACT),) * 3), "b")
    final = {"method": "final_judge", "judge": {"model": "simulated/judge"}}
    store_debate(judge, a_debate(*SAID["agreeing"], quoting(EXACT), final=final), "d")
    quotations, differences = "section[aria-labelledby=h-quoted]", "[data-region=disagreements]"
    rows: Rows = {
        "of three cases": (grouped, "/runs/run-1", ""),
        "of three cases, in Japanese": (grouped, "/runs/run-1?lang=ja", ""),
        "by a field": (grouped, "/runs/run-1?group_by=metadata.level", ".groups"),
        "a full score": (stored(full), "/runs/run-1", "[aria-labelledby=h-scores] tr:last-child"),
        "caches": (stored(with_caches("openai/gpt-6-sol")), "/runs/run-1", "section[aria-labelledby=h-cost]"),
        "caches, in Japanese": (
            stored(with_caches("openai/gpt-6-sol")),
            "/runs/run-1?lang=ja",
            "section[aria-labelledby=h-cost]",
        ),
        "caches of an unknown price": (
            stored(with_caches("own/model")),
            "/runs/run-1",
            "section[aria-labelledby=h-cost]",
        ),
        "against labels": (labels, "/runs/a", f"section[aria-labelledby=h-accuracy]; {differences}"),
        "split votes": (split, "/runs/a", "section[aria-labelledby=h-split]"),
        "no labels": (
            stored(debate("c", run="a", label=None)),
            "/runs/a",
            f"section[aria-labelledby=h-accuracy]; {differences}",
        ),
        "labels of a run that is not over": (
            open_run,
            "/runs/a",
            f"section[aria-labelledby=h-accuracy]; {differences}",
        ),
        "quotations": (quoted(), "/runs/r1", quotations),
        "quotations, in Japanese": (quoted(), "/runs/r1?lang=ja", quotations),
        "no quotations asked for": (quoted(), "/runs/none", quotations),
        "quotations of repeats": (repeats, "/runs/r1", quotations),
        "quotations of a final judge": (judge, "/runs/r1", quotations),
    }
    printed.compare("runs", printed_pages(rows))


LOAD = RuntimeLoad(
    2,
    (
        SeatLoad("gpt", 3, 1, (ModelLoad("google/m", 1, 0), ModelLoad("openai/m", 2, 1))),
        SeatLoad("claude", 0, 0, None),
        SeatLoad(None, 0, 0, ()),
    ),
    5,
)
WAVE = OpenWave(wave=2, batches=2, calls={"waiting": 500, "running": 12}, since="2026-11-25T22:00:00.000000Z", most=1.5)


class _Kept(LiveRuns):
    """Figures that were read before."""

    def __init__(self, store: EventStore, live: LiveRun) -> None:
        super().__init__(store, None)
        self._live = live

    def read(self, run_id: str) -> LiveRun:
        assert run_id == self._live.row.run_id
        return self._live


def test_a_run_that_is_executed(sqlite_url: str, printed: RefusalTables) -> None:
    found = {}
    with closing(open_store(sqlite_url, write=True)) as store:
        a_run(store)
        for name, load in (("here", LOAD), ("on another machine", None)):
            with executed(sqlite_url, load):
                live = replace(figures(store, 20, sqlite_url), batches=WAVE if load else None)
            service = Service(store)
            service.live_runs = _Kept(store, live)
            client = TestClient(Starlette(routes=page_routes(service)))
            for language in ("en", "ja"):
                page = Page(client.get("/runs/r", headers={"accept-language": language}))
                said = printed_page(page, "[data-region=live]")
                found[f"{name}, {language}"] = said.replace(f"{os.getpid()} on {socket.gethostname()}", "1 on HOST")
    over = stored(debate("one", run="r"))
    for language in ("en", "ja"):
        found[f"nowhere, {language}"] = printed_page(
            Site(stored(DebateBuilder())).get("/runs/run-1", accept_language=language), "[data-region=live]"
        )
    found["over"] = printed_page(Site(over).get("/runs/r"), "[data-region=live]")
    printed.compare("live", found)


def of_harness(run: str, cases: int, make: Callable[[int], DebateHarness]) -> MemoryEventStore:
    store = MemoryEventStore()
    for number in range(cases):
        store_debate(store, make(number), f"{run}~c{number}", run_id=run, case_id=f"c{number}")
    return store


def test_statistics(printed: RefusalTables) -> None:
    def located(number: int) -> DebateHarness:
        return a_located_debate(a_located_case(decisive_message=1, outcome_correct=number < 3), (2, 3, None))

    runs = stored(
        *(
            debate(f"c{number:02}", run="a", label=FAIL if number % 2 else SAFE, simulated=False)
            for number in range(12)
        ),
        *(debate(f"c{number:02}", run="sim") for number in range(2)),
        debate("c00", run="open", whole=False),
    )
    levels = "section[aria-labelledby^=h-levels]; .head .sub"
    rows: Rows = {
        "beside labels": (runs, "/runs/a/stats", ""),
        "beside labels, in Japanese": (runs, "/runs/a/stats?lang=ja", "h1; h2; .notice"),
        "simulated": (runs, "/runs/sim/stats", ""),
        "simulated, as asked for": (runs, "/runs/sim/stats?include_simulated=true", ".notice; .head"),
        "without votes": (runs, "/runs/open/stats", ""),
        "quotations": (
            *(
                of_harness("r", 6, lambda _: a_quoting_debate()),
                "/runs/r/stats",
                "section[aria-labelledby^=h-quotations]",
            ),
        ),
        "shares read": (
            *(
                of_harness("r", 6, lambda _: a_partly_read_debate(FAIL)),
                "/runs/r/stats",
                "section[aria-labelledby^=h-reading]",
            ),
        ),
        "shares read, without labels": (
            *(
                of_harness("r", 6, lambda _: a_partly_read_debate()),
                "/runs/r/stats",
                "section[aria-labelledby^=h-reading]",
            ),
        ),
        "where it went wrong": (
            *(
                of_harness("r", 12, located),
                "/runs/r/stats",
                "section[aria-labelledby^=h-faults]; section[aria-labelledby^=h-where]",
            ),
        ),
        "levels": (of_harness("r", 4, lambda _: mixed_levels()), "/runs/r/stats", levels),
        "levels, in Japanese": (of_harness("r", 4, lambda _: mixed_levels()), "/runs/r/stats?lang=ja", levels),
        "labels without levels": (
            *(of_harness("r", 1, lambda _: a_right_answer()), "/runs/r/stats", "section[aria-labelledby^=h-levels]"),
        ),
    }
    printed.compare("statistics", printed_pages(rows))


def test_comparisons(printed: RefusalTables) -> None:
    spent = debate("one", run="spent").called(
        "x", CallOutcome.ANSWERED, Usage(input_tokens=120, output_tokens=30), None
    )
    other = debate("one", run="run-2", whole=False, roles={"juror-gpt": "Clerk"})
    reasoned = DebateBuilder().opened_as(debate_id="run-3~one", run_id="run-3", case_id="one")
    for verdict, reasoning in ((SAFE, False), (FAIL, True)):
        reasoned._evaluated("juror-gpt", reasoned.evaluation(verdict, (1.0, 1.0, 1.0, 1.0), "r"))
        reasoned.events[-1] = reasoned.events[-1].changed(reasoning=True) if reasoning else reasoned.events[-1]
        reasoned.events += [] if reasoning else [ReasoningShown()]
    reasoned._checked(0, ConsensusStatus.SPLIT, 1, None, reached=False)
    plain = stored(debate("one"), debate("two", case="返金"), debate("three", whole=False), other, spent, reasoned)
    gated = stored(
        *(
            judged_as(debate(f"c{number}", run=run), SAFE if run == "worse" and number < 15 else FAIL)
            for run in ("base", "worse")
            for number in range(40)
        ),
        *(debate(f"c{number}", run="few") for number in range(2)),
        debate("elsewhere", run="other"),
    )
    scales = MemoryEventStore()
    for run, made in (
        *(("a", a_scaled_debate((Says("5"),) * 3, **LEVELS)), ("b", a_scaled_debate((Says("4"),) * 3, **LEVELS))),
        *(("right", a_right_answer()), ("without", an_answer_without_facts())),
    ):
        store_debate(scales, made, f"{run}~c1", run_id=run, case_id="c1")
    rows: Rows = {
        "two debates": (plain, "/compare?a=run-1~one&b=run-2~one", ""),
        "two debates of other cases, in Japanese": (plain, "/compare?a=run-1~one&b=run-1~two&lang=ja", ""),
        "judged again with the reasoning": (plain, "/compare?a=run-1~one&b=run-3~one", "#h-compared ~ .wide"),
        "two runs": (
            plain,
            "/compare?a=run-1&b=run-2",
            "section[aria-labelledby=h-result]; section[aria-labelledby=h-flipped]; [id^=h-only] + p",
        ),
        "tokens that differ": (plain, "/compare?a=run-1&b=spent", "section[aria-labelledby=h-result]"),
        "nothing is named": (plain, "/compare?a=run-1", ""),
        "a run and a debate": (plain, "/compare?a=run-1&b=run-1~one", ".notice"),
        "a worse run": (gated, "/compare?a=base&b=worse", "section[aria-labelledby=h-paired]"),
        "few cases, in Japanese": (gated, "/compare?a=base&b=few&lang=ja", "section[aria-labelledby=h-paired]"),
        "no case in common": (gated, "/compare?a=base&b=other", "section[aria-labelledby=h-paired]; #h-gate"),
        "runs of one scale": (scales, "/compare?a=a&b=b", ""),
        "runs of one scale, in Japanese": (scales, "/compare?a=a&b=b&lang=ja", "#h-result ~ p"),
        "outcomes of runs of one scale": (scales, "/compare?a=a&b=b&count=outcomes", "#h-result ~ p; .filters"),
        "runs of two scales": (scales, "/compare?a=a&b=right", "#h-result ~ *; #h-ends ~ .wide"),
        "debates of one scale": (scales, "/compare?a=right~c1&b=without~c1", "#h-result ~ .wide; #h-compared ~ .wide"),
    }
    printed.compare("comparisons", printed_pages(rows))
    client = TestClient(create_app(Service(gated), GATE), base_url=BASE)
    worse, apart = (client.get(f"/api/compare?a=base&b={run}").json() for run in ("worse", "other"))
    found = worse["gate"]
    Draft202012Validator(client.get("/schemas/gate.json").json()).validate(found)
    assert ("fail", "false_pass", 0.375) == (found["decision"], found["metric"], found["harm"]["value"])
    assert found["change"] == worse["paired"]["against_labels"]["false_passes"]["change"]
    assert (None, None) == (apart["gate"], apart["paired"])


def judged_as(made: DebateBuilder, verdict: Verdict) -> DebateBuilder:
    completed = made.events[-1]
    assert isinstance(completed, DebateCompleted)
    made.events[-1] = completed.changed(final_verdict=verdict)
    return made


def test_scales_of_the_panels_own(printed: RefusalTables) -> None:
    store = MemoryEventStore()
    panel = a_panel(*SEATS, preset="independent", **LEVELS)
    fours = by_round({seat: [Says("4")] for seat in SEATS})
    for name, made in {
        "right": a_right_answer(),
        "right-again": a_right_answer(),
        "without-facts": an_answer_without_facts(),
        "moved": a_moved_answer(),
        "levels": mixed_levels(),
    }.items():
        store_debate(store, made, name)
    for name, made in {
        "fives": a_scaled_debate((Says("5"),) * 3, **LEVELS),
        "split": a_scaled_debate((Says("5"), Says("4"), Says("4")), **LEVELS),
        "grouped": DebateHarness(panel, fours, case=a_case(cluster="refunds")).run(),
    }.items():
        store_debate(store, made, name, run_id="levels")
    places = ".head; .matrix; [data-region=judgment]; #scale; .evaluations"
    three = stored(debate("one"))
    rows: Rows = {
        "two of three say right": (store, "/debates/right", places),
        "two of three say right, in Japanese": (store, "/debates/right?lang=ja", places),
        "a critical criterion": (store, "/debates/without-facts", ".shortfall; #scale dd; .subscores li"),
        "a critical criterion, in Japanese": (store, "/debates/without-facts?lang=ja", ".shortfall"),
        "levels": (store, "/debates/levels", places),
        "a seat that moves": (store, "/debates/moved", ".matrix; .changes-since p"),
        "the three verdicts": (three, "/debates/run-1~one", "#scale; .head .verdict"),
        "a run": (store, "/runs/r1", "#h-verdicts ~ .wide"),
        "a run, in Japanese": (store, "/runs/r1?lang=ja", "#h-verdicts ~ .wide"),
        "debates of a label": (store, "/?run=r1&where=final_label%3Dright&totals=1", ".list td:nth-child(2); .totals"),
        "a run of levels": (store, "/runs/levels", ".mean-level; #h-split ~ .entries"),
        "a run of levels by cluster": (store, "/runs/levels?group_by=cluster", ".groups"),
    }
    printed.compare("scales", printed_pages(rows))
