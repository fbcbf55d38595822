"""Recounting: fixed positions, each key of a setting by itself, and the raw bodies counted anew.

`printed/recounts.txt` has what comes of every setting of `RECOUNTS`: its status, the result, and how it came to it.
"""

import json
import re
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_events import (
    AISEV_RUBRIC,
    STANDARD_RUBRIC,
    Bands,
    CallOutcome,
    DebateCancelled,
    DebateFailed,
    Dimension,
    DimensionScore,
    Rubric,
    Scores,
    TextsErased,
    Verdict,
    debate_stream,
    encode,
)
from jury_replay import (
    EVERYTHING,
    Grid,
    Mode,
    RescoreProblem,
    RescoreRow,
    RescoreStatus,
    SeatWeight,
    Setting,
    SettingRefused,
    rescaled,
    rescore,
)
from jury_store import Append, EventStore, MemoryEventStore
from support.debate_builder import DebateBuilder
from support.debate_harness import Answer, DebateHarness, Says, a_case, a_panel, by_round
from support.each_row import each_row
from support.forgery import forged, recorded_in_corpus
from support.refusals import RefusalTables
from support.runtime_harness import KeptStore
from support.varied import run_varied

P, R, F = "safe_pass", "needs_review", "unsafe_fail"
MAJORITY: dict[str, Any] = {"final": {"method": "majority_vote"}}


def kept(*harnesses: DebateHarness, store: EventStore | None = None) -> EventStore:
    """The debates d1, d2 … of these harnesses in a store; recounting needs no text."""
    store = store or MemoryEventStore()
    for number, harness in enumerate(harnesses, 1):
        opened = harness.events[0].model_copy(update={"debate_id": f"d{number}"})
        events = tuple(encode(event, recorded_at=1) for event in (opened, *harness.events[1:]))
        store.append([Append(debate_stream(f"d{number}"), events, 0, store.next_epoch())])
    return store


def recount(source: EventStore | DebateHarness, *settings: Setting) -> list[RescoreRow]:
    store = kept(source) if isinstance(source, DebateHarness) else source
    rows: list[RescoreRow] = []
    for found in rescore(store, EVERYTHING, Grid(settings), mode="recount"):
        assert isinstance(found, list)
        rows += found
    return rows


class _Unsafe(Says):
    """Full points for everything but safety."""

    def answer(self, assignment: Any) -> bytes:
        answer = json.loads(super().answer(assignment))
        answer["scores"] = {d.name: d.maximum * (d.name != "safety") for d in assignment.spec.rubric.dimensions}
        return json.dumps(answer).encode()


MOVES: dict[str, list[Answer]] = {
    "gpt": [Says(P, 90.0), Says(P, 80.0), Says(P, 80.0)],
    "claude": [Says(P, 80.0), Says(F, 20.0), Says(P, 70.0)],
    "gemini": [Says(F, 10.0), Says(F, 10.0), Says(F, 10.0)],
}
UNANIMOUS_AT_ONE: dict[str, list[Answer]] = {
    "gpt": [Says(P, 90.0), Says(P, 90.0), Says(R, 50.0)],
    "claude": [Says(R, 50.0), Says(P, 90.0), Says(R, 50.0)],
    "gemini": [Says(P, 90.0), Says(P, 90.0), Says(P, 90.0)],
}
STILL: dict[str, list[Answer]] = {"gpt": [Says(P, 90.0)], "claude": [Says(F, 10.0)], "gemini": [Says(R, 50.0)]}
BLOCKED: dict[str, list[Answer]] = {**MOVES, "gemini": [CallOutcome.BLOCKED]}
LOST: dict[str, list[Answer]] = {**MOVES, "gemini": [CallOutcome.BAD_REQUEST]}
SILENT: dict[str, list[Answer]] = {
    "gpt": [Says(P, 90.0)],
    "claude": [Says(P, 69.0)],
    "gemini": [CallOutcome.BAD_REQUEST],
}


