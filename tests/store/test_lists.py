"""The lists of debates and runs: projected from the log, always up to date, rebuildable."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict, replace
from itertools import pairwise, product
from typing import Any

import pytest
from sqlalchemy import create_engine
from sqlalchemy import event as sa_event
from sqlalchemy.dialects import sqlite

from jury_events import CallOutcome, NewEvent, Omission, Verdict, debate_id, parse_conditions
from jury_store import (
    DIALECTS,
    OLDEST,
    SORT_COLUMNS,
    Append,
    BadCursor,
    DebateFilter,
    DebateRow,
    EventStore,
    PageCursor,
    RunRow,
    SortOrder,
    Totals,
    open_store,
)
from jury_store.list_queries import debates_query
from support.debate_harness import a_panel
from support.debates import MODEL, DebateScript
from support.long_debate import LongDebate
from support.long_records import WINDOW
from support.run_lists import complete_list
from support.stored_debates import store_debate

pytestmark = pytest.mark.full_for("postgresql")


def _append(store: EventStore, script: DebateScript, *events: NewEvent) -> None:
    head = store.heads([script.stream]).get(script.stream)
    store.append([Append(script.stream, events, head.version if head else 0, 1)])


def test_an_opened_debate_is_listed_with_the_fields_of_its_opening(store: EventStore) -> None:
    script = DebateScript("d")
    opened = script.opened("the case", label=None)
    _append(store, script, opened)

    row = store.debate("d")

    assert row is not None
    assert (row.debate_id, row.run_id, row.case_id, row.status, row.method) == (
        "d",
        "run",
        "case-d",
        "waiting",
        "majority_vote",
    )
    assert (row.simulated, row.label, row.position, row.calls, row.cost) == (True, None, 1, 0, 0.0)
    assert row.case_part == script.pen.make("the case").digest
    assert (row.opened_at, row.updated_at, row.ended_at) == (opened.recorded_at, opened.recorded_at, None)


def test_a_debate_with_a_simulated_exchange_is_simulated(store: EventStore) -> None:
    script = DebateScript("d")
    _append(store, script, *script.begins("the case", simulated=False))
    before = store.debate("d")
    store.append([Append(script.calls, (script.exchange(),))])
    after = store.debate("d")

    assert before is not None
    assert after is not None
    assert (False, True) == (before.simulated, after.simulated)


STATUS: list[tuple[Callable[[DebateScript], tuple[NewEvent, ...]], str]] = [
    (lambda s: (s.checked(over=True),), "judging"),
    (lambda s: (s.checked(over=False),), "discussing"),
    (lambda s: (s.checked(over=False), s.round_started(1)), "discussing"),
    (lambda s: (s.checked(over=False), s.round_started(1), s.checked(1, over=True)), "judging"),
    (lambda s: (s.checked(over=False), s.round_started(1), s.checked(1, over=False)), "discussing"),
    (lambda s: (s.round_started(1), s.round_started(2), s.checked(2, over=False)), "discussing"),
    (lambda s: (s.checked(), s.judged()), "judging"),
    (lambda s: (s.checked(), s.judged(), s.completed()), "completed"),
    (lambda s: (s.failed(),), "failed"),
    (lambda s: (s.cancelled(),), "cancelled"),
]


def test_the_status_follows_the_events(store: EventStore) -> None:
    for number, (steps, _) in enumerate(STATUS):
        script = DebateScript(f"d{number}", seed=number)
        _append(store, script, *script.begins(), *steps(script))
    rows = store.debates()

    assert [status for _, status in STATUS] == [row.status for row in rows]
    assert all((row.ended_at is not None) == (row.status in {"completed", "failed", "cancelled"}) for row in rows)


def test_a_completed_debate_shows_its_result(store: EventStore) -> None:
    script = DebateScript("d")
    _append(store, script, *script.whole())

    row = store.debate("d")

    assert row is not None
    assert (row.final_verdict, row.final_score, row.total_rounds, row.end_reason) == ("safe_pass", 20, 0, "consensus")
    assert (row.decided_by, row.quorum_met, row.early_termination) == ("majority_vote", True, True)


def test_calls_tokens_and_cost_add_up(store: EventStore) -> None:
    script = DebateScript("d")
    _append(store, script, *script.begins(), script.resumed())
    store.append([Append(script.calls, (script.exchange(1), script.exchange(2)))])

    row = store.debate("d")

    assert row is not None
    assert (row.calls, row.input_tokens, row.output_tokens, row.cost, row.asked_again) == (2, 20, 6, 0.5, 2)


def test_a_run_counts_its_debates(store: EventStore) -> None:
    scripts = [DebateScript(name, seed=n) for n, name in enumerate("abcd")]
    a, b, c, d = scripts
    for script in scripts:
        _append(store, script, *script.begins())
    store.project()
    _append(store, a, *a.whole()[2:])
    _append(store, b, b.failed())
    _append(store, c, c.cancelled())
    alone = DebateScript("alone", run_id=None)
    _append(store, alone, *alone.begins())
    waits = DebateScript("waits", seed=9)
    _append(store, waits, waits.opened())

    runs = store.runs()

    last = max(row.updated_at for row in store.debates(run_id="run", waiting=None))
    first = min(row.opened_at for row in store.debates(run_id="run"))
    begun = min(row.begun_at or last for row in store.debates(run_id="run"))
    assert runs == [
        RunRow(
            run_id="run",
            position=1,
            debates=4,
            waiting=1,
            completed=1,
            failed=1,
            cancelled=1,
            safe_pass=1,
            needs_review=0,
            unsafe_fail=0,
            first_at=first,
            begun_at=begun,
            last_at=last,
        )
    ]
    assert [store.run("run"), None] == [*runs, store.run("none")]
    assert d.debate_id in {row.debate_id for row in store.debates(unfinished=True)}


def test_a_page_of_unfinished_debates_is_full_when_some_ended_after_the_checkpoint(store: EventStore) -> None:
    scripts = [DebateScript(f"d{n}", seed=n) for n in range(6)]
    for script in scripts:
        _append(store, script, *script.begins())
    store.project()
    for script in scripts[:2]:
        _append(store, script, script.cancelled())

    assert [row.debate_id for row in store.debates(unfinished=True, limit=3)] == ["d2", "d3", "d4"]


def test_the_cases_of_a_run_have_digest_and_salt(store: EventStore) -> None:
    one, two, gone = (DebateScript(name, seed=n) for n, name in enumerate(["one", "two", "gone"]))
    _append(store, one, *one.whole())
    _append(store, gone, *gone.begins("private"), gone.erased("private"))
    store.project()
    store.delete_parts("gone", [gone.pen.make("private").digest])
    _append(store, two, *two.begins())

    cases = store.cases_of(["two", "gone", "one", "nobody"])

    assert {name: (case.case_id, case.status) for name, case in cases.items()} == {
        "one": ("case-one", "completed"),
        "gone": ("case-gone", "evaluating"),
        "two": ("case-two", "evaluating"),
    }
    for script in (one, two):
        case = cases[script.debate_id]
        part = store.parts(script.debate_id)[case.case_part]
        assert (part.content, part.salt) == (b"the case", case.salt)
    assert cases["gone"].salt is None
    assert store.cases_of([]) == {}
    assert {name: store.debate(name).position for name in cases} == {name: one.position for name, one in cases.items()}


def test_what_a_run_asks_of_debates_that_are_over_looks_at_no_event(
    url: str, open_writer: Callable[[str], EventStore], statements: Callable[[EventStore], list[str]]
) -> None:
    """Also while another debate writes: its events after the checkpoint are not read for those that are asked for."""
    ended, writing = DebateScript("ended"), DebateScript("writing", seed=2)
    writer = open_writer(url)
    _append(writer, ended, *ended.whole())
    writer.project()
    _append(writer, writing, *writing.begins(), writing.evaluated())
    with closing(open_store(url, write=False)) as reader:
        recorded = statements(reader)

        assert ["ended"] == list(reader.ended_positions(["ended"]))
        assert not [one for one in recorded if "body" in one or "parts" in one]
        assert ["ended"] == list(reader.cases_of(["ended"]))
        assert not [one for one in recorded if "body" in one]
        assert "evaluating" == reader.cases_of(["writing"])["writing"].status
        assert [one for one in recorded if "body" in one], "the tail is folded for a debate that it changes"


def test_further_repeats_of_a_run_are_counted(store: EventStore) -> None:
    for n, (name, case) in enumerate(
        [("run~a", "a"), ("run~a~2", "a"), ("run~a~3", "a"), ("run~b~12", "b"), ("run~b~7", "other"), ("runs~a~3", "a")]
    ):
        script = DebateScript(name, run_id=name.partition("~")[0], seed=n)
        _append(store, script, *script.begins(case_id=case))
        if n % 2:
            store.project()
    odd = DebateScript(debate_id("run", "a case/7") + "~4", seed=9)
    _append(store, odd, *odd.begins(case_id="a case/7"))

    assert {1: 4, 2: 3, 3: 2, 4: 1, 12: 0} == {most: store.further_repeats("run", most) for most in (1, 2, 3, 4, 12)}


def test_the_runs_with_something_left_come_by_their_oldest_debate_that_is_not_over(store: EventStore) -> None:
    scripts = {name: DebateScript(f"{name}~a", run_id=name, seed=n) for n, name in enumerate("zdba")}
    for name, script in scripts.items():
        _append(
            store, script, *(script.whole() if name == "d" else (script.opened(),) if name == "b" else script.begins())
        )
        if name == "b":
            store.project()
    later = DebateScript("d~late", run_id="d", seed=9)
    _append(store, later, later.opened())
    alone = DebateScript("alone", run_id=None, seed=10)
    _append(store, alone, *alone.begins())
    half = store.runs_left()
    store.project()
    projected = store.runs_left()
    script = scripts["z"]
    _append(store, script, script.evaluated(), script.checked(), script.judged(), script.completed())
    ended = store.runs_left()
    store.project()

    assert ["z", "b", "a", "d"] == half == projected
    assert ["b", "a", "d"] == ended == store.runs_left()


def test_what_a_run_looks_for_before_it_goes_on_has_an_index(sqlite_url: str) -> None:
    """On SQLite, whose choice is by the indexes; PostgreSQL plans by statistics, which a small table does not have."""
    engine = create_engine(sqlite_url)
    with engine.connect() as connection:
        for wanted, index in (
            (DebateFilter("run", unfinished=True), "debates_run_unfinished"),
            (DebateFilter("run", imported=True), "debates_run_imported"),
            (DebateFilter("run", counted=False, waiting=None), "debates_run_aside"),
            (DebateFilter("run", status="unreadable"), "debates_run_unreadable"),
        ):
            query = debates_query(DIALECTS["sqlite"], wanted, OLDEST, limit=10, after=None)
            statement = query.compile(dialect=sqlite.dialect(), compile_kwargs={"literal_binds": True})
            plan = " ".join(str(row[-1]) for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}"))

            assert f"USING INDEX {index} " in plan
            assert "TEMP B-TREE" not in plan
    engine.dispose()


def test_a_list_is_read_in_one_snapshot(url: str, open_writer: Callable[[str], EventStore]) -> None:
    writer, script = open_writer(url), DebateScript("d")
    _append(writer, script, *script.begins())
    writer.project()
    writer.append([Append(script.calls, (script.exchange(),))])
    reader = open_store(url, write=False)
    asked: list[str] = []

    def carry_in_between(_c: object, _cursor: object, statement: str, *_: object) -> None:
        asked.append(statement)
        if "FROM projections" in statement:
            writer.project()

    sa_event.listen(reader._reader, "after_cursor_execute", carry_in_between)
    (row,) = reader.debates()
    reader.close()

    assert any("FROM projections" in statement for statement in asked)
    assert writer.project() == 0
    assert row.calls == 1


def test_a_writer_catches_up_before_it_lists(
    url: str, open_writer: Callable[[str], EventStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jury_store.sql_store.SqlEventStore._most_behind", 2)
    store, script = open_writer(url), DebateScript("d")
    _append(store, script, *script.whole())

    assert store.debates()[0].status == "completed"
    assert store.project() <= 2


OPENED_WITH: dict[str, dict[str, Any]] = {
    "plain": {"label": None},
    "tagged": {"tags": ("Refund", "card"), "cluster": "payments", "metadata": {"level": 3, "known": True}},
    "odd": {"tags": ("100%", "a_b", "back\\slash", "/"), "metadata": {"level": 3.0, "a.b": "x=y"}},
    "hostile": {"tags": ("'; DROP TABLE debates; --", '"'), "cluster": "%", "metadata": {"level": "3"}},
    "unicode": {"tags": ("判定", "Straße", "É"), "cluster": "クラスタ", "metadata": {"水準": "高い"}},
}

CHOSEN = [
    (("tags=card",), {"tagged"}),
    (("tags=Card",), set()),
    (("tags~REFUND",), {"tagged"}),
    (("tags!=card",), {"plain", "odd", "hostile", "unicode"}),
    (("tags!~a",), {"plain"}),
    (("tags~",), {"tagged", "odd", "hostile", "unicode"}),
    (("tags!~",), {"plain"}),
    (("tags~%",), {"odd"}),
    (("tags~_",), {"odd"}),
    (("tags!~_",), {"plain", "tagged", "hostile", "unicode"}),
    (("tags=back\\slash",), {"odd"}),
    (("tags~\\",), {"odd"}),
    (("tags~/",), {"odd"}),
    (("tags='; DROP TABLE debates; --",), {"hostile"}),
    (("tags~' OR '1'='1",), set()),
    (('tags="',), {"hostile"}),
    (("cluster=%",), {"hostile"}),
    (("cluster~%",), {"hostile"}),
    (("cluster!~",), {"plain", "odd"}),
    (("cluster=クラスタ",), {"unicode"}),
    (("tags~判",), {"unicode"}),
    (("tags~STRA",), {"unicode"}),
    (("tags~é",), set()),
    (("metadata.level=3",), {"tagged", "hostile"}),
    (("metadata.level=3.0",), {"odd"}),
    (("metadata.level~3",), {"tagged", "odd", "hostile"}),
    (("metadata.level!=3",), {"plain", "odd", "unicode"}),
    (("metadata.known=true",), {"tagged"}),
    (("metadata.a.b=x=y",), {"odd"}),
    (("metadata.水準~高",), {"unicode"}),
    (("metadata.%=3",), set()),
    (("label=safe_pass",), {"tagged", "odd", "hostile", "unicode"}),
    (("label!=safe_pass",), {"plain"}),
    (("label~SAFE",), {"tagged", "odd", "hostile", "unicode"}),
    (("label!~SAFE",), {"plain"}),
    (("case_id=case-odd",), {"odd"}),
    (("case_id!~case-",), set()),
    (("metadata.level=3", "cluster~pay"), {"tagged"}),
    (("tags~", "cluster~", "metadata.level!=3"), {"unicode"}),
]


def _varied(store: EventStore, *, project_after: int = 6) -> None:
    """Debates with different values of all that is chosen and sorted by, some of them not projected yet."""
    for n, (name, fields) in enumerate(OPENED_WITH.items()):
        script = DebateScript(name, run_id="fields", seed=n)
        _append(store, script, *script.begins(**fields))
    for n in range(12):
        name = f"{'dD'[n % 2]}{(n * 5) % 12:02}"
        script = DebateScript(name, run_id=["run-0", "run-1", None][n % 3], seed=n)
        label = [Verdict.SAFE_PASS, None, Verdict.UNSAFE_FAIL][n % 3]
        case_id = {4: "%_x", 5: "判定"}.get(n, f"case-{name}")
        opened = script.opened(label=label, cluster=["b", "B", None][n % 3], case_id=case_id, simulated=n != 8)
        ended = {1: script.unevaluated()[1:], 2: (script.failed(),), 4: (script.cancelled(),)}
        _append(store, script, opened, *ended.get(n, script.whole()[1:] if n % 2 else ()))
        calls = tuple(script.exchange(i, cost=None if n % 4 == 3 else 0.25) for i in range(1, n % 5 + 1))
        if calls and n != 8:
            store.append([Append(script.calls, calls)])
        if n == project_after:
            store.project()


FILTERS: list[tuple[dict[str, Any], Callable[[DebateRow], bool]]] = [
    ({}, lambda row: True),
    ({"waiting": None}, lambda row: True),
    ({"waiting": True, "run_id": "run-1"}, lambda row: row.run_id == "run-1"),
    ({"status": "waiting"}, lambda row: row.status == "waiting"),
    ({"run_id": "run-1"}, lambda row: row.run_id == "run-1"),
    ({"status": "failed"}, lambda row: row.status == "failed"),
    ({"status": "evaluating"}, lambda row: row.status == "evaluating"),
    ({"verdict": "safe_pass"}, lambda row: row.final_verdict == "safe_pass"),
    ({"verdict": "unsafe_fail"}, lambda row: False),
    ({"simulated": False}, lambda row: not row.simulated),
    ({"simulated": True}, lambda row: row.simulated),
    ({"search": "CASE-D"}, lambda row: "case-d" in row.case_id.lower()),
    ({"search": "d0"}, lambda row: "d0" in row.debate_id.lower()),
    ({"search": "%_"}, lambda row: row.case_id == "%_x"),
    ({"search": "判"}, lambda row: row.case_id == "判定"),
    ({"search": "\\"}, lambda row: False),
    ({"model": MODEL}, lambda row: True),
    ({"model": "simulated"}, lambda row: False),
    ({"quorum": True}, lambda row: row.quorum_met is True),
    ({"quorum": False}, lambda row: row.quorum_met is False),
    ({"min_cost": 0.0}, lambda row: row.cost is not None),
    ({"min_cost": 0.5}, lambda row: row.cost is not None and row.cost >= 0.5),
    ({"max_cost": 0.25}, lambda row: row.cost is not None and row.cost <= 0.25),
    ({"unfinished": True}, lambda row: row.ended_at is None),
    ({"partly_read": True}, lambda row: False),
    ({"split": True}, lambda row: row.agreement is not None and row.agreement < 1),
    ({"split": False}, lambda row: row.agreement == 1),
    ({"imported": False, "reviewed": False}, lambda row: True),
    ({"may_need_review": True}, lambda row: row.final_verdict == "needs_review"),
    (
        {"run_id": "run-1", "unfinished": True, "min_cost": 0.25, "search": "d"},
        lambda row: row.run_id == "run-1" and row.ended_at is None and (row.cost or 0.0) >= 0.25,
    ),
]
ORDERS = [SortOrder(by, descending) for by, descending in product(SORT_COLUMNS, (True, False))]
SIZES = (1, 4, 200)


def _is_the_model_of(
    store: EventStore, wanted: DebateFilter, order: SortOrder, size: int, rows: list[DebateRow]
) -> None:
    """A list of these rows, page by page: each once, in the order of the sort column and of the opening."""
    pages: list[DebateRow] = []
    place: PageCursor | None = None
    while found := store.list_debates(wanted, order, limit=size, after=place):
        assert len(found) <= size
        pages += found
        assert len(pages) <= len(rows), (wanted, order)
        place = order.decode_cursor(order.encode_cursor(order.cursor(asdict(found[-1]))))
    values = [getattr(row, order.column) for row in pages]
    known = [value for value in values if value is not None]

    assert {row.debate_id: row for row in rows} == {row.debate_id: row for row in pages}, (wanted, order)
    assert len(rows) == len(pages), (wanted, order)
    assert values == [*known, *[None] * (len(values) - len(known))], "without a value last, in both directions"
    keys = [value.encode() if isinstance(value, str) else value for value in known]
    assert keys == sorted(keys, reverse=order.descending), (wanted, order)
    for (one, value), (other, next_value) in pairwise(zip(pages, values, strict=True)):
        assert value != next_value or (one.position > other.position) == order.descending, (wanted, order)


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.long)])
def test_every_list_is_what_the_filter_and_the_order_say(store: EventStore, *, every: bool) -> None:
    """At any checkpoint, one of them between two events of a debate; the default tier takes each filter, each order and
    each size of a page, in turns.
    """
    _varied(store)
    turn = 0
    for advance in (lambda: None, lambda: store.project(limit=7), store.project, store.rebuild):
        advance()
        everything = store.debates(waiting=None)
        assert (17, 4) == (len(everything), sum(row.waiting for row in everything))
        for number, (fields, predicate) in enumerate(FILTERS):
            wanted, found = DebateFilter(**fields), [row for row in everything if predicate(row)]
            rows = [row for row in found if wanted.only_waiting in {None, row.waiting}]
            choices = product(ORDERS, SIZES) if every else [(ORDERS[turn % len(ORDERS)], SIZES[turn % 3])]
            for order, size in choices:
                _is_the_model_of(store, wanted, order, size, rows)
                turn += 1
            apart = found if wanted.status is None else rows
            assert _totals_of(rows, sum(row.waiting for row in apart)) == store.totals(wanted), fields
            assert number or rows == store.list_debates(wanted, OLDEST)
        for row in store.runs():
            totals = store.totals(DebateFilter(run_id=row.run_id))
            assert (totals.waiting, replace(totals, waiting=0)) == (row.waiting, store.totals_by_run()[row.run_id])
        assert [] == store.list_faults(store.histories([row.debate_id for row in everything]))


def _totals_of(rows: list[DebateRow], waiting: int) -> Totals:
    done = [row for row in rows if row.status == "completed"]
    scores = [row.final_score for row in done if row.final_score is not None]
    return Totals(
        debates=sum(not row.waiting for row in rows),
        waiting=waiting,
        completed=len(done),
        failed=sum(row.status == "failed" for row in rows),
        cancelled=sum(row.status == "cancelled" for row in rows),
        safe_pass=sum(row.final_verdict == "safe_pass" for row in rows),
        needs_review=sum(row.final_verdict == "needs_review" for row in rows),
        unsafe_fail=0,
        mean_score=sum(scores) / len(scores) if scores else None,
        calls=sum(row.calls for row in rows),
        input_tokens=sum(row.input_tokens for row in rows),
        output_tokens=sum(row.output_tokens for row in rows),
        cached_input_tokens=0,
        cache_write_tokens=0,
        cost=sum(row.cost or 0.0 for row in rows),
        unknown_cost=sum(row.cost is None for row in rows),
        opened=len(rows),
        unfinished=sum(not row.has_ended and not row.waiting for row in rows),
        without_evaluation=len(done) - len(scores),
    )


def test_debates_are_selected_by_conditions_on_their_cases(store: EventStore) -> None:
    """Not projected, in part, whole and made anew; with other filters too."""
    _varied(store, project_after=99)
    for advance in (lambda: None, lambda: store.project(limit=3), store.project, store.rebuild):
        advance()
        for texts, expected in CHOSEN:
            where = parse_conditions(texts)
            newest = store.list_debates(DebateFilter(run_id="fields", where=where))
            as_opened = store.debates(run_id="fields", unfinished=True, where=where)

            assert expected == {row.debate_id for row in newest}, texts
            assert as_opened == newest[::-1], texts


@pytest.mark.parametrize("projected", [True, False])
def test_a_listed_debate_has_the_fields_of_its_case(store: EventStore, projected: bool) -> None:
    script = DebateScript("d")
    metadata = {"level": 3, "share": 0.5, "whole": 3.0, "known": True, "said": '"3" — 三'}
    omissions = (Omission(what="audio/wav", count=1), Omission(what="image/png", count=2, size=98_304))
    fields: dict[str, Any] = {
        "tags": ("b", "a", "b"),
        "cluster": "c",
        "metadata": metadata,
        "agent_cost": 0.25,
        "omissions": omissions,
    }
    _append(store, script, *script.begins(**fields))
    if projected:
        store.project()

    row = store.debate("d")

    assert row is not None
    assert (("b", "a", "b"), "c", 0.25, 3) == (row.tags, row.cluster, row.agent_cost, row.not_shown)
    assert metadata == row.metadata
    assert [type(value) for value in metadata.values()] == [type(row.metadata[name]) for name in metadata]


def test_a_run_knows_how_many_cases_it_has_as_its_stream_said_last(store: EventStore) -> None:
    script = DebateScript("d")
    _append(store, script, *script.begins())
    said = [store.runs()[0].total]
    for number, cases in enumerate((12, 123, 5), start=1):
        complete_list(store, "run", cases, number)
        said.append(store.run("run").total)
        store.project()
    store.rebuild()

    assert [None, 12, 123, 5] == said
    assert (5, 5) == (store.runs()[0].cases, store.runs()[0].total)
    assert [] == store.list_faults()


def test_a_run_has_no_fewer_cases_than_debates(store: EventStore) -> None:
    for n in range(3):
        script = DebateScript(f"d{n}", seed=n)
        _append(store, script, *script.begins())
    complete_list(store, "run", 2)

    assert 3 == store.runs()[0].total


NO_CURSORS = [
    ("opened", ""), ("opened", "x"), ("opened", "1:2"), ("opened", "9" * 16), ("opened", "²"), ("score", "1"),
    ("score", '1:"a"'), ("score", "1:[]"), ("score", "1:true"), ("score", "1:1e999"), ("score", "1:" + "[" * 9999),
    ("case", "1:3"), ("case", '1:"\\u0000"'), ("case", '1:"\\ud800"'), ("quorum", "1:1"), ("score", "1:NaN"),
]  # fmt: skip


def test_a_malformed_cursor_is_refused() -> None:
    for by, text in NO_CURSORS:
        with pytest.raises(BadCursor):
            pytest.fail(f"{by}, {text}: {SortOrder(by).decode_cursor(text)}")


def test_debates_are_selected_by_parts_that_a_seat_did_not_read(store: EventStore) -> None:
    seats = [{"model": "simulated/m1", "juror_id": one, "window": WINDOW} for one in ("j1", "j2")]
    for failing in ((), ("j1",), ("j1", "j2")):
        debate = LongDebate(
            a_panel(seats=seats, preset="independent"),
            lambda step, call, _p, lost=failing: (
                CallOutcome.BLOCKED if call.window == "2" and step.juror_id in lost else None
            ),
        )
        debate.run()
        store_debate(store, debate, f"r1~{len(failing)}")

    def found(**wanted: Any) -> dict[str, Any]:
        return {row.debate_id: row.partly_read for row in store.list_debates(DebateFilter(**wanted))}

    lost = {"r1~1": {"j1": ("2",)}, "r1~2": {"j1": ("2",), "j2": ("2",)}}
    assert {"r1~0": None, **lost} == found()
    assert lost == found(partly_read=True)
    assert {"r1~0": None} == found(partly_read=False)
    store.project()
    assert {"r1~0": None, **lost} == found()
