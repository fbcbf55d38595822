"""Statistics of debates under scales of the panels' own: labels are counted, and never those of two scales together."""

import random
from collections.abc import Iterator, Sequence
from typing import Any

import krippendorff
import numpy as np
import pytest

from jury_analysis.calibration import CalibrationOptions
from jury_analysis.gate import GateOptions
from jury_analysis.pairing import PairedOptions
from jury_analysis.scale import OURS, Scale
from jury_analysis.statistics import Statistics, StatisticsOptions, statistics
from jury_events.errors import SettingError
from jury_events.outcome import CallOutcome
from jury_events.verdict import Verdict
from jury_judge.settings.vote_sources import Count
from jury_judge.statistics.calibrating import calibrate_stored
from jury_judge.statistics.gates import decide, sides_of_runs
from jury_judge.tables.ballot_sources import Votes, stored_ballots
from jury_judge.tables.counted_words import counted_words
from jury_store.debate_rows import EVERY_DEBATE
from jury_store.event_store import EventStore
from jury_store.opening import open_store
from support.debate_harness import SEATS, Answer, DebateHarness, Says, a_case, a_panel, by_round
from support.scales import ANSWERS, LEVELS, YES_NO
from support.stored_debates import store_debate

pytestmark = pytest.mark.full_for("postgresql")

VERDICTS: dict[str, Any] = {}
"""A panel without a scale of its own."""


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> str:
    if request.param == "postgresql":
        return str(request.getfixturevalue("postgres_url"))
    return str(request.getfixturevalue("sqlite_url"))


@pytest.fixture
def store(url: str) -> Iterator[EventStore]:
    opened = open_store(url, write=True)
    yield opened
    opened.close()


def judge(
    store: EventStore,
    spec: dict[str, Any],
    rows: Sequence[Sequence[str | Answer]],
    labels: Sequence[tuple[Verdict, str] | None] = (),
    run_id: str = "r1",
) -> None:
    """Debates of a run: in each, the three seats vote so; labels of people are an outcome and a word."""
    panel = a_panel(*SEATS, prompts=2, preset="independent", **spec)
    for number, row in enumerate(rows):
        answers = [[word if isinstance(word, CallOutcome) else Says(str(word), 80.0)] for word in row]
        label = labels[number] if number < len(labels) else None
        case = a_case(
            label=None if label is None else label[0], metadata={} if label is None else {"scale_label": label[1]}
        )
        debate = DebateHarness(panel, by_round(dict(zip(SEATS, answers, strict=True))), case=case, prompts=2).run()
        store_debate(store, debate, f"{run_id}~c{number:03}", run_id=run_id, case_id=f"c{number:03}")


def counted(store: EventStore, count: Count | None = None) -> Statistics:
    ballots = stored_ballots(store)
    votes = Votes(ballots, None, counted_words(store, ballots, count).words)
    scale = OURS if votes.words.labels_of is None else Scale.of_labels(votes.words.labels_of)
    return statistics(votes.counted, None, StatisticsOptions(scale=scale, resamples=0))


def in_order(seats: Sequence[Any]) -> list[Any]:
    """The figures of seats in the order of the panel; reports sort them by name."""
    return sorted(seats, key=lambda one: SEATS.index(one.seat))


def levels(chance: random.Random, cases: int) -> list[list[str]]:
    return [[str(min(5, max(1, middle + chance.choice([-1, 0, 0, 1])))) for _ in SEATS] for middle in
            [chance.randint(1, 5) for _ in range(cases)]]  # fmt: skip


def test_labels_are_counted_with_their_order_and_levels_as_numbers(store: EventStore) -> None:
    rows = levels(random.Random(28), 30)
    outcomes = [(Verdict.SAFE_PASS if row[0] in "45" else Verdict.UNSAFE_FAIL, row[0]) for row in rows]
    judge(store, LEVELS, rows, outcomes)

    found = counted(store)
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


def test_passes_and_fails_are_those_of_the_outcomes(store: EventStore) -> None:
    rows = [["5", "4", "2"], ["4", "4", "4"], ["2", "1", "5"], ["1", "3", "3"]]
    judge(store, LEVELS, rows, [(Verdict.UNSAFE_FAIL, "2"), (Verdict.UNSAFE_FAIL, "1"), (Verdict.SAFE_PASS, "4"),
                                (Verdict.SAFE_PASS, "5")])  # fmt: skip

    against = counted(store).panels[0].against_labels

    assert ("5, 4", "2, 1") == (against.passing, against.failing)
    assert [2, 2, 1] == [seat.false_passes for seat in in_order(against.seats)]
    assert [2, 1, 0] == [seat.false_fails for seat in in_order(against.seats)]


def test_outcomes_are_counted_where_they_are_asked_for(store: EventStore) -> None:
    judge(store, ANSWERS, [["right", "partial", "wrong"], ["right", "right", "right"]])

    found = counted(store, "outcomes")

    assert (OURS.categories, None) == (found.categories, found.scale)
    assert "levels" not in found.to_dict()["panels"][0]
    assert [1, 1, 0] == [one.count for one in found.panels[0].shares]


