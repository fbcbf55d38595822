"""The ballots of debates: folded from both streams, stored when a debate ends, the same however they came about."""

import json
from collections.abc import Callable, Sequence
from itertools import permutations
from typing import Any

import pytest

from jury_events import (
    STANDARD_RUBRIC,
    Bands,
    CallOutcome,
    CallSettings,
    DebateEvent,
    DebateQuarantined,
    Decider,
    DimensionScore,
    Evaluation,
    Evidence,
    EvidenceResult,
    EvidenceSpan,
    ExchangeRecorded,
    FailureReason,
    FinalJudge,
    FinalRules,
    Judgment,
    JudgmentRendered,
    JurorAbstained,
    JurorEvaluated,
    NewEvent,
    ReasoningShown,
    RecordRead,
    RequestMessage,
    Scores,
    Seat,
    SpeakerOrder,
    Statement,
    StatementMade,
    Step,
    Usage,
    Verdict,
    canonical_json,
    encode,
    quotes_part,
)
from jury_replay import verify
from jury_store import (
    BEFORE_REASONING,
    FURTHER_COLUMNS,
    Append,
    Appended,
    DebateBallots,
    DebateFilter,
    EventStore,
    StoreDamaged,
    panel_fingerprint,
)
from support.calibrations import a_calibration
from support.debates import PANEL, DebateScript

pytestmark = pytest.mark.full_for("postgresql")

A, B = "juror/a", "juror-b"
FIRST, SECOND, JUDGE = "simulated/first", "simulated/second", "simulated/judge"


def _seat(juror: str, weight: float) -> Seat:
    return Seat(juror_id=juror, role="r", role_name="R", role_focus="f", model=FIRST, weight=weight)


TWO = PANEL.changed(
    seats=(_seat(A, 2.0), _seat(B, 0.5)),
    discussion=PANEL.discussion.changed(speakers=SpeakerOrder(kind="fixed", base=(B, A))),
    final=FinalRules(method="final_judge", bands=Bands(), quorum=1, judge=FinalJudge(model=JUDGE)),
)


class _Script(DebateScript):
    """Two seats, one round, a final judge."""

    def start(self, **changes: Any) -> NewEvent:
        return self.opened(panel=TWO, **changes)

    def evaluation(
        self,
        verdict: str,
        points: float,
        *,
        synthetic: bool = False,
        model: str = FIRST,
        results: Sequence[EvidenceResult] | None = None,
    ) -> Evaluation:
        """`results`: those of its quotations, of item 7; None: it was not asked for evidence."""
        names = STANDARD_RUBRIC.names
        scores = Scores(dimensions=tuple(DimensionScore(dimension=name, points=points) for name in names))
        return Evaluation(
            verdict=Verdict(verdict), scores=scores, overall=scores.overall, confidence=0.75, synthetic=synthetic,
            rationale=self.pen.make("because"), model=model, model_version=f"{model}-7",
            evidence=None if results is None else tuple(map(_quotation, results)),
            quotes=None if results is None else self.pen.make(quotes_part(["said"] * len(results))),
            decisive_item=7 if results else None,
        )  # fmt: skip

    def event(self, body: DebateEvent | ExchangeRecorded) -> NewEvent:
        return encode(body, recorded_at=1_700_000_000_000_000, parts=self.pen.take())

    def said_first(
        self, juror: str, verdict: str, points: float = 5.0, *, reasoning: bool = False, **changes: Any
    ) -> NewEvent:
        evaluation, peer_text = self.evaluation(verdict, points, **changes), self.pen.make("shown")
        return self.event(
            JurorEvaluated(
                juror_id=juror, evaluation=evaluation, peer_text=peer_text, exchanges=(), reasoning=reasoning or None
            )
        )

    def said(self, round_: int, juror: str, verdict: str, points: float = 5.0, *, changed: bool = False) -> NewEvent:
        statement = Statement(
            order=0,
            statement=self.pen.make("I say"),
            evaluation=self.evaluation(verdict, points, model=SECOND),
            position_changed=changed,
        )
        return self.event(
            StatementMade(
                round=round_, juror_id=juror, statement=statement, peer_text=self.pen.make("shown"), exchanges=()
            )
        )

    def abstained(self, step: Step, *, stale: bool) -> NewEvent:
        assert step.juror_id is not None
        return self.event(
            JurorAbstained(
                step=step.id, juror_id=step.juror_id, reason=FailureReason.TIMEOUT, refusal=None, stale=stale,
                exchanges=(),
            )
        )  # fmt: skip

    def called(
        self, step: Step, attempt: int, *, model: str = FIRST, tokens: int | None = 10, cost: float | None = 0.25
    ) -> NewEvent:
        return self.event(
            ExchangeRecorded(
                step=step.id, juror_id=step.juror_id, model=model, model_version=None, turn=1, attempt=attempt,
                request=(RequestMessage(role="user", parts=(self.pen.make("judge!"),)),), tools=False,
                settings=CallSettings(), sent=None, outcome=CallOutcome.ANSWERED, answer=None, response=None,
                error=None, finish_reason=None, usage=Usage(input_tokens=tokens, output_tokens=tokens), cost=cost,
                latency_ms=1.0, request_id=None, simulated=True,
            )
        )  # fmt: skip

    def rendered(self, judge: Evaluation | None, failure: FailureReason | None = None) -> NewEvent:
        judgment = Judgment(
            method="final_judge", decided_by=Decider.FINAL_JUDGE, verdict=Verdict.SAFE_PASS, score=20, mean=20.0,
            votes=(), quorum=1, quorum_votes=1, capped=False, judge=judge, judge_failure=failure,
        )  # fmt: skip
        return self.event(JudgmentRendered(judgment=judgment, exchanges=()))


