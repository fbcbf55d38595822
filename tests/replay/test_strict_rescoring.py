"""Rescoring never answers what was not asked: against really holding each debate under each setting.

One store has debates of the three verdicts and of a scale of its own: a grid takes each as if it stood alone.
"""

import asyncio
from collections import Counter
from typing import Any, Literal, NamedTuple

import pytest

from jury_debate import PanelSpec, resolve
from jury_events import (
    Bands,
    CoordinatorResumed,
    Dimension,
    JurorEvaluated,
    OutcomeWord,
    Rubric,
    calls_stream,
    debate_stream,
    decode,
    encode,
    encode_digest,
)
from jury_replay import (
    EVERYTHING,
    CriterionBound,
    CriterionCap,
    DebateSelection,
    Grid,
    LabelOutcome,
    NotApplicable,
    RescoreRow,
    RescoreStatus,
    SeatWeight,
    Setting,
    SettingRefused,
    pen_of,
    replay_under,
    rescore,
    with_texts,
)
from jury_store import Append, EventStore, MemoryEventStore
from support.branches import OTHER_SECRET, a_branch, execute_branch, origin_in, stored
from support.debate_harness import SEATS, DebateHarness, Says, a_panel, by_round
from support.each_row import each_row
from support.refusals import RefusalTables
from support.runtime_harness import KeptStore, Run
from support.scales import ANSWERS, LEVELS
from support.varied import FAULTS, a_varied_case, run_varied

Mode = Literal["strict", "recount"]
DEBATES = (8, pytest.param(200, marks=pytest.mark.long))
COUNTED: dict[str, Any] = {"final": {"method": "majority_vote"}}
BASE: dict[str, Any] = {"discussion": {"max_rounds": 2, "threshold": 1.0}, **COUNTED}
SCALED: dict[str, Any] = {**ANSWERS, "discussion": {"max_rounds": 1, "threshold": 0.67}, **COUNTED}


