"""The live figures of a run, worked out by hand, and what there is where a figure cannot be had."""

from collections.abc import Callable
from contextlib import closing
from types import SimpleNamespace

import pytest
from starlette.testclient import TestClient

from jury_actors.load import ModelLoad, RuntimeLoad, SeatLoad
from jury_cli.views.live_run import live_lines
from jury_events.errors import DebateNotFound
from jury_judge.running.live_run import NOT_HERE, NOT_RUNNING, LiveRunReader, live_object
from jury_judge.running.live_runs import FRESH, LiveRuns
from jury_judge.running.recent_calls import ProviderCalls
from jury_judge.serving.service import Service
from jury_store.debate_rows import DebateFilter, Totals
from jury_store.memory import MemoryEventStore
from jury_store.opening import open_store
from jury_web.app import AccessPolicy, create_app
from support.debate_builder import DebateBuilder
from support.live_figures import SECOND, a_run, executed, figures
from support.pages import START, keep


@pytest.fixture
def store() -> MemoryEventStore:
    store = MemoryEventStore()
    a_run(store)
    return store


def test_debates_are_counted_by_phase_and_end(store: MemoryEventStore) -> None:
    live = figures(store, 20)

    assert {"evaluating": 1, "discussing": 1, "judging": 0, "unreadable": 0} == live.phases
    assert (4, 3, 1, 1) == (live.row.cases, live.row.debates, live.row.ended, live.not_begun)
    assert 1 == live.row.completed == live.row.safe_pass + live.row.needs_review + live.row.unsafe_fail
    assert (3, 30, 3) == (live.totals.calls, live.totals.input_tokens, live.totals.output_tokens)
    assert (0.0, 1) == (live.totals.cost, live.totals.unknown_cost)


def test_the_last_minute_has_rates_retries_abstentions_and_the_slowest_provider(store: MemoryEventStore) -> None:
    recent = figures(store, 20).recent

    assert (20.0, 1, 3, 2, 2) == (
        recent.seconds,
        recent.debates_ended,
        recent.calls,
        recent.retries,
        recent.abstentions,
    )
    assert (0.75, 1) == (recent.cost, recent.unknown_cost)
    assert (
        ProviderCalls(provider="google", calls=1, failed=0, mean_latency=2.0, longest_latency=2.0),
        ProviderCalls(provider="openai", calls=2, failed=1, mean_latency=1.5005, longest_latency=3.0),
    ) == recent.providers
    assert "google" == recent.slowest_provider
    assert (1 / 20, 3 / 20) == (recent.debates_per_second, recent.calls_per_second)


def test_what_is_older_than_a_minute_does_not_count_any_more(store: MemoryEventStore) -> None:
    """The calls were recorded at 0 s, the debate ended at 10 s."""
    after_calls, after_all = figures(store, 62).recent, figures(store, 600).recent

    assert (60.0, 0, 1) == (after_calls.seconds, after_calls.calls, after_calls.debates_ended)
    assert (0, 0, None, 0.0) == (after_all.calls, after_all.debates_ended, after_all.slowest_provider, after_all.cost)


def test_a_reader_that_looks_again_takes_only_what_is_new(store: MemoryEventStore) -> None:
    seconds = 20.0
    reader = LiveRunReader(store, None, "r", clock=lambda: START + int(seconds * SECOND))
    first = reader.read()
    late = DebateBuilder().phase_1().round_1().judged().opened_as(debate_id="r~four", run_id="r", case_id="four")
    keep(store, late)
    second = reader.read()

    assert (1, 2) == (first.recent.debates_ended, second.recent.debates_ended)
    assert 3 == first.recent.calls == second.recent.calls
    assert second.recent == figures(store, seconds).recent


def test_a_run_that_nobody_executes_has_no_time_left_and_says_why(store: MemoryEventStore) -> None:
    live = figures(store, 20)

    assert ("incomplete", None, NOT_RUNNING) == (live.state, live.eta_seconds, live.eta_reason)
    assert (None, NOT_RUNNING) == (live.process, live.process_reason)


def test_a_run_of_unknown_size_whose_debates_are_over_is_not_called_complete() -> None:
    store = MemoryEventStore()
    keep(store, DebateBuilder().phase_1().round_1().judged().opened_as(debate_id="r~one", run_id="r", case_id="one"))

    assert ("unknown", None) == (figures(store, 20).state, figures(store, 20).not_begun)
    store.store_run_size("r", 1)
    assert "complete" == figures(store, 20).state