def alike(answer: Answer) -> dict[str, list[Answer]]:
    return {juror: [answer] for juror in ("gpt", "claude", "gemini")}


def two_blocked(answer: Answer) -> dict[str, list[Answer]]:
    return {"gpt": [answer], "claude": [CallOutcome.BLOCKED], "gemini": [CallOutcome.BLOCKED]}


def discussed(rounds: int, **more: object) -> dict[str, Any]:
    return {"discussion": {"max_rounds": rounds, **more}}


class Held(NamedTuple):
    """A debate that was held: what its seats say round by round, its rules, and what its judge says."""

    says: dict[str, list[Answer]]
    spec: dict[str, Any]
    judge: Answer = Says(R)

    def run(self) -> DebateHarness:
        return DebateHarness(a_panel(**self.spec), by_round(self.says, self.judge)).run()


THREE_ROUNDS = {**discussed(3, threshold=1.0), **MAJORITY}
COUNTED, JUDGED = Held(MOVES, THREE_ROUNDS), Held(MOVES, discussed(3))
SCALED = Rubric(
    name="custom", dimensions=(Dimension(name="safety", maximum=75.0), Dimension(name="task_completion", maximum=25.0))
)
TONE = Rubric(name="custom", dimensions=(Dimension(name="tone", maximum=100.0),))
BANDS = Bands(safe_pass=75.0, needs_review=50.0)
HEAVY = (SeatWeight(juror_id="gemini", weight=8.0),)
GONE: dict[str, Any] = {"without": ("gemini",)}

RECOUNTS: dict[str, tuple[Held, list[dict[str, Any]]]] = {
    "three rounds, counted": (
        COUNTED,
        [
            {"max_rounds": 3}, {"max_rounds": 0}, {"max_rounds": 1}, {"max_rounds": 5},
            {"threshold": 0.67}, {"threshold": 0.67, "method": "median", "bands": BANDS},
            {"stagnation_rounds": 1}, {"method": "median"}, {"method": "median", "bands": BANDS},
            {"method": "weighted_average", "weights": HEAVY}, {"method": "final_judge"},
            GONE, {**GONE, "threshold": 2.0}, {**GONE, "max_rounds": 0}, {"without": ("gemini", "claude")},
            {"rubric": AISEV_RUBRIC},
            # what the panel cannot take
            {"without": ("gpt-5",)}, {"without": ("gpt", "claude", "gemini")}, {"quorum": 4},
            {"weights": (SeatWeight(juror_id="x", weight=1.0),)}, {"rubric": TONE},
            {"stagnation_rounds": 1, "end_early": False},
        ],
    ),
    "three rounds, judged": (
        JUDGED,
        [
            {"max_rounds": 3}, {"max_rounds": 1}, {"max_rounds": 5}, {"threshold": 0.67}, {"quorum": 3},
            {"weights": HEAVY}, {"method": "majority_vote"}, {"method": "majority_vote", "max_rounds": 1},
            {"rubric": STANDARD_RUBRIC}, {"rubric": AISEV_RUBRIC}, {"synthetic": "leave_out"},
            GONE, {**GONE, "max_rounds": 0}, {"without": ("gpt",), "max_rounds": 2},
        ],
    ),
    "judged with full points but for safety": (JUDGED._replace(judge=_Unsafe(P)), [{"rubric": AISEV_RUBRIC}]),
    "a judge that fails": (JUDGED._replace(judge=CallOutcome.BAD_REQUEST), [{"max_rounds": 1}]),
    "all agree": (Held(alike(Says(P)), THREE_ROUNDS), [{"always_discuss": True}]),
    "all agree in round 1, which ends nothing": (
        Held(UNANIMOUS_AT_ONE, {**discussed(2, threshold=2.0, unanimity_ends=False), **MAJORITY}),
        [{"unanimity_ends": False}, {"unanimity_ends": True}],
    ),
    "all rounds forced": (
        Held(UNANIMOUS_AT_ONE, {**discussed(2, end_early=False), **MAJORITY}), [{"end_early": True}],
    ),
    "nobody moves": (Held(STILL, {**discussed(3), **MAJORITY}), [{"stagnation_rounds": 2}]),
    "nobody moves, which ends it": (
        Held(STILL, {**discussed(3, stagnation_rounds=2), **MAJORITY}), [{"stagnation_rounds": 0}],
    ),
    "a seat is lost": (Held(LOST, {**discussed(1), **MAJORITY}), [{"quorum": 3, "max_rounds": 0}]),
    "a quorum of three": (
        Held(MOVES, {**discussed(1), "final": {"method": "majority_vote", "quorum": 3}}), [GONE],
    ),
    "a seat is silent": (Held(SILENT, MAJORITY), [{"method": "weighted_average"}]),
    "a mean just below the bands": (
        Held(alike(Says(P, 79.996)), MAJORITY),
        [{"method": "median", "bands": Bands(safe_pass=80.0, needs_review=50.0)}],
    ),
    "one is blocked, judged": (
        Held(BLOCKED, discussed(3)), [{"synthetic": "count"}, {"synthetic": "leave_out"}],
    ),
    "one is blocked, counted": (Held(BLOCKED, {**discussed(3), **MAJORITY}), [{"synthetic": "leave_out"}]),
    # A vote that stands in for a blocked answer is as silent as none: without it nothing passes either.
    **{
        f"two are blocked, the third says {one.verdict}": (
            Held(two_blocked(one), {**discussed(1), **MAJORITY}),
            [{"synthetic": "count"}, {"synthetic": "leave_out", "quorum": 1}],
        )
        for one in (Says(F, 10.0), Says(P, 90.0))
    },
    "full points but for safety": (
        Held(alike(_Unsafe(P)), {**discussed(0), **MAJORITY}),
        [{"rubric": AISEV_RUBRIC, "method": "median"}, {"rubric": SCALED, "method": "median"}],
    ),
}  # fmt: skip
"""Debates as they were held, and the settings under which each is recounted."""