def _quotation(result: EvidenceResult) -> Evidence:
    span = None if result == "not_found" else EvidenceSpan(item=7, start=0, end=4)
    return Evidence(item=7, says="against", criterion=None, seat=None, result=result, span=span)


def _append(store: EventStore, stream: str, *events: NewEvent) -> None:
    head = store.heads([stream]).get(stream)
    version = head.version if head else 0
    kind = stream.partition("/")[0]
    request = {
        "debate": Append(stream, events, version, 1),
        "calls": Append(stream, events),
        "local": Append(stream, events, version),
    }[kind]
    (answer,) = store.append([request])
    assert isinstance(answer, Appended), answer


def _discussion(script: _Script, results: Sequence[EvidenceResult] | None = None) -> tuple[NewEvent, ...]:
    """A evaluates (`results`: of its quotations), B abstains; in round 1, B speaks, A abstains; the judge decides."""
    return (
        script.start(),
        script.begun(),
        script.said_first(A, "safe_pass", 8.0, results=results),
        script.abstained(Step(0, B), stale=False),
        script.checked(over=False),
        script.round_started(1, A, B),
        script.said(1, B, "unsafe_fail", 2.0),
        script.abstained(Step(1, A), stale=True),
        script.checked(1),
        script.rendered(script.evaluation("needs_review", 4.0, model=JUDGE)),
        script.completed(),
    )


def _calls(script: _Script) -> tuple[NewEvent, ...]:
    return (
        script.called(Step(0, A), 1),
        script.called(Step(0, A), 2, cost=0.5),
        script.called(Step(0, B), 1, model=SECOND, tokens=None, cost=None),
        script.called(Step(1, B), 1, model=SECOND),
        script.called(Step(1, A), 1, model=SECOND, tokens=7),
        script.called(Step(None, None), 1, model=JUDGE, tokens=None),
    )


def _only(store: EventStore, **asked: Any) -> DebateBallots:
    ((found,),) = store.ballots(**asked)
    return found


def _columns(ballots: DebateBallots) -> dict[str, Any]:
    assert ballots.votes is not None
    found: dict[str, Any] = json.loads(ballots.votes)
    return found


