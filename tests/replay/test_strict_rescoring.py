"""Strict rescoring never answers what was not asked: against really holding each debate under each setting."""

import asyncio
from collections import Counter
from typing import Any

import pytest

from jury_events import Bands, CoordinatorResumed, calls_stream, debate_stream, decode, encode_digest
from jury_replay import (
    EVERYTHING,
    DebateSelection,
    Grid,
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
from jury_store import EventStore
from support.branches import OTHER_SECRET, a_branch, execute_branch, origin_in, stored
from support.runtime_harness import KeptStore, Run
from support.varied import FAULTS, a_varied_case, run_varied

DEBATES = (12, pytest.param(200, marks=pytest.mark.long))
COUNTED: dict[str, Any] = {"final": {"method": "majority_vote"}}
BASE: dict[str, Any] = {"discussion": {"max_rounds": 2, "threshold": 1.0}, **COUNTED}

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


def _merged(changes: dict[str, Any]) -> dict[str, Any]:
    return {table: {**BASE[table], **changes.get(table, {})} for table in BASE}


def _events(store: EventStore, debate_id: str) -> list[Any]:
    texts = {encode_digest(digest): part.content for digest, part in store.parts(debate_id).items()}
    events = [decode(stored) for stored in store.read_stream(debate_stream(debate_id))]
    return [with_texts(one, texts.__getitem__) for one in events if not isinstance(one, CoordinatorResumed)]


def _rows(store: EventStore, *settings: Setting, selection: DebateSelection = EVERYTHING) -> list[RescoreRow]:
    found = list(rescore(store, selection, Grid(settings)))

    assert all(isinstance(rows, list) for rows in found)
    return [row for rows in found for row in rows]


@pytest.fixture(scope="module", params=DEBATES)
def debates(request: pytest.FixtureRequest) -> int:
    """How many there are."""
    found: int = request.param
    return found


@pytest.fixture(scope="module")
def recorded(debates: int) -> KeptStore:
    store = KeptStore()
    run_varied(store, debates, **BASE)
    return store


@pytest.fixture(scope="module")
def rows(recorded: KeptStore) -> dict[str, dict[str, RescoreRow]]:
    """By setting and debate, of the whole grid in one reading."""
    found: dict[str, dict[str, RescoreRow]] = {}
    for row in _rows(recorded, *(setting for setting, _ in SETTINGS)):
        found.setdefault(row.setting, {})[row.debate_id] = row
    return found


@pytest.mark.parametrize(("setting", "changes"), SETTINGS, ids=lambda one: one.name if isinstance(one, Setting) else "")
def test_what_is_determined_is_what_really_comes_of_it(debates, recorded, rows, setting, changes):
    determined = {one: row for one, row in rows[setting.name].items() if row.status is RescoreStatus.DETERMINED}
    really = KeptStore()
    run = Run(really, debates=debates, case=a_varied_case, **_merged(changes))
    run.cases = {one: case for one, case in run.cases.items() if one in determined}
    asyncio.run(run.execute(script=FAULTS))

    assert determined
    for record in recorded.histories(tuple(determined)):
        row, event = determined[record.debate_id], _events(really, record.debate_id)
        end = event[-1]
        expected = (end["final_verdict"], end["final_score"], end["total_rounds"], end["end_reason"])
        assert expected == (row.new_verdict, row.new_score, row.new_total_rounds, row.new_end_reason)
        replayed = replay_under(record, setting.apply(record.opened.panel), pen := pen_of(record))
        assert event == [with_texts(one, pen.content) for one in replayed.events]


def test_a_good_share_is_determined_and_a_good_share_is_not(debates, rows):
    counts = Counter(row.status for of_setting in rows.values() for row in of_setting.values())

    assert {RescoreStatus.DETERMINED, RescoreStatus.UNDETERMINED} == set(counts)
    assert min(counts.values()) > len(SETTINGS) * debates / 5


def test_what_is_undetermined_names_the_first_step_that_was_not_asked_so(recorded, rows):
    for row in rows["max_rounds=3"].values():
        if row.status is RescoreStatus.UNDETERMINED:
            asked = {event.event_id for event in recorded.read_stream(calls_stream(row.debate_id))}

            assert (row.undetermined_step or "").startswith("round-3/")
            assert not any(one.startswith("round-3/") for one in asked)
            assert f"{row.undetermined_step} was not asked" == row.reason
            assert (row.new_verdict, row.flipped, row.beyond_record) == (None, None, None)


def test_a_setting_that_changes_nothing_gives_the_recorded_result(recorded):
    for row in _rows(recorded, Setting(threshold=1.0, max_rounds=2, method="majority_vote")):
        assert (row.old_verdict, row.old_score, row.old_total_rounds, row.old_end_reason, "") == (
            row.new_verdict, row.new_score, row.new_total_rounds, row.new_end_reason, row.reason,
        )  # fmt: skip


def test_a_final_judge_that_read_more_is_no_judge_of_less():
    store = KeptStore()
    run_varied(store, 12, discussion={"max_rounds": 2, "end_early": False})
    rows = _rows(store, Setting(max_rounds=1), Setting(max_rounds=1, method="median"), Setting(quorum=1))

    shorter = [row for row in rows if row.setting == "max_rounds=1"]
    assert {(RescoreStatus.UNDETERMINED, "final", "final was not asked as this setting asks it")} == {
        (row.status, row.undetermined_step, row.reason) for row in shorter
    }
    assert {RescoreStatus.DETERMINED} == {row.status for row in rows if row.setting != "max_rounds=1"}


def test_a_judge_that_no_debate_had_is_undetermined(recorded):
    (row,) = _rows(recorded, Setting(method="final_judge"), selection=DebateSelection(("d0",)))

    assert (RescoreStatus.UNDETERMINED, "final", "no final judge was asked") == (
        row.status, row.undetermined_step, row.reason,
    )  # fmt: skip


@pytest.mark.parametrize(
    "setting", [Setting(without=("sim-policy",)), Setting(synthetic="leave_out")], ids=["without", "synthetic"]
)
def test_what_no_juror_was_asked_under_is_left_to_a_recount(recorded, setting):
    with pytest.raises(SettingRefused, match=r"only a recount, .* can answer \(--recount\)"):
        next(rescore(recorded, EVERYTHING, Grid((setting,))))


def test_seat_weights_are_exact(recorded):
    heavy = Setting(method="weighted_average", weights=(SeatWeight(juror_id="sim-misuse", weight=1000.0),))

    assert {RescoreStatus.DETERMINED} == {row.status for row in _rows(recorded, heavy)}


@pytest.mark.parametrize("mode", ["strict", "recount"])
async def test_a_branch_is_rescored_with_the_answers_that_it_took_over(mode):
    store = KeptStore()
    run = Run(store, case=a_varied_case, discussion={"max_rounds": 2, "threshold": 2.0, "end_early": False}, **COUNTED)
    await run.execute(script=FAULTS)
    branch = stored(store, a_branch(origin_in(store), "round-1/check", secret=OTHER_SECRET))
    assert (await execute_branch(store, branch, script=FAULTS)).problem is None
    grid = Grid((Setting(quorum=2), Setting(max_rounds=1), Setting(max_rounds=0)))
    (rows,) = rescore(store, DebateSelection((branch.debate_id,)), grid, mode=mode)

    assert isinstance(rows, list)
    assert [(RescoreStatus.DETERMINED, rounds) for rounds in (2, 1, 0)] == [
        (row.status, row.new_total_rounds) for row in rows
    ]
    assert ("", False) == (rows[0].reason, rows[0].flipped)