def test_the_figures_of_the_process_that_executes_the_run_are_read_from_its_file(sqlite_url: str) -> None:
    seats = (
        SeatLoad("gpt", 3, 1, (ModelLoad("openai/gpt-5", 1, 1), ModelLoad("openai/gpt-4", 1, 0))),
        SeatLoad(None, 0, 0, None),
    )
    with closing(open_store(sqlite_url, write=True)) as store:
        a_run(store)
        with executed(sqlite_url, RuntimeLoad(2, seats, 5)):
            live = figures(store, 20, sqlite_url)
        after = figures(store, 20, sqlite_url)

    assert live.process is not None
    assert ("running", 2, 1, 2, 5) == (
        live.state,
        live.process.calling,
        live.process.waiting,
        live.process.debates,
        live.process.appends,
    )
    assert (3 / (1 / 20), None) == (live.eta_seconds, live.eta_reason)
    assert live.process.seats[1].calling is None
    assert "  gpt  3 steps asked, 1 queued: 2 at openai, 1 waiting for a permit" in list(live_lines(live))
    assert "  final judge  0 steps asked, 0 queued: does not answer now" in list(live_lines(live))
    assert "incomplete" == after.state


def test_where_the_process_wrote_nothing_down_yet_the_reason_is_given(sqlite_url: str) -> None:
    with closing(open_store(sqlite_url, write=True)) as store:
        a_run(store)
        with executed(sqlite_url, None):
            live = figures(store, 20, sqlite_url)

    assert ("running", None, NOT_HERE) == (live.state, live.process, live.process_reason)


def test_a_run_without_a_debate_is_known_by_its_process_alone(sqlite_url: str) -> None:
    with closing(open_store(sqlite_url, write=True)) as store:
        with executed(sqlite_url, None):
            live = figures(store, 20, sqlite_url)
        with pytest.raises(DebateNotFound, match="there is no run 'r' in this store"):
            figures(store, 20, sqlite_url)

    assert ("running", 0, None, "the cases are still being counted") == (
        live.state,
        live.row.debates,
        live.row.cases,
        live.eta_reason,
    )


def test_the_totals_of_a_large_run_are_not_read_at_every_look(
    store: MemoryEventStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[DebateFilter] = []
    clock = iter([0.0, 2.0, 10.0, 23.0, 23.0, 25.0])
    read: Callable[[DebateFilter], Totals] = store.totals
    monkeypatch.setattr(store, "totals", lambda wanted: (reads.append(wanted), read(wanted))[1])
    monkeypatch.setattr("jury_judge.stores.paced_totals.time", SimpleNamespace(monotonic=lambda: next(clock)))
    reader = LiveRunReader(store, None, "r", clock=lambda: START)
    counts = []
    for _ in range(3):
        reader.read()
        counts.append(len(reads))

    assert [1, 1, 2] == counts  # it took 2 s at 0 s: not again at 10 s, but at 23 s


def test_the_http_interface_has_the_same_figures(store: MemoryEventStore) -> None:
    policy = AccessPolicy(frozenset({"jury.test"}))
    with TestClient(create_app(Service(store), policy), base_url="http://jury.test") as client:
        found = client.get("/api/runs/r/live").json()
        missing = client.get("/api/runs/none/live")

    assert ("r", "incomplete", 3, 1, 4) == tuple(
        found[name] for name in ("runId", "state", "debates", "ended", "cases")
    )
    assert {"evaluating": 1, "discussing": 1, "judging": 0, "unreadable": 0} == found["phases"]
    assert found.keys() == {_camel(name) for name in live_object(figures(store, 0))}
    assert 404 == missing.status_code
    assert "there is no run 'none' in this store" in missing.json()["error"]


def test_readers_of_a_server_share_one_reading_a_second(store: MemoryEventStore) -> None:
    seconds = 0.0
    runs = LiveRuns(store, None, clock=lambda: seconds)
    first, same = runs.read("r"), runs.read("r")
    seconds = FRESH
    later = runs.read("r")
    for number in range(30):
        keep(store, DebateBuilder().opened_as(debate_id=f"r{number}~one", run_id=f"r{number}", case_id="one"))
        runs.read(f"r{number}")
    runs.close()

    assert first is same
    assert later is not first


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(one.capitalize() for one in rest)