def test_every_column_of_a_debate_with_abstentions_and_a_judge(store: EventStore) -> None:
    script = _Script("d")
    _append(store, script.stream, *_discussion(script))
    _append(store, script.calls, *_calls(script))

    found = _only(store)

    whole = script.evaluation("safe_pass", 8.0).overall, script.evaluation("unsafe_fail", 2.0).overall
    assert _columns(found) == {
        "seats": [A, B],
        "weights": [2.0, 0.5],
        "models": [FIRST, f"{FIRST}-7", JUDGE, f"{JUDGE}-7", SECOND, f"{SECOND}-7"],
        "rounds": 1,
        "round": [0, 0, 1, 1, 1],
        "seat": [0, 1, 0, 1, 2],
        "kind": ["own", "abstained", "stale", "own", "own"],
        "verdict": ["safe_pass", None, "safe_pass", "unsafe_fail", "needs_review"],
        "score": [whole[0], None, whole[0], whole[1], script.evaluation("needs_review", 4.0).overall],
        "confidence": [0.75, None, 0.75, 0.75, 0.75],
        "changed": [None, None, False, None, None],
        "asked": [0, 4, 0, 4, 2],
        "answered": [1, None, 1, 5, 3],
        "calls": [2, 1, 1, 1, 1],
        "input_tokens": [20, None, 7, 10, None],
        "output_tokens": [20, None, 7, 10, None],
        "cost": [0.75, None, 0.25, 0.25, 0.25],
    }


QUOTED: tuple[tuple[tuple[EvidenceResult, ...], dict[str, int]], ...] = (
    (("verified", "not_found", "verified", "elsewhere"), {"verified": 2, "elsewhere": 1, "not_found": 1}),
    (("normalised",), {"normalised": 1}),
    ((), {}),
)


def test_quotations_are_counted_where_they_were_asked_for(store: EventStore) -> None:
    for number, (results, _) in enumerate(QUOTED):
        script = _Script(f"d{number}", seed=number)
        _append(store, script.stream, *_discussion(script, results))

    for (results, counts), found in zip(QUOTED, next(store.ballots()), strict=True):
        columns = _columns(found)
        assert {
            **{name: [counts.get(name, 0), None, None, None, None] for name in FURTHER_COLUMNS[:4]},
            "decisive_item": [7 if results else None, None, None, None, None],
            "read_percent": [None] * 5,
        } == {name: columns[name] for name in FURTHER_COLUMNS}


def test_the_share_of_the_record_that_a_vote_rests_on(store: EventStore) -> None:
    shares = ((29, 100, 29), (2, 3, 66), (0, 0, 100), (0, 5, 0))
    for number, (read, total, _) in enumerate(shares):
        script = _Script(f"d{number}", seed=number)
        reading = RecordRead(
            mode="windows", parts=1, items_read=0, items_total=1, characters_read=read, characters_total=total
        )
        evaluation = script.evaluation("safe_pass", 8.0).changed(reading=reading)
        said = JurorEvaluated(juror_id=A, evaluation=evaluation, peer_text=script.pen.make("shown"), exchanges=())
        _append(store, script.stream, script.start(), script.event(said), script.cancelled())

    found = [_columns(one) for one in next(store.ballots())]

    assert [([percent], [None]) for _, _, percent in shares] == [
        (columns["read_percent"], columns["verified"]) for columns in found
    ]


def test_what_is_of_the_debate_comes_from_its_row(store: EventStore) -> None:
    script = _Script("run~case-1~3")
    case = {"case_id": "case-1", "cluster": "k", "metadata": {"variant": "b"}, "label": Verdict.UNSAFE_FAIL}
    _append(store, script.stream, script.start(**case), *_discussion(script)[1:])

    found = _only(store)

    assert found._replace(votes=None) == DebateBallots(
        debate_id="run~case-1~3",
        run_id="run",
        case_id="case-1",
        cluster="k",
        variant="b",
        repeat=3,
        label="unsafe_fail",
        simulated=True,
        final_verdict="safe_pass",
        final_score=20,
        panel=panel_fingerprint(json.loads(canonical_json(TWO))),
        votes=None,
    )


LABELS: tuple[tuple[dict[str, Any], int | None, bool | None], ...] = (
    ({"decisive_message": 4, "outcome_correct": True}, 4, True),
    ({"outcome_correct": False}, None, False),
    ({"decisive_message": "4", "outcome_correct": 1}, None, None),
    ({"decisive_message": 2**31}, None, None),
    ({"note": '"decisive_message"'}, None, None),
)


