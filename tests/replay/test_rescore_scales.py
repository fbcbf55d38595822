"""Rescoring under labels: other outcomes and bounds of critical criteria as they come out live; other weights."""

import asyncio
from typing import Any, Literal

import pytest

from jury_debate import PanelSpec, resolve
from jury_events import Bands, Dimension, JurorEvaluated, OutcomeWord, Panel, Rubric, debate_stream, encode
from jury_replay import (
    EVERYTHING,
    CriterionBound,
    CriterionCap,
    Grid,
    LabelOutcome,
    NotApplicable,
    ReplayStatus,
    RescoreRow,
    RescoreStatus,
    Setting,
    replay_history,
    rescore,
)
from jury_store import Append, EventStore, MemoryEventStore
from support.debate_harness import SEATS, DebateHarness, Says, a_panel, by_round
from support.runtime_harness import KeptStore, Run
from support.scales import ANSWERS, LEVELS
from support.varied import FAULTS, a_varied_case

Mode = Literal["strict", "recount"]
DEBATES = 6
RULES: dict[str, Any] = {"discussion": {"max_rounds": 1, "threshold": 0.67}, "final": {"method": "majority_vote"}}


def outcomes(**words: OutcomeWord) -> Setting:
    return Setting(outcomes=tuple(LabelOutcome(label=label, outcome=word) for label, word in words.items()))


def hold(**spec: Any) -> EventStore:
    """The same debates with simulated jurors, under a panel."""
    store = KeptStore()
    run = Run(store, debates=DEBATES, case=a_varied_case)
    run.resolved = resolve(PanelSpec.model_validate({**ANSWERS, **RULES, **spec}), prompts=run.prompts)
    asyncio.run(run.execute(script=FAULTS))
    return store


def with_outcome(label: str, outcome: str) -> dict[str, Any]:
    labels = [{**one, "outcome": outcome} if one["id"] == label else one for one in ANSWERS["scale"]["labels"]]
    return {"scale": {**ANSWERS["scale"], "labels": labels}}


def with_critical(**fields: Any) -> dict[str, Any]:
    return {"criteria": [{**ANSWERS["criteria"][0], **fields}, ANSWERS["criteria"][1]]}


PARTIAL_PASSES = (LabelOutcome(label="partial", outcome="pass"),)
BOUND = (CriterionBound(criterion="facts", share=0.9),)
CAP = (CriterionCap(criterion="facts", cap="fail"),)
CHANGES: dict[str, tuple[Setting, dict[str, Any]]] = {
    "a label that passes": (outcomes(partial="pass"), with_outcome("partial", "pass")),
    "a label that fails": (outcomes(partial="fail"), with_outcome("partial", "fail")),
    "a cap": (Setting(critical=(CriterionCap(criterion="facts", cap="fail"),)), with_critical(critical="fail")),
    "no cap": (Setting(critical=(CriterionCap(criterion="facts", cap="off"),)), with_critical(critical=False)),
    "a bound": (
        Setting(critical_below=(CriterionBound(criterion="facts", share=0.9),)),
        with_critical(critical_below=0.9),
    ),
}


@pytest.fixture(scope="module")
def recorded() -> EventStore:
    return hold()


def rows_of(store: EventStore, setting: Setting, mode: Mode) -> dict[str, RescoreRow]:
    found: dict[str, RescoreRow] = {}
    for rows in rescore(store, EVERYTHING, Grid((setting,)), mode=mode):
        assert isinstance(rows, list), rows
        found |= {row.debate_id: row for row in rows}
    return found


def verdicts(store: EventStore) -> dict[str, tuple[str | None, int | None]]:
    return {debate: (row.old_verdict, row.old_score) for debate, row in rows_of(store, Setting(), "recount").items()}