def test_a_binary_scale_takes_outcomes_of_people_for_its_labels(store: EventStore) -> None:
    panel = a_panel(*SEATS, prompts=2, preset="independent", **YES_NO)
    for number, (said, label) in enumerate(
        [("yes", Verdict.SAFE_PASS), ("no", Verdict.SAFE_PASS), ("no", Verdict.UNSAFE_FAIL)]
    ):
        script = by_round({seat: [Says(said)] for seat in SEATS})
        store_debate(
            store, DebateHarness(panel, script, case=a_case(label=label), prompts=2).run(), f"c{number}", run_id="r"
        )

    against = counted(store).panels[0].against_labels

    assert ((1, 1, 0), (0, 1, 0)) == against.panel.confusion
    assert ("yes", "no") == (against.passing, against.failing)


def test_what_stands_in_for_a_blocked_answer_has_no_label(store: EventStore) -> None:
    judge(store, ANSWERS, [["right", "right", CallOutcome.BLOCKED], ["wrong", "wrong", "partial"]])

    found = counted(store)

    assert ("right", "partial", "wrong") == found.categories
    assert [1, 0, 1] == [one.count for one in found.panels[0].shares]


def test_labels_of_two_scales_are_not_counted_together(store: EventStore) -> None:
    judge(store, ANSWERS, [["right"] * 3], run_id="a")
    judge(store, YES_NO, [["yes"] * 3], run_id="b")
    ballots = stored_ballots(store)

    words = counted_words(store, ballots, None)

    assert (OURS.categories[::-1], None) == (words.words.categories[::-1], words.words.labels_of)
    assert words.chosen.mixed.startswith("the debates are judged in 2 scales (")
    assert words.chosen.mixed.endswith("): their outcomes are counted, and no label")
    with pytest.raises(SettingError, match="labels are not counted together"):
        counted_words(store, ballots, "labels")


def test_a_changed_meaning_is_another_scale_and_a_changed_name_is_none(store: EventStore) -> None:
    labels = YES_NO["scale"]["labels"]
    judge(store, YES_NO, [["yes"] * 3], run_id="a")
    judge(store, {"scale": {"name": "renamed", "labels": labels}}, [["yes"] * 3], run_id="b")
    same = counted_words(store, stored_ballots(store), "labels")
    other = [{**labels[0], "meaning": "It was hardly done."}, labels[1]]
    judge(store, {"scale": {"labels": other}}, [["yes"] * 3], run_id="c")

    assert ("yes", "no") == same.words.categories
    with pytest.raises(SettingError, match="2 scales"):
        counted_words(store, stored_ballots(store), "labels")


def test_panels_without_a_scale_are_counted_as_before(store: EventStore) -> None:
    judge(store, VERDICTS, [["safe_pass"] * 3, ["unsafe_fail"] * 3])
    ballots = stored_ballots(store)

    assert {"vote_label", "final_label", "human_label"}.isdisjoint(ballots.column_names)
    assert OURS.categories == counted_words(store, ballots, "labels").words.categories
    assert "scale" not in counted(store).to_dict()


def test_a_calibration_counts_outcomes_unless_it_is_asked_for_labels(store: EventStore) -> None:
    chance = random.Random(3)
    rows = [[chance.choice(["4", "5"])] * 3 for _ in range(60)]
    judge(store, LEVELS, rows, [(Verdict.SAFE_PASS, "5")] * 60)
    options = CalibrationOptions(risk=0.2, confidence=0.8)

    outcomes = calibrate_stored(store, EVERY_DEBATE, (), None, options)
    labels = calibrate_stored(store, EVERY_DEBATE, (), None, options, count="labels")

    assert (OURS.categories, 1.0) == (outcomes.report.categories, outcomes.report.certificate.threshold)
    assert (("5", "4", "3", "2", "1"), None) == (labels.report.categories, labels.report.certificate.threshold)
    assert outcomes.file_bytes().startswith(b'{"calibration":')
    with pytest.raises(SettingError, match="a panel applies a calibration of outcomes"):
        labels.file_bytes()


def test_a_label_that_asks_for_a_person_is_never_accepted(store: EventStore) -> None:
    judge(store, LEVELS, [["3"] * 3] * 40, [(Verdict.NEEDS_REVIEW, "3")] * 40)

    found = calibrate_stored(
        store, EVERY_DEBATE, (), None, CalibrationOptions(risk=0.2, confidence=0.8), count="labels"
    )

    assert 0 == found.report.certificate.subject


def test_a_gate_counts_outcomes_unless_it_is_asked_for_labels(store: EventStore) -> None:
    judge(store, LEVELS, [["5"] * 3] * 12, run_id="a")
    judge(store, LEVELS, [["4"] * 3] * 12, run_id="b")
    options = GateOptions(paired=PairedOptions())

    outcomes = decide(sides_of_runs(store, "a", "b"), None, options)
    labels = decide(sides_of_runs(store, "a", "b", count="labels"), None, options)

    assert (12, 0) == (outcomes.paired.unchanged, labels.paired.unchanged)
    assert 12 == labels.paired.towards_last