def test_what_the_label_names_is_in_the_metadata(store: EventStore) -> None:
    for number, (metadata, _, _) in enumerate(LABELS):
        script = _Script(f"d{number}", seed=number)
        _append(store, script.stream, script.start(metadata=metadata), script.cancelled())

    assert [expected for _, *expected in LABELS] == [
        [one.label_message, one.outcome_correct] for one in next(store.ballots())
    ]


def test_a_calibrated_panel_has_the_fingerprint_of_the_panel_without() -> None:
    calibrated = TWO.changed(final=TWO.final.changed(calibration=a_calibration()))

    before, after = (panel_fingerprint(json.loads(canonical_json(one))) for one in (TWO, calibrated))
    assert before == after


def test_the_cluster_is_the_case_and_a_variant_is_text(store: EventStore) -> None:
    for number, metadata in enumerate(({}, {"variant": 3}, {"variant": True})):
        script = _Script(f"d{number}", seed=number)
        _append(store, script.stream, script.start(metadata=metadata), script.cancelled())

    assert [(f"case-d{number}", None, 1) for number in range(3)] == [
        (one.cluster, one.variant, one.repeat) for one in next(store.ballots())
    ]


def test_a_vote_that_replaces_a_blocked_answer_stays_synthetic(store: EventStore) -> None:
    script = _Script("d")
    _append(
        store,
        script.stream,
        script.start(),
        script.begun(),
        script.said_first(A, "needs_review", synthetic=True),
        script.said_first(B, "safe_pass"),
        script.checked(over=False),
        script.round_started(1, A, B),
        script.abstained(Step(1, A), stale=True),
        script.said(1, B, "unsafe_fail", changed=True),
        script.cancelled(),
    )

    columns = _columns(_only(store))

    assert columns["kind"] == ["synthetic", "own", "synthetic", "own"]
    assert columns["changed"] == [None, None, False, True]


def test_a_vote_with_the_agents_reasoning_stands_in_the_place_of_the_one_before(store: EventStore) -> None:
    script, alone = _Script("d"), _Script("e", seed=1)
    first = (script.start(), script.begun(), script.said_first(A, "safe_pass"), script.said_first(B, "safe_pass"))
    shown = (
        script.event(ReasoningShown()),
        script.said_first(A, "unsafe_fail", 2.0, reasoning=True),
        script.abstained(Step(0, B, reasoning=True), stale=True),
        script.cancelled(),
    )
    _append(store, script.stream, *first)
    _append(store, "calls/d", *(script.called(Step(0, A, reasoning), 1) for reasoning in (False, True)))
    _append(store, script.stream, *shown)
    _append(store, alone.stream, alone.start(), alone.said_first(A, "safe_pass"), alone.cancelled())

    columns, others = (_columns(one) for one in next(store.ballots()))

    assert {"kind": ["own", "stale"], "verdict": ["unsafe_fail", "safe_pass"], "changed": [None, None]} == {
        name: columns[name] for name in ("kind", "verdict", "changed")
    }
    assert (["safe_pass", None], [None, None]) == tuple(columns[name] for name in BEFORE_REASONING)
    assert ([2, 0], [0.5, 0.0]) == (columns["calls"], columns["cost"])
    assert set(BEFORE_REASONING).isdisjoint(others)


def test_a_seat_that_does_not_speak_in_a_round_votes_there_as_before(store: EventStore) -> None:
    script = _Script("d")
    first = (script.start(), script.said_first(A, "safe_pass", 8.0), script.said_first(B, "safe_pass"))
    later = (script.round_started(1, B), script.said(1, B, "unsafe_fail", 2.0, changed=True), script.cancelled())
    _append(store, script.stream, *first)
    _append(store, script.stream, *later)

    columns = _columns(_only(store))

    assert [(0, 0), (0, 1), (1, 0), (1, 1)] == list(zip(columns["round"], columns["seat"], strict=True))
    assert ["own", "own", "standing", "own"] == columns["kind"]
    assert columns["score"][0] == columns["score"][2]
    assert (False, 0, 0, 0.0) == tuple(columns[name][2] for name in ("changed", "calls", "input_tokens", "cost"))
    assert columns["asked"][0] == columns["asked"][2]