def test_the_record_has_labels_and_replays_equal(recorded: EventStore) -> None:
    labels = set()
    for history in recorded.histories([f"d{number}" for number in range(DEBATES)]):
        assert ReplayStatus.EQUAL is replay_history(history).status
        labels |= {event.evaluation.label for event in history.events if isinstance(event, JurorEvaluated)}
    assert {None, "right"} <= labels


@pytest.mark.parametrize("mode", ["strict", "recount"])
@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_outcome_or_bound_comes_out_as_it_does_live(recorded: EventStore, change: str, mode: Mode) -> None:
    setting, spec = CHANGES[change]
    live = verdicts(hold(**spec))

    rows = rows_of(recorded, setting, mode)

    assert {RescoreStatus.DETERMINED} == {row.status for row in rows.values()}
    assert live == {debate: (row.new_verdict, row.new_score) for debate, row in rows.items()}


NOW = "majority of 3 of 3, 60"


@pytest.mark.parametrize(
    ("setting", "verdict", "label", "reason"),
    [
        (Setting(), "needs_review", "partial", ""),
        (outcomes(partial="pass"), "safe_pass", "partial", ""),
        (
            Setting(critical=(CriterionCap(criterion="facts", cap="off"),), outcomes=PARTIAL_PASSES),
            "safe_pass",
            "partial",
            "",
        ),
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
def test_each_change_decides(setting: Setting, verdict: str, label: str | None, reason: str) -> None:
    positions = {seat: [Says("partial", 60.0)] for seat in SEATS}
    debate = DebateHarness(a_panel(**ANSWERS, preset="independent"), by_round(positions)).run()
    store = MemoryEventStore()
    events = tuple(encode(event, recorded_at=1) for event in debate.events)
    store.append([Append(debate_stream("d1"), events, 0, store.next_epoch())])

    row = rows_of(store, setting, "recount")["d1"]
    assert (verdict, label, reason, "partial") == (row.new_verdict, row.new_label, row.reason, row.old_label)


def test_other_weights_keep_meanings_and_caps_and_are_an_assumption(recorded: EventStore) -> None:
    rubric = Rubric(
        name="custom", dimensions=(Dimension(name="facts", maximum=20.0), Dimension(name="form", maximum=80.0))
    )
    changed = Setting(rubric=rubric).apply(a_panel(**ANSWERS))
    rows = rows_of(recorded, Setting(rubric=rubric), "recount")

    assert [("review", 20.0), (None, 80.0)] == [(one.critical, one.maximum) for one in changed.rubric.dimensions]
    assert all(one.meaning for one in changed.rubric.dimensions)
    assert {RescoreStatus.BY_ASSUMPTION} == {row.status for row in rows.values()}


REFUSED = [
    ({}, outcomes(partial="pass"), "judges in the three verdicts"),
    (ANSWERS, outcomes(good="pass"), "the scale has no label good; it has wrong, partial, right"),
    (ANSWERS, outcomes(wrong="pass"), "order the labels"),
    (ANSWERS, Setting(bands=Bands(safe_pass=80.0)), "bands have no effect"),
    (ANSWERS, Setting(critical=(CriterionCap(criterion="tone", cap="fail"),)), "tone is no criterion"),
    (ANSWERS, Setting(critical_below=(CriterionBound(criterion="form", share=0.5),)), "form is not critical"),
    (LEVELS, Setting(critical=(CriterionCap(criterion="level", cap="fail"),)), "no points were asked for"),
]


def test_what_a_panel_does_not_have_cannot_change(subtests: pytest.Subtests) -> None:
    for spec, setting, message in REFUSED:
        with subtests.test(spec=spec), pytest.raises(NotApplicable, match=message):
            setting.apply(a_panel(**spec))


def test_a_setting_of_a_scale_leaves_the_rest_of_the_panel(recorded: EventStore) -> None:
    panel: Panel = resolve(PanelSpec.model_validate({**ANSWERS, **RULES})).panel
    changed = outcomes(partial="pass").apply(panel)

    assert panel == changed.model_copy(update={"scale": panel.scale})
    assert recorded