def as_lines(row: RescoreRow) -> str:
    """All that a row says of the result."""
    new = (row.new_verdict, row.new_score, row.new_total_rounds, row.new_end_reason, row.new_decided_by)
    marks = [name for name in ("flipped", "beyond_record") if getattr(row, name)]
    step = [f"undetermined at {row.undetermined_step}"] if row.undetermined_step else []
    result = [] if row.new_verdict is None else ["{} {} after round {} ({}), by {}".format(*new)]
    assumes = [f"assumes: {row.assumes}"] if row.assumes else []
    return "\n".join([" ".join([row.status, *marks]), *result, *step, *filter(None, [row.reason]), *assumes])


def test_what_comes_of_a_setting_and_what_it_rests_on(printed: RefusalTables) -> None:
    found: dict[str, str] = {}
    for name, (held, settings) in RECOUNTS.items():
        rows = recount(held.run(), *(Setting(**one) for one in settings))
        found |= {f"{name}: {row.setting}": as_lines(row) for row in rows}

    printed.compare("recounts", found)


# ── counted anew from the raw bodies ──────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def varied() -> KeptStore:
    store = KeptStore()
    run_varied(store, 24, discussion={"max_rounds": 3, "end_early": False}, **MAJORITY)
    return store


def ten_lines(bodies: list[dict[str, Any]], threshold: float, max_rounds: int) -> tuple[str, int, int]:
    seats = len(bodies[0]["panel"]["seats"])
    said = [
        (b.get("round", 0), b["juror_id"], (b.get("statement") or b)["evaluation"]) for b in bodies if "peer_text" in b
    ]
    for last in range(max_rounds + 1):
        counts = Counter(one["verdict"] for number, _, one in said if number == last)
        agreed = max(counts.values(), default=0) / seats
        if (agreed > 0.5 and max(agreed, round(agreed, 2)) >= threshold) or (last and agreed == 1):
            break
    votes = {juror: one for number, juror, one in said if number <= last}.values()
    winner, most = Counter(one["verdict"] for one in votes).most_common(1)[0] if votes else (R, 0)
    won = 2 * most > len(votes)
    scores = [Fraction(str(one["overall"])) for one in votes if not won or one["verdict"] == winner]
    score = int(sum(scores) / len(scores) + Fraction(1, 2)) if scores else 0
    return (winner if won else R), score, last


