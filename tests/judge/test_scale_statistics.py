"""Statistics of debates under scales of the panels' own: labels are counted, and never those of two scales together."""

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from jury_analysis import OURS, CalibrationOptions, GateOptions, PairedOptions, Statistics, StatisticsOptions
from jury_events import CallOutcome, SettingError, Verdict
from jury_judge import Count, Records
from jury_store import EventStore
from support.debate_harness import SEATS, Answer, DebateHarness, Says, a_case, a_panel, by_round
from support.scales import ANSWERS, LEVELS, YES_NO
from support.stored_debates import store_debate


def judge(
    store: EventStore,
    spec: dict[str, Any],
    rows: Sequence[Sequence[str | Answer]],
    labels: Sequence[tuple[Verdict, str] | None] = (),
    run_id: str = "r1",
) -> None:
    """Debates of a run: in each, the three seats vote so; labels of people are an outcome and a word."""
    panel = a_panel(*SEATS, preset="independent", **spec)
    for number, row in enumerate(rows):
        answers = [[word if isinstance(word, CallOutcome) else Says(str(word), 80.0)] for word in row]
        label = labels[number] if number < len(labels) else None
        case = a_case(
            label=None if label is None else label[0], metadata={} if label is None else {"scale_label": label[1]}
        )
        debate = DebateHarness(panel, by_round(dict(zip(SEATS, answers, strict=True))), case=case).run()
        store_debate(store, debate, f"{run_id}~c{number:03}", run_id=run_id, case_id=f"c{number:03}")


async def counted(url: str, count: Count | None = None) -> Statistics:
    async with Records(url) as records:
        return await records.stats(options=StatisticsOptions(resamples=0, simulated=True, by_panel=True), count=count)


def in_order(seats: Sequence[Any]) -> list[Any]:
    """The figures of seats in the order of the panel; reports sort them by name."""
    return sorted(seats, key=lambda one: SEATS.index(one.seat))


def levels(chance: random.Random, cases: int) -> list[list[str]]:
    return [[str(min(5, max(1, middle + chance.choice([-1, 0, 0, 1])))) for _ in SEATS] for middle in
            [chance.randint(1, 5) for _ in range(cases)]]  # fmt: skip


async def test_labels_are_counted_with_their_order_and_levels_as_numbers(store: EventStore, sqlite_url: str) -> None:
    import krippendorff

    rows = levels(random.Random(28), 30)
    outcomes = [(Verdict.SAFE_PASS if row[0] in "45" else Verdict.UNSAFE_FAIL, row[0]) for row in rows]
    judge(store, LEVELS, rows, outcomes)

    found = await counted(sqlite_url)
    (panel,) = found.panels

    assert ("5", "4", "3", "2", "1") == found.categories
    assert found.scale is not None
    assert {"5": "pass", "4": "pass", "3": "review", "2": "fail", "1": "fail"} == found.scale.outcomes
    numbers = np.array(rows, dtype=float)
    ordinal = krippendorff.alpha(numbers.T, level_of_measurement="ordinal", value_domain=[1, 2, 3, 4, 5])
    assert ordinal == pytest.approx(panel.agreement.alpha_ordinal.value)
    assert panel.levels is not None
    assert panel.levels.labels is not None
    assert (1, 5) == (panel.levels.lowest, panel.levels.highest)
    assert numbers.mean(axis=0) == pytest.approx([seat.mean.value for seat in in_order(panel.levels.seats)])
    apart = numbers - numbers[:, [0]]
    assert apart.mean(axis=0) == pytest.approx([seat.difference.value for seat in in_order(panel.levels.seats)])
    assert np.abs(apart).mean(axis=0) == pytest.approx([seat.distance.value for seat in in_order(panel.levels.seats)])
    assert numbers.mean() == pytest.approx(panel.levels.panel.mean.value)
    right = [(numbers[:, 0] == numbers[:, place]).mean() for place in range(3)]
    assert right == pytest.approx([seat.accuracy.value for seat in in_order(panel.against_labels.seats)])


async def test_passes_and_fails_are_those_of_the_outcomes(store: EventStore, sqlite_url: str) -> None:
    rows = [["5", "4", "2"], ["4", "4", "4"], ["2", "1", "5"], ["1", "3", "3"]]
    judge(store, LEVELS, rows, [(Verdict.UNSAFE_FAIL, "2"), (Verdict.UNSAFE_FAIL, "1"), (Verdict.SAFE_PASS, "4"),
                                (Verdict.SAFE_PASS, "5")])  # fmt: skip

    against = (await counted(sqlite_url)).panels[0].against_labels

    assert ("5, 4", "2, 1") == (against.passing, against.failing)
    assert [2, 2, 1] == [seat.false_passes for seat in in_order(against.seats)]
    assert [2, 1, 0] == [seat.false_fails for seat in in_order(against.seats)]