def test_a_judge_that_failed_abstains(store: EventStore) -> None:
    script = _Script("d")
    events = (script.start(), script.said_first(A, "safe_pass"), script.checked())
    _append(store, script.stream, *events, script.rendered(None, FailureReason.TIMEOUT), script.completed())
    _append(store, script.calls, script.called(Step(None, None), 1, model=JUDGE))

    columns = _columns(_only(store))

    assert (columns["seat"], columns["round"]) == ([0, 2], [0, 0])
    assert (columns["kind"], columns["verdict"]) == (["own", "abstained"], ["safe_pass", None])
    assert (columns["models"][columns["asked"][1]], columns["answered"][1]) == (JUDGE, None)


def test_streams_may_come_in_any_order(store: EventStore) -> None:
    found = []
    for number, order in enumerate(permutations(("calls", "debate", "rest"))):
        script = _Script("d", seed=1)
        debate = f"d{number}"
        first, *rest = _discussion(script)
        _append(store, f"debate/{debate}", first)
        parts = {"calls": ("calls", _calls(script)), "debate": ("debate", rest[:6]), "rest": ("debate", rest[6:])}
        for name in order if order.index("debate") < order.index("rest") else ():
            kind, events = parts[name]
            _append(store, f"{kind}/{debate}", *events)
            store.project()
        if order.index("debate") < order.index("rest"):
            found.append(store.ballots().__next__()[-1].votes)

    assert len(found) == 3
    assert found[0] is not None
    assert set(found) == {found[0]}


def test_rows_projected_event_by_event_equal_the_rebuilt_ones(store: EventStore) -> None:
    scripts = [_Script(f"d{number}", seed=number) for number in range(3)]
    quoted: list[tuple[EvidenceResult, ...] | None] = [None, ("verified", "not_found"), ()]
    streams = [(s.stream, list(_discussion(s, results))) for s, results in zip(scripts, quoted, strict=True)]
    streams += [(s.calls, list(_calls(s))) for s in scripts]
    while any(events for _, events in streams):
        for stream, events in streams:
            if events:
                _append(store, stream, events.pop(0))
                store.project(limit=1)
    behind = list(store.ballots())
    while store.project(limit=2):
        pass
    projected = list(store.ballots())

    store.rebuild()

    assert behind == projected == list(store.ballots())
    assert [one.debate_id for one in projected[0]] == ["d0", "d1", "d2"]
    assert store.list_faults(store.histories(["d0", "d1", "d2"])) == []


def test_another_process_goes_on_where_the_first_one_stopped(
    url: str, open_writer: Callable[[str], EventStore]
) -> None:
    script = _Script("d")
    events, calls = _discussion(script), _calls(script)
    for place in range(0, len(events), 3):
        store = open_writer(url)
        _append(store, script.stream, *events[place : place + 3])
        if place < len(calls):
            _append(store, script.calls, *calls[place : place + 3])
        store.project()
        store.close()

    store = open_writer(url)
    projected = list(store.ballots())
    store.rebuild()

    assert projected == list(store.ballots())
    assert _columns(projected[0][0])["calls"] == [2, 1, 1, 1, 1]


def test_unfinished_debates_are_left_out_unless_they_are_asked_for(store: EventStore) -> None:
    ended, running = _Script("b"), _Script("a", seed=2)
    _append(store, ended.stream, *_discussion(ended))
    _append(store, running.stream, *_discussion(running)[:3])
    _append(store, running.calls, *_calls(running)[:3])
    behind = [one.debate_id for batch in store.ballots(ended_only=False) for one in batch]
    store.project()

    (both,) = store.ballots(ended_only=False)

    assert behind == [one.debate_id for one in both] == ["a", "b"]
    assert [one.debate_id for one in next(store.ballots())] == ["b"]
    columns = _columns(both[0])
    assert (columns["kind"], columns["calls"]) == (["own", None], [2, 1])