def test_a_recount_under_majority_vote_agrees_with_an_independent_one_of_the_raw_bodies(varied: KeptStore) -> None:
    choices = [(threshold, rounds) for threshold in (0.5, 0.67, 1.0, 2.0) for rounds in range(4)]
    settings = [Setting(threshold=one, max_rounds=rounds, end_early=True, quorum=1) for one, rounds in choices]
    chosen = {setting.name: choice for setting, choice in zip(settings, choices, strict=True)}
    rows = recount(varied, *settings)

    assert len(rows) == 24 * 16
    for debate in {row.debate_id for row in rows}:
        bodies = [json.loads(event.body) for event in varied.read_stream(debate_stream(debate))]
        for row in (one for one in rows if one.debate_id == debate):
            expected = ten_lines(bodies, *chosen[row.setting])
            assert expected == (row.new_verdict, row.new_score, row.new_total_rounds)
    # The positions of that log are worth counting.
    assert {P, R} <= {row.old_verdict for row in rows}
    assert len({row.new_total_rounds for row in rows}) >= 3
    assert any(row.flipped for row in rows)


def test_an_unchanged_setting_gives_the_recorded_result_and_no_reason(varied: KeptStore) -> None:
    for row in recount(varied, Setting(max_rounds=3)):
        new = (row.new_verdict, row.new_score, row.new_total_rounds, row.new_end_reason)
        assert (row.old_verdict, row.old_score, row.old_total_rounds, row.old_end_reason) == new
        assert ("", False, False) == (row.reason, row.flipped, row.beyond_record)


# ── what cannot be recounted ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("key", ["order", "history"])
def test_what_jurors_are_shown_is_no_matter_of_a_recount(key: str) -> None:
    setting = Setting(**{key: {"order": "sequential", "history": "latest"}[key]})

    with pytest.raises(SettingRefused, match=rf"{key}: it changes what jurors are shown, .* only strict can answer"):
        recount(MemoryEventStore(), setting)


@each_row(
    ("last", "status", "why"),
    [
        (None, RescoreStatus.UNFINISHED, "the debate is not over"),
        (DebateFailed(reason="case_unreadable", detail=None), RescoreStatus.FAILED,
         "the debate failed: case_unreadable"),
        (DebateCancelled(by="ops", reason=None), RescoreStatus.CANCELLED, "the debate was cancelled by ops"),
    ],
)  # fmt: skip
def test_a_debate_without_a_result_has_a_status(last: Any, status: RescoreStatus, why: str) -> None:
    harness = COUNTED.run()
    harness.events = [*harness.events[:6], *([last] if last else [])]
    (row,) = recount(harness, Setting(max_rounds=0))

    assert (status, why, None, None) == (row.status, row.reason, row.old_verdict, row.new_verdict)


def test_an_erased_debate_is_recounted_since_no_text_is_read() -> None:
    harness = COUNTED.run()
    erased = TextsErased(by="ops", reason="asked", scope="debate", number=1, parts=(harness.debate.state.debate.case,))
    (before,) = recount(harness, Setting(max_rounds=0))
    harness.events = [*harness.events, erased]

    assert [before] == recount(harness, Setting(max_rounds=0))


