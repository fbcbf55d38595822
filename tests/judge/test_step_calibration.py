"""Calibrations on agreement about the decisive item: what is certified on recorded debates is what judgments apply."""

import json
import random
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from jury_analysis import LABELS, OURS, SCHEMA, CalibrationOptions, check, last_votes, signal_values
from jury_analysis.last_votes import STEP_COLUMNS
from jury_debate import PanelSpec, panel_digest, resolve
from jury_events import Acceptance, CallOutcome, Panel, VotesStepSignal
from jury_judge import AnalysisError, FoundCalibration, Records, read_calibration, stored_ballots
from jury_judge.tables.counted_ballots import COUNTED_COLUMNS, counted_ballots
from jury_replay import Grid, RecountRescoring, RescoreStatus, Setting
from jury_store import EventStore, open_store
from support.calibrations import a_calibration
from support.debate_harness import SEATS, Answer, DebateHarness, Says, a_panel, by_round
from support.stored_debates import store_debate

P, R, F = OURS.categories
ITEM = VotesStepSignal(passing=P, step="item")
EXACT = "order 17"


@pytest.fixture
def store(sqlite_url: str) -> Iterator[EventStore]:
    opened = open_store(sqlite_url, write=True)
    yield opened
    opened.close()


async def calibrated(url: str, labels: pa.Table, **options: Any) -> FoundCalibration:
    async with Records(url) as records:
        return await records.calibrate(labels=labels, options=CalibrationOptions(simulated=True, **options))


def says(verdict: str, item: int | None = None, *, quotes: bool = True) -> Says:
    evidence = ({"item": 1, "quote": EXACT if quotes else "Never said by anyone."},)
    return Says(verdict, 90.0 if verdict == P else 10.0, evidence=evidence, decisive_item=item)


def an_answer(chance: random.Random) -> Answer:
    if chance.random() < 0.2:
        return chance.choice([CallOutcome.BLOCKED, CallOutcome.TIMEOUT])
    item = chance.choice([None, 1, 1, 1, 1, 2])
    return says(chance.choice([P, R, F, F, F, F, F]), item, quotes=chance.random() < 0.6)


def live(panel: Panel, script: Any, threshold: float) -> Acceptance:
    """The acceptance of the debate under a calibration of its panel."""
    calibration = a_calibration(signal=ITEM, threshold=threshold, panel=panel_digest(panel))
    calibrated = panel.changed(final=panel.final.changed(calibration=calibration))
    judgment = DebateHarness(calibrated, script).run().debate.state.judgment
    assert judgment is not None
    assert judgment.acceptance is not None
    return judgment.acceptance


ROUNDS = ("independent", "parallel-rounds")
WAYS = product(ROUNDS, ("majority_vote", "weighted_average", "final_judge"), ("count", "halve", "abstain"))


@pytest.mark.parametrize(
    ("preset", "method", "rule"),
    [pytest.param(*one, marks=[pytest.mark.full] if number % 5 else []) for number, one in enumerate(WAYS)],
)
def test_what_a_judgment_accepts_is_what_the_statistics_accept(
    store: EventStore, preset: str, method: str, rule: str
) -> None:
    final, answers = {"method": method, "quorum": 1}, {"unsupported": rule}
    panel = a_panel(*SEATS, preset=preset, final=final, answers=answers)
    chance = random.Random(f"{preset} {method} {rule}")
    threshold = chance.choice(ITEM.levels(3))
    applied: dict[str, Acceptance] = {}
    setting = Setting(calibration=a_calibration(signal=ITEM, threshold=threshold, panel=panel_digest(panel)))
    for number in range(12):
        judge = CallOutcome.TIMEOUT if chance.random() < 0.3 else an_answer(chance)
        script = by_round({seat: [an_answer(chance) for _ in range(4)] for seat in SEATS}, judge)
        debate = DebateHarness(panel, script).run()
        applied[f"d{number:02}"] = live(panel, script, threshold)
        store_debate(store, debate, f"d{number:02}")

    ballots = counted_ballots(store, stored_ballots(store, columns=COUNTED_COLUMNS))
    votes = last_votes(check(ballots, (*SCHEMA.names, *STEP_COLUMNS)), OURS)
    values = dict(zip(votes.matrix.debates.to_pylist(), signal_values(ITEM, votes).tolist(), strict=True))

    for debate, acceptance in applied.items():
        value = None if np.isnan(values[debate]) else values[debate]
        assert value == acceptance.probability, debate
        assert acceptance.accepted == (value is not None and value >= threshold), debate
    rescored = RecountRescoring(Grid((setting,)))(store, sorted(applied))
    assert [F if one.accepted and one.verdict == F else P if one.accepted else R for one in applied.values()] == [
        rows[0].new_verdict for rows in rescored if isinstance(rows, list)
    ]