async def test_outcomes_are_counted_where_they_are_asked_for(store: EventStore, sqlite_url: str) -> None:
    judge(store, ANSWERS, [["right", "partial", "wrong"], ["right", "right", "right"]])

    found = await counted(sqlite_url, "outcomes")

    assert (OURS.categories, None) == (found.categories, found.scale)
    assert found.to_dict()["panels"][0]["levels"] is None
    assert [1, 1, 0] == [one.count for one in found.panels[0].shares]


async def test_a_binary_scale_takes_outcomes_of_people_for_its_labels(store: EventStore, sqlite_url: str) -> None:
    panel = a_panel(*SEATS, preset="independent", **YES_NO)
    for number, (said, label) in enumerate(
        [("yes", Verdict.SAFE_PASS), ("no", Verdict.SAFE_PASS), ("no", Verdict.UNSAFE_FAIL)]
    ):
        script = by_round({seat: [Says(said)] for seat in SEATS})
        store_debate(store, DebateHarness(panel, script, case=a_case(label=label)).run(), f"c{number}", run_id="r")

    against = (await counted(sqlite_url)).panels[0].against_labels

    assert ((1, 1, 0), (0, 1, 0)) == against.panel.confusion
    assert ("yes", "no") == (against.passing, against.failing)


async def test_what_stands_in_for_a_blocked_answer_has_no_label(store: EventStore, sqlite_url: str) -> None:
    judge(store, ANSWERS, [["right", "right", CallOutcome.BLOCKED], ["wrong", "wrong", "partial"]])

    found = await counted(sqlite_url)

    assert ("right", "partial", "wrong") == found.categories
    assert [1, 0, 1] == [one.count for one in found.panels[0].shares]


async def test_labels_of_two_scales_are_not_counted_together(store: EventStore, sqlite_url: str) -> None:
    judge(store, ANSWERS, [["right"] * 3], run_id="a")
    judge(store, YES_NO, [["yes"] * 3], run_id="b")

    assert (OURS.categories, None) == ((found := await counted(sqlite_url)).categories, found.scale)
    with pytest.raises(SettingError, match="labels are not counted together"):
        await counted(sqlite_url, "labels")


async def test_a_changed_meaning_is_another_scale_and_another_name_is_none(store: EventStore, sqlite_url: str) -> None:
    labels = YES_NO["scale"]["labels"]
    judge(store, YES_NO, [["yes"] * 3], run_id="a")
    judge(store, {"scale": {"name": "renamed", "labels": labels}}, [["yes"] * 3], run_id="b")
    same = await counted(sqlite_url, "labels")
    other = [{**labels[0], "meaning": "It was hardly done."}, labels[1]]
    judge(store, {"scale": {"labels": other}}, [["yes"] * 3], run_id="c")

    assert ("yes", "no") == same.categories
    with pytest.raises(SettingError, match="2 scales"):
        await counted(sqlite_url, "labels")


async def test_a_calibration_counts_outcomes_unless_it_is_asked_for_labels(store: EventStore, sqlite_url: str) -> None:
    chance = random.Random(3)
    judge(store, LEVELS, [[chance.choice(["4", "5"])] * 3 for _ in range(60)], [(Verdict.SAFE_PASS, "5")] * 60)
    options = CalibrationOptions(risk=0.2, confidence=0.8, simulated=True)

    async with Records(sqlite_url) as records:
        outcomes = await records.calibrate(options=options)
        labels = await records.calibrate(options=options, count="labels")

    assert (OURS.categories, 1.0) == (outcomes.report.categories, outcomes.report.certificate.threshold)
    assert (("5", "4", "3", "2", "1"), None) == (labels.report.categories, labels.report.certificate.threshold)
    assert outcomes.file_bytes().startswith(b'{"calibration":')
    with pytest.raises(SettingError, match="a panel applies a calibration of outcomes"):
        labels.file_bytes()


async def test_a_gate_counts_outcomes_unless_it_is_asked_for_labels(store: EventStore, sqlite_url: str) -> None:
    judge(store, LEVELS, [["5"] * 3] * 12, run_id="a")
    judge(store, LEVELS, [["4"] * 3] * 12, run_id="b")
    options = GateOptions(paired=PairedOptions(simulated=True))

    async with Records(sqlite_url) as records:
        outcomes, labels = [await records.gate("a", "b", options=options, count=one) for one in ("outcomes", "labels")]

    assert (12, 0) == (outcomes.paired.unchanged, labels.paired.unchanged)
    assert 12 == labels.paired.towards_last