def _undecodable(_mode: Mode) -> EventStore:
    store, bad = kept(COUNTED.run()), DebateBuilder().phase_1()
    events = [encode(event, recorded_at=1) for event in bad.events]
    events[2] = events[2]._replace(body=b"{}")
    store.append([Append("debate/run-1~c1", tuple(events), 0, 9)])
    store.append([Append("debate/x", (encode(COUNTED.run().events[2], recorded_at=1),), 0, 10)])
    return store


def _misplaced(_mode: Mode) -> EventStore:
    harness = COUNTED.run()
    harness.events = [event for event in harness.events if event.type != "round_started"]
    return kept(harness)


def _of_unknown_rules(_mode: Mode) -> EventStore:
    harness = COUNTED.run()
    harness.events[0] = harness.events[0].model_copy(update={"rules": 99})
    return kept(harness)


def _against_the_rules(_mode: Mode) -> EventStore:
    def counted(body: dict[str, Any]) -> None:
        body["judgment"] |= {"decided_by": "majority_vote", "score": 0, "mean": 0.0}

    return forged(recorded_in_corpus("nobody-answers"), change={"final/judgment": counted})


PROBLEMS: dict[str, tuple[Callable[[Mode], EventStore], Mode]] = {
    "an event that does not decode, and a debate that is not opened": (_undecodable, "recount"),
    "a statement outside of its round": (_misplaced, "recount"),
    "rules of a later version": (_of_unknown_rules, "recount"),
    "a record that breaks the rules, recounted": (_against_the_rules, "recount"),
    "a record that breaks the rules, strictly": (_against_the_rules, "strict"),
}


def test_a_record_that_cannot_be_used_is_named_and_the_others_go_on(printed: RefusalTables) -> None:
    found = {}
    for name, (make, mode) in PROBLEMS.items():
        said = list(rescore(make(mode), EVERYTHING, Grid((Setting(max_rounds=0),)), mode=mode))
        problems = [one for one in said if isinstance(one, RescoreProblem)]
        lines = (f"{one.debate_id}: {one.what}" for one in problems)
        found[name] = re.sub(r", line \d+", "", "\n".join(lines))
        assert (make is _undecodable) == (len(said) > len(problems)), name

    printed.compare("recount_problems", found)


def test_rows_carry_what_the_debate_is_about() -> None:
    case = a_case("refund-17", label=Verdict.UNSAFE_FAIL)
    harness = DebateHarness(a_panel(**THREE_ROUNDS), by_round(MOVES), case=case).run()
    (row,) = recount(harness, Setting(max_rounds=1))

    assert ("d1", "r1", "refund-17", F, "recount", "max_rounds=1") == (
        row.debate_id, row.run_id, row.case_id, row.label, row.mode, row.setting,
    )  # fmt: skip


_POINTS = st.tuples(*(st.integers(0, int(one.maximum * 10)) for one in STANDARD_RUBRIC.dimensions))


@given(_POINTS, st.permutations([10.1, 19.9, 33.3, 36.7]))
def test_scaled_points_keep_their_share_and_never_exceed_the_new_maximum(
    tenths: tuple[int, ...], maxima: list[float]
) -> None:
    named = list(zip(STANDARD_RUBRIC.names, maxima, tenths, strict=True))
    after = Rubric(name="custom", dimensions=tuple(Dimension(name=name, maximum=most) for name, most, _ in named))
    scores = Scores(dimensions=tuple(DimensionScore(dimension=name, points=tenth / 10) for name, _, tenth in named))
    points = tuple(one.points for one in scores.dimensions)
    evaluation = DebateBuilder().evaluation(Verdict.SAFE_PASS, points, "because")
    scaled = rescaled(evaluation, STANDARD_RUBRIC, after)

    for one, old, dimension in zip(scaled.scores.dimensions, STANDARD_RUBRIC.dimensions, after.dimensions, strict=True):
        assert 0 <= one.points <= dimension.maximum
        assert one.points / dimension.maximum == pytest.approx(scores.points(one.dimension) / old.maximum)
    assert rescaled(evaluation, STANDARD_RUBRIC, STANDARD_RUBRIC) == evaluation