class Base(NamedTuple):
    """Under which rules debates are recorded; their ids begin with its name."""

    name: str
    spec: dict[str, Any]
    share: int
    """Of the debates one in so many."""

    def hold(self, debates: int, *, only: frozenset[str] | None = None, **changes: Any) -> KeptStore:
        """The debates, or some of them, under these rules with changes."""
        store = KeptStore()
        run = Run(store, debates=debates // self.share, case=a_varied_case)
        spec = {**self.spec, **{name: _merged(self.spec.get(name), value) for name, value in changes.items()}}
        run.resolved = resolve(PanelSpec.model_validate(spec))
        named = {f"{self.name}-{debate}": case for debate, case in run.cases.items()}
        run.cases = {debate: case for debate, case in named.items() if only is None or debate in only}
        asyncio.run(run.execute(script=FAULTS))
        return store


def _merged(before: object, after: object) -> object:
    return {**before, **after} if isinstance(before, dict) and isinstance(after, dict) else after


BASES = PLAIN, SCALE = Base("plain", BASE, 1), Base("scale", SCALED, 2)


def outcomes(**words: OutcomeWord) -> Setting:
    return Setting(outcomes=tuple(LabelOutcome(label=label, outcome=word) for label, word in words.items()))


def labels(**words: OutcomeWord) -> dict[str, Any]:
    scale = ANSWERS["scale"]
    changed = [{**one, "outcome": words.get(one["id"], one["outcome"])} for one in scale["labels"]]
    return {"scale": {**scale, "labels": changed}}


def facts(**fields: Any) -> dict[str, Any]:
    return {"criteria": [{**ANSWERS["criteria"][0], **fields}, ANSWERS["criteria"][1]]}


CAP, NO_CAP = ((CriterionCap(criterion="facts", cap=cap),) for cap in ("fail", "off"))
BOUND = (CriterionBound(criterion="facts", share=0.9),)

SETTINGS: tuple[tuple[Setting, dict[str, Any]], ...] = (
    (Setting(threshold=0.67), {"discussion": {"threshold": 0.67}}),
    (Setting(threshold=2.0), {"discussion": {"threshold": 2.0}}),
    (Setting(max_rounds=1), {"discussion": {"max_rounds": 1}}),
    (Setting(max_rounds=3), {"discussion": {"max_rounds": 3}}),
    (
        Setting(method="median", bands=Bands(safe_pass=85.0, needs_review=50.0)),
        {"final": {"method": "median", "bands": {"safe_pass": 85.0, "needs_review": 50.0}}},
    ),
    (Setting(order="sequential"), {"discussion": {"order": "sequential"}}),
    (Setting(history="latest"), {"discussion": {"history": "latest"}}),
    (Setting(quorum=3, always_discuss=True), {"discussion": {"always_discuss": True}, "final": {"quorum": 3}}),
    (Setting(end_early=False), {"discussion": {"end_early": False}}),
    (
        Setting(unanimity_ends=False, stagnation_rounds=1, method="weighted_average"),
        {"discussion": {"unanimity_ends": False, "stagnation_rounds": 1}, "final": {"method": "weighted_average"}},
    ),
)
OF_SCALES: tuple[tuple[Setting, dict[str, Any]], ...] = (
    (outcomes(partial="pass"), labels(partial="pass")),
    (outcomes(partial="fail"), labels(partial="fail")),
    (Setting(critical=CAP), facts(critical="fail")),
    (Setting(critical=NO_CAP), facts(critical=False)),
    (Setting(critical_below=BOUND), facts(critical_below=0.9)),
)
COMPARED = [
    *((PLAIN, setting, changes) for setting, changes in SETTINGS),
    *((SCALE, setting, changes) for setting, changes in OF_SCALES),
]


def _events(store: EventStore, debate_id: str) -> list[Any]:
    texts = {encode_digest(digest): part.content for digest, part in store.parts(debate_id).items()}
    events = [decode(stored) for stored in store.read_stream(debate_stream(debate_id))]
    return [with_texts(one, texts.__getitem__) for one in events if not isinstance(one, CoordinatorResumed)]


def _rows(
    store: EventStore, *settings: Setting, selection: DebateSelection = EVERYTHING, mode: Mode = "strict"
) -> list[RescoreRow]:
    found = list(rescore(store, selection, Grid(settings), mode=mode))

    assert all(isinstance(rows, list) for rows in found)
    return [row for rows in found for row in rows]


@pytest.fixture(scope="module", params=DEBATES)
def debates(request: pytest.FixtureRequest) -> int:
    """How many there are."""
    found: int = request.param
    return found


@pytest.fixture(scope="module")
def recorded(debates: int) -> KeptStore:
    """The debates of all bases, in one store."""
    store = KeptStore()
    for base in BASES:
        held = base.hold(debates)
        for history in held.histories(held.debate_ids()):
            for stream, events in history.streams.items():
                new = tuple(decoded_with_parts(event, history) for event in events)
                epoch = store.next_epoch() if stream.startswith("debate/") else None
                store.append([Append(stream, new, None if epoch is None else 0, epoch)])
    return store


def decoded_with_parts(event: Any, history: Any) -> Any:
    """An event as it was appended, its texts with it."""
    named = tuple(part for part in history.parts.values() if part.ref.part.encode() in event.body)
    return encode(decode(event), recorded_at=event.recorded_at, parts=named)


Rows = dict[str, dict[str, RescoreRow]]


@pytest.fixture(scope="module")
def rows(recorded: KeptStore) -> Rows:
    """By setting and debate, of the whole grid in one reading."""
    found: Rows = {}
    for row in _rows(recorded, *(setting for setting, _ in (*SETTINGS, *OF_SCALES))):
        found.setdefault(row.setting, {})[row.debate_id] = row
    return found


def of(base: Base, rows: dict[str, RescoreRow]) -> dict[str, RescoreRow]:
    return {debate: row for debate, row in rows.items() if debate.startswith(f"{base.name}-")}


@each_row(("base", "setting", "changes"), COMPARED, ids=[f"{base.name}: {one.name}" for base, one, _ in COMPARED])
def test_what_is_determined_is_what_really_comes_of_it(
    debates: int, recorded: KeptStore, rows: Rows, base: Base, setting: Setting, changes: dict[str, Any]
) -> None:
    all_rows = of(base, rows[setting.name])
    determined = {one: row for one, row in all_rows.items() if row.status is RescoreStatus.DETERMINED}
    really = base.hold(debates, only=frozenset(determined), **changes)

    assert determined
    assert base is not SCALE or determined == all_rows
    for record in recorded.histories(tuple(determined)):
        row, events = determined[record.debate_id], _events(really, record.debate_id)
        end = events[-1]
        expected = (end["final_verdict"], end["final_score"], end["total_rounds"], end["end_reason"])
        assert expected == (row.new_verdict, row.new_score, row.new_total_rounds, row.new_end_reason)
        replayed = replay_under(record, setting.apply(record.opened.panel), pen := pen_of(record))
        assert events == [with_texts(one, pen.content) for one in replayed.events]


def test_a_recount_of_a_scale_comes_to_the_same(recorded: KeptStore, rows: Rows) -> None:
    selection = DebateSelection(tuple(of(SCALE, rows[OF_SCALES[0][0].name])))
    for row in _rows(recorded, *(setting for setting, _ in OF_SCALES), selection=selection, mode="recount"):
        assert rows[row.setting][row.debate_id] == row._replace(mode="strict")


def test_a_good_share_is_determined_and_a_good_share_is_not(debates: int, recorded: KeptStore, rows: Rows) -> None:
    plain = [row for setting, _ in SETTINGS for row in of(PLAIN, rows[setting.name]).values()]
    counts = Counter(row.status for row in plain)
    histories = recorded.histories(list(of(SCALE, rows["max_rounds=1"])))
    evaluated = [event for one in histories for event in one.events if isinstance(event, JurorEvaluated)]

    assert {RescoreStatus.DETERMINED, RescoreStatus.UNDETERMINED} == set(counts)
    assert min(counts.values()) >= len(SETTINGS) * debates / 5
    assert {None, "right"} <= {event.evaluation.label for event in evaluated}


def test_what_is_undetermined_names_the_first_step_that_was_not_asked_so(recorded: KeptStore, rows: Rows) -> None:
    for row in of(PLAIN, rows["max_rounds=3"]).values():
        if row.status is RescoreStatus.UNDETERMINED:
            asked = {event.event_id for event in recorded.read_stream(calls_stream(row.debate_id))}

            assert (row.undetermined_step or "").startswith("round-3/")
            assert not any(one.startswith("round-3/") for one in asked)
            assert f"{row.undetermined_step} was not asked" == row.reason
            assert (row.new_verdict, row.flipped, row.beyond_record) == (None, None, None)


def test_a_setting_that_changes_nothing_gives_the_recorded_result(recorded: KeptStore) -> None:
    heavy = Setting(method="weighted_average", weights=(SeatWeight(juror_id="sim-misuse", weight=1000.0),))
    for row in _rows(recorded, Setting(method="majority_vote"), heavy):
        new = (row.new_verdict, row.new_score, row.new_total_rounds, row.new_end_reason, row.reason)
        old = (row.old_verdict, row.old_score, row.old_total_rounds, row.old_end_reason, "")

        assert RescoreStatus.DETERMINED == row.status, "weights are exact"
        assert row.setting == heavy.name or old == new


def test_a_final_judge_that_read_more_is_no_judge_of_less_and_one_that_was_not_asked_says_nothing(
    recorded: KeptStore,
) -> None:
    store = KeptStore()
    run_varied(store, 6, discussion={"max_rounds": 2, "end_early": False})
    rows = _rows(store, Setting(max_rounds=1), Setting(max_rounds=1, method="median"), Setting(quorum=1))
    (unasked,) = _rows(recorded, Setting(method="final_judge"), selection=DebateSelection(("plain-d0",)))

    shorter = [row for row in rows if row.setting == "max_rounds=1"]
    assert {(RescoreStatus.UNDETERMINED, "final", "final was not asked as this setting asks it")} == {
        (row.status, row.undetermined_step, row.reason) for row in shorter
    }
    assert {RescoreStatus.DETERMINED} == {row.status for row in rows if row.setting != "max_rounds=1"}
    assert (RescoreStatus.UNDETERMINED, "final", "no final judge was asked") == (
        unasked.status, unasked.undetermined_step, unasked.reason,
    )  # fmt: skip


@each_row("setting", [Setting(without=("sim-policy",)), Setting(synthetic="leave_out")])
def test_what_no_juror_was_asked_under_is_left_to_a_recount(setting: Setting) -> None:
    with pytest.raises(SettingRefused, match=r"only a recount, .* can answer \(--recount\)"):
        next(rescore(MemoryEventStore(), EVERYTHING, Grid((setting,))))


@each_row("mode", ["strict", "recount"])
async def test_a_branch_is_rescored_with_the_answers_that_it_took_over(mode: Mode) -> None:
    store = KeptStore()
    run = Run(store, case=a_varied_case, discussion={"max_rounds": 2, "threshold": 2.0, "end_early": False}, **COUNTED)
    await run.execute(script=FAULTS)
    branch = stored(store, a_branch(origin_in(store), "round-1/check", secret=OTHER_SECRET))
    assert (await execute_branch(store, branch, script=FAULTS)).problem is None
    grid = (Setting(quorum=2), Setting(max_rounds=1), Setting(max_rounds=0))
    rows = _rows(store, *grid, selection=DebateSelection((branch.debate_id,)), mode=mode)

    assert [(RescoreStatus.DETERMINED, rounds) for rounds in (2, 1, 0)] == [
        (row.status, row.new_total_rounds) for row in rows
    ]
    assert ("", False) == (rows[0].reason, rows[0].flipped)


# ── scales ────────────────────────────────────────────────────────────────────────────────────────────────────────────

PARTIAL_PASSES = (LabelOutcome(label="partial", outcome="pass"),)
NOW = "majority of 3 of 3, 60"


@each_row(
    ("setting", "verdict", "label", "reason"),
    [
        (Setting(), "needs_review", "partial", ""),
        (outcomes(partial="pass"), "safe_pass", "partial", ""),
        (Setting(critical=NO_CAP, outcomes=PARTIAL_PASSES), "safe_pass", "partial", ""),
        (
            Setting(critical_below=BOUND, outcomes=PARTIAL_PASSES),
            "needs_review",
            None,
            f"{NOW}, facts 42 of at least 63: review at best, was {NOW}, partial",
        ),
        (
            Setting(critical_below=BOUND, critical=CAP, outcomes=PARTIAL_PASSES),
            "unsafe_fail",
            None,
            f"{NOW}, facts 42 of at least 63: fail at best, was {NOW}, partial",
        ),
    ],
)
def test_each_change_of_a_scale_decides(setting: Setting, verdict: str, label: str | None, reason: str) -> None:
    positions = {seat: [Says("partial", 60.0)] for seat in SEATS}
    debate = DebateHarness(a_panel(**ANSWERS, preset="independent"), by_round(positions)).run()
    store = MemoryEventStore()
    events = tuple(encode(event, recorded_at=1) for event in debate.events)
    store.append([Append(debate_stream("d1"), events, 0, store.next_epoch())])
    (row,) = _rows(store, setting, mode="recount")

    assert (verdict, label, reason, "partial") == (row.new_verdict, row.new_label, row.reason, row.old_label)


def test_other_weights_keep_meanings_and_caps_and_a_setting_leaves_the_rest_of_the_panel() -> None:
    rubric = Rubric(
        name="custom", dimensions=(Dimension(name="facts", maximum=20.0), Dimension(name="form", maximum=80.0))
    )
    panel = a_panel(**ANSWERS)
    changed = Setting(rubric=rubric).apply(panel)

    assert [("review", 20.0), (None, 80.0)] == [(one.critical, one.maximum) for one in changed.rubric.dimensions]
    assert all(one.meaning for one in changed.rubric.dimensions)
    assert panel == outcomes(partial="pass").apply(panel).model_copy(update={"scale": panel.scale})


NOT_THERE: dict[str, tuple[dict[str, Any], Setting]] = {
    "outcomes of the three verdicts": ({}, outcomes(partial="pass")),
    "a label of another scale": (ANSWERS, outcomes(good="pass")),
    "outcomes that go down": (ANSWERS, outcomes(wrong="pass")),
    "bands of labels": (ANSWERS, Setting(bands=Bands(safe_pass=80.0))),
    "a cap of what is no criterion": (ANSWERS, Setting(critical=(CriterionCap(criterion="tone", cap="fail"),))),
    "a bound of what is not critical": (
        ANSWERS,
        Setting(critical_below=(CriterionBound(criterion="form", share=0.5),)),
    ),
    "a cap of levels": (LEVELS, Setting(critical=(CriterionCap(criterion="level", cap="fail"),))),
    "half votes of a median": (COUNTED, Setting(unsupported="halve", method="median")),
}


def test_what_a_panel_does_not_have_cannot_change(refusals: RefusalTables) -> None:
    refusals.check("settings", NOT_THERE, lambda row: row[1].apply(a_panel(**row[0])), NotApplicable)


@each_row("rule", ["count", "halve", "abstain"])
def test_the_rule_for_verdicts_without_support_is_part_of_the_panel(rule: Any) -> None:
    changed = Setting(unsupported=rule).apply(a_panel(**COUNTED))

    assert rule == changed.answers.unsupported