def test_pages_have_the_debates_that_the_lists_have_not_reached(
    store: EventStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jury_store.listing._PAGE", 2)
    for name in "aceg":
        script = _Script(name)
        _append(store, script.stream, script.start(), script.cancelled())
    store.project()
    for name in "bdfh":
        script = _Script(name)
        _append(store, script.stream, script.start(), script.cancelled())

    assert list("abcdefgh") == [one.debate_id for page in store.ballots() for one in page]


def test_debates_are_selected_as_in_the_list(store: EventStore) -> None:
    for number in range(4):
        script = _Script(f"d{number}", run_id=f"run-{number % 2}", seed=number)
        _append(store, script.stream, *_discussion(script))
    aside = DebateQuarantined(number=1, by="me", reason="broken")
    _append(store, "local/d2", encode(aside, recorded_at=1))

    def ids(**wanted: Any) -> list[str]:
        return [one.debate_id for batch in store.ballots(DebateFilter(**wanted)) for one in batch]

    assert ids() == ["d0", "d1", "d3"]
    assert ids(run_id="run-0") == ["d0"]
    assert ids(quarantined=True) == ["d2"]
    assert ids(run_id="none") == []


BROKEN: tuple[dict[str, Any], ...] = (
    {"juror_id": "nobody"},
    {"evaluation": {"verdict": "maybe", "overall": 1, "confidence": 1, "model": "m/x"}},
    {"evaluation": {"verdict": "safe_pass", "overall": 101, "confidence": 1, "model": "m/x"}},
    {"evaluation": {"verdict": "safe_pass", "overall": 1, "confidence": True, "model": "m/x"}},
    {"evaluation": {"verdict": "safe_pass", "overall": 1, "confidence": 1, "model": "m\0x"}},
    {"evaluation": []},
    {"evaluation": None},
)


def test_a_debate_with_an_event_that_cannot_be_read_has_no_ballots(store: EventStore) -> None:
    for number, broken in enumerate(BROKEN):
        script = _Script(f"d{number}", seed=number)
        said = script.said_first(A, "safe_pass")
        body = canonical_json({**json.loads(said.body), **broken})
        _append(store, script.stream, script.start(), said._replace(body=body), script.cancelled())
    other = _Script("e", seed=len(BROKEN))
    _append(store, other.stream, *_discussion(other))
    behind = list(store.ballots())
    store.project()

    (found,) = store.ballots()
    store.rebuild()

    assert behind == [found] == list(store.ballots())
    assert [(f"d{number}", True) for number in range(len(BROKEN))] + [("e", False)] == [
        (one.debate_id, one.votes is None) for one in found
    ]


def test_the_fingerprint_has_what_is_asked_and_not_how_calls_are_carried_out() -> None:
    def fingerprint(**settings: Any) -> str:
        seats = [seat.changed(settings=seat.settings.changed(**settings)) for seat in TWO.seats]
        return panel_fingerprint(json.loads(canonical_json(TWO.changed(seats=tuple(seats)))))

    plain = fingerprint()
    assert plain == fingerprint(tier="flex", cache="1h", warm="off", flex_fallback="on")
    assert plain != fingerprint(effort="high")


ALTERED = (
    "UPDATE ballots SET panel = NULL",
    "UPDATE ballots SET votes = replace(votes, 'safe_pass', 'unsafe_fail')",
    "UPDATE ballots SET votes = NULL",
    "DELETE FROM ballots",
    "INSERT INTO ballots (debate_id, panel, votes) VALUES ('other', NULL, NULL)",
    "UPDATE ballots SET debate_id = 'other'",
)


def test_altered_ballots_are_found_and_rebuilt(
    url: str, sql: Callable[[str, str], None], open_writer: Callable[[str], EventStore]
) -> None:
    script = _Script("d")
    store = open_writer(url)
    _append(store, script.stream, *_discussion(script))
    store.project()
    before = list(store.ballots())
    store.next_epoch()
    for change in ALTERED:
        sql(url, change)
        report = verify(store)
        store.rebuild()

        assert not report.ok, change
        assert before == list(store.ballots()), change
        assert verify(store).ok, change


def test_ballots_that_cannot_be_read_are_named(
    url: str, sql: Callable[[str, str], None], open_writer: Callable[[str], EventStore]
) -> None:
    script = _Script("d")
    store = open_writer(url)
    _append(store, script.stream, *_discussion(script))
    store.project()
    store.close()
    sql(url, "UPDATE ballots SET votes = '[]'")
    store = open_writer(url)
    _append(store, script.calls, *_calls(script))

    with pytest.raises(StoreDamaged, match=r"ballots of debate d cannot be read.*jury db rebuild"):
        store.project()