@pytest.mark.parametrize(
    ("rounds", "judge", "voting", "value"),
    [
        # A judge decides as it does: the two unsupported seats count.
        ([[says(F, 1, quotes=False)], [says(F, 1, quotes=False)], [says(P)]], says(F, 1), 3, 5 / 6),
        # It fails, and the majority of those that do not abstain decides.
        ([[says(F, 1, quotes=False)], [says(F, 1)], [says(F, 1)]], CallOutcome.TIMEOUT, 2, 5 / 6),
        # An unsupported vote that is repeated in the next round abstains there too.
        ([[says(F, 1, quotes=False), CallOutcome.TIMEOUT], [says(F, 1)], [says(F, 1)]], CallOutcome.TIMEOUT, 2, 5 / 6),
        # A supported one that is repeated counts, with its item.
        ([[says(F, 1), CallOutcome.TIMEOUT], [says(F, 1)], [says(F, 2)]], CallOutcome.TIMEOUT, 3, 5 / 6),
    ],
)
def test_seats_that_abstain_for_lack_of_support(
    store: EventStore, rounds: list[list[Answer]], judge: Answer, voting: int, value: float
) -> None:
    panel = a_panel(
        *SEATS,
        preset="parallel-rounds",
        discussion={"max_rounds": 1, "always_discuss": True},
        final={"method": "final_judge", "quorum": 1},
        answers={"unsupported": "abstain"},
    )
    script = by_round(dict(zip(SEATS, rounds, strict=True)), judge)
    store_debate(store, DebateHarness(panel, script).run(), "d")
    ballots = counted_ballots(store, stored_ballots(store, columns=COUNTED_COLUMNS))
    votes = last_votes(check(ballots, (*SCHEMA.names, *STEP_COLUMNS)), OURS)

    assert value == pytest.approx(live(panel, script, 0.7).probability, abs=1e-9)
    assert [value] == pytest.approx(signal_values(ITEM, votes).tolist(), abs=1e-9)
    assert voting == sum(vote.verdict is not None for vote in votes.votes_of(0))


def a_run(store: EventStore, prompts: int = 1, **spec: Any) -> Panel:
    """60 debates: failing verdicts whose seats agree on an item, others that do not, and passes."""
    panel = a_panel(*SEATS, prompts=prompts, preset="independent", **spec)
    kinds = ([says(F, 1)] * 3, [says(F, 1), says(F, 1), says(P)], [says(F, 1), says(F, 2), says(F)], [says(P)] * 3)
    store_60(store, [debate_of(panel, kind, prompts) for kind in kinds])
    return panel


def debate_of(panel: Panel, answers: Sequence[Answer], prompts: int = 1) -> DebateHarness:
    script = by_round({seat: [one] for seat, one in zip(SEATS, answers, strict=True)})
    return DebateHarness(panel, script, prompts=prompts).run()


def store_60(store: EventStore, debates: Sequence[DebateHarness]) -> None:
    for number in range(60):
        store_debate(store, debates[number % len(debates)], f"c{number:02}")


def labels(rights: tuple[bool, ...]) -> Any:
    """Of the four kinds of `a_run`."""
    verdicts = (F, F, F, P)
    rows = [
        {
            "case_id": f"c{number:02}",
            "label": verdicts[number % 4] if rights[number % 4] else (P if verdicts[number % 4] == F else F),
            "annotator": "ann",
        }
        for number in range(60)
    ]
    return pa.Table.from_pylist(rows, LABELS)


async def test_from_stored_debates_to_a_panel_that_takes_the_calibration(
    store: EventStore, sqlite_url: str, tmp_path: Path
) -> None:
    panel = a_run(store)
    found = await calibrated(sqlite_url, labels((True, True, False, False)), signal="votes+step", risk=0.1)
    (tmp_path / "cal.json").write_bytes(found.file_bytes())
    calibration = read_calibration(tmp_path / "cal.json").calibration
    spec = {
        "preset": "independent",
        "seats": [{"model": "simulated/juror", "juror_id": juror} for juror in SEATS],
        "final": {"calibration": calibration},
    }
    resolved = resolve(PanelSpec.model_validate(spec))

    assert 2 == json.loads(found.file_bytes())["calibration"]
    assert (VotesStepSignal(passing=P, step="item"), 0.833333333) == (calibration.signal, calibration.threshold)
    assert found.report.votes_alone is not None
    assert found.report.votes_alone.certificate.threshold is None
    assert 2 == resolved.prompts
    assert panel_digest(panel) == calibration.panel
    for answers, verdict in (([says(F, 1)] * 3, F), ([says(F, 1), says(F, 2), says(F)], R), ([says(P)] * 3, R)):
        judgment = debate_of(resolved.panel, answers).debate.state.judgment
        assert judgment is not None
        assert verdict == judgment.verdict


@pytest.mark.parametrize("spec", [{"prompts": 1}, {"answers": {"evidence": "off"}}])
async def test_debates_whose_jurors_name_no_item_are_refused(
    store: EventStore, sqlite_url: str, spec: dict[str, Any]
) -> None:
    a_run(store, **spec)

    with pytest.raises(AnalysisError, match="no vote names one"):
        await calibrated(sqlite_url, labels((True,) * 4), signal="votes+step")


def test_debates_under_prompts_1_are_not_rescored_under_such_a_calibration(store: EventStore) -> None:
    panel = a_run(store)
    setting = Setting(calibration=a_calibration(signal=ITEM, panel=panel_digest(panel)))
    found = RecountRescoring(Grid((setting,)))(store, ["c00"])

    assert [(RescoreStatus.NOT_APPLICABLE, True)] == [
        (rows[0].status, "under prompts 1 jurors name none" in rows[0].reason)
        for rows in found
        if isinstance(rows, list)
    ]


@pytest.mark.parametrize(("rule", "accepted"), [("count", 60), ("abstain", 0)])
async def test_the_share_too_counts_no_vote_that_abstains_for_lack_of_support(
    store: EventStore, sqlite_url: str, rule: str, accepted: int
) -> None:
    """Of three failing verdicts one quotes what is there: of these debates the jury's verdict has one vote of three."""
    panel = a_panel(*SEATS, preset="independent", answers={"unsupported": rule}, final={"quorum": 1})
    answers = (says(F, 1), says(F, 1, quotes=False), says(F, 1, quotes=False))
    store_60(store, [debate_of(panel, answers)])
    given = pa.Table.from_pylist(
        [{"case_id": f"c{number:02}", "label": F, "annotator": "ann"} for number in range(60)], LABELS
    )
    found = await calibrated(sqlite_url, given)

    at_most = [one.accepted for one in found.report.certificate.candidates if one.threshold == 1.0]
    assert accepted == sum(at_most)
