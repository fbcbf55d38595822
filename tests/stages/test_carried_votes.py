"""A ladder that carries votes: what later stages are shown, recorded in their openings, done again and elsewhere."""

import json
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from jury_events import DebateOpened
from jury_judge import Erasure, PlannedRun, Records, RunRefused, Selection, judge_run, opening_of
from jury_replay import DebateSelection, ForkOrigin, branch_off, intact_history, pen_of, replay, replay_under
from jury_store import ALL_STAGES, open_store
from jury_views import DebateLabels, case_facts
from support.ladders import Accepts, a_ladder, staged

PASSES: Accepts = {"pass": 1.0}
NOTHING: Accepts = {}


async def _judged(planned: PlannedRun, said: list[str] | None = None) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = []
    await judge_run(planned, lines.append, say=(lambda _line: None) if said is None else said.append)
    return lines


def _shown(url: str, debate_id: str) -> str:
    """The piece with the earlier votes; "" where there is none."""
    with closing(open_store(url, write=False)) as store:
        history = intact_history(store, debate_id)
        return "".join(history.texts[one.text.part].decode() for one in history.opened.pieces if one.name == "carried")


def _carried(url: str, debate_id: str) -> list[tuple[str, str]] | None:
    with closing(open_store(url, write=False)) as store:
        opened: DebateOpened = opening_of(store, debate_id)
    return None if opened.carried is None else [(one.debate, one.juror_id) for one in opened.carried]


async def test_each_stage_is_shown_the_votes_of_all_before_and_an_audit_those_that_there_are(
    cases: Path, url: str, tmp_path: Path
) -> None:
    ladder = a_ladder(tmp_path, PASSES, NOTHING, audit=1.0, carry="votes")
    await _judged(staged(cases, url, ladder))

    first = [("r~c1", "a"), ("r~c1", "b")]
    assert None is _carried(url, "r~c1")
    assert first == _carried(url, "r~c1~s2")
    assert [*first, *(("r~c1~s2", one) for one in "abc")] == _carried(url, "r~c1~s3")
    assert [("r~c0", "a"), ("r~c0", "b")] == _carried(url, "r~c0~s3"), "the audit of an early exit"
    shown = _shown(url, "r~c1~s3")
    assert 5 == shown.count("## Earlier juror ")
    with closing(open_store(url, write=False)) as store:
        facts = dict(case_facts(opening_of(store, "r~c1~s2"), DebateLabels("en")))
    assert "the jurors were shown those of a (r~c1), b (r~c1)" == facts["Earlier votes"]
    assert "simulated" not in shown, "nobody's model is named"
    with closing(open_store(url, write=False)) as store:
        replayed = [one.status for one in replay(store, DebateSelection(run_id="r"))]
    assert 15 == len(replayed)
    assert {"equal"} == set(replayed)


async def test_a_debate_that_was_shown_votes_is_done_again_from_its_own_record(
    cases: Path, url: str, tmp_path: Path
) -> None:
    await _judged(staged(cases, url, a_ladder(tmp_path, PASSES, carry="votes")))
    elsewhere = f"sqlite:///{tmp_path / 'elsewhere.db'}"
    async with Records(url) as records:
        await records.export_cassettes(Selection(debate_ids=("r~c1~s2",)), tmp_path / "out")
    await Records(elsewhere).import_cassettes([tmp_path / "out"])

    assert "" != _shown(url, "r~c1~s2") == _shown(elsewhere, "r~c1~s2")
    with closing(open_store(elsewhere, write=False)) as store:
        assert ["equal"] == [one.status for one in replay(store, DebateSelection(run_id="r"))]
        history = intact_history(store, "r~c1~s2")
    assert replay_under(history, history.opened.panel, pen_of(history)).missing is None
    origin = ForkOrigin(history)
    branch = branch_off(
        origin, 1, origin.panel(), debate_id="b", secret=bytes(32), draw_salt=lambda: bytes(16), recorded_at=0
    )
    opened = json.loads(branch.opening[0].body)
    assert [("r~c1", "a"), ("r~c1", "b")] == [(one["debate"], one["juror_id"]) for one in opened["carried"]]
    assert "carried" in {one["name"] for one in opened["pieces"]}


async def test_words_that_were_erased_before_the_next_stage_are_not_shown_and_later_copies_stay(
    cases: Path, url: str, tmp_path: Path
) -> None:
    ladder = a_ladder(tmp_path, PASSES, carry="votes")
    await _judged(staged(cases, url, ladder, max_calls=12))
    by = {"by": "ann", "reason": "asked for"}
    await Records(url).erase(Erasure(debate_id="r~c1", **by))
    await _judged(staged(cases, url, ladder))
    erasure = await Records(url).erase(Erasure(debate_id="r~c3", **by))
    assert erasure is not None
    assert ("r~c3~s2",) == erasure.copies

    erased, kept = _shown(url, "r~c1~s2"), _shown(url, "r~c3~s2")
    assert (2, 0) == tuple(one.count("(There are no reasons to this vote.)") for one in (erased, kept))
    assert (2, 2) == tuple(one.count("## Earlier juror ") for one in (erased, kept))
    with closing(open_store(url, write=False)) as store:
        found = {one.debate_id: one.status for one in replay(store, DebateSelection(run_id="r"))}
    assert {"r~c1", "r~c3"} == {name for name, status in found.items() if status != "equal"}


async def test_a_ladder_without_a_certificate_takes_every_case_through_every_stage(
    cases: Path, url: str, tmp_path: Path
) -> None:
    said: list[str] = []
    ladder = a_ladder(tmp_path, NOTHING, certified=False, carry="votes")
    lines = await _judged(staged(cases, url, ladder), said)
    again = await _judged(staged(cases, url, ladder))

    assert [f"r~c{n}~s2" for n in range(6)] == [line["debate_id"] for line in lines]
    assert lines == again
    assert "the ladder has no certificate: every case goes through every stage, to be calibrated on" in said
    with closing(open_store(url, write=False)) as store:
        places = [row.aside for row in store.list_debates(ALL_STAGES)]
        stage = opening_of(store, "r~c0~s2").stage
    assert {"escalated": 6, None: 6} == dict(Counter(places))
    assert stage is not None
    assert stage.every_case
    with pytest.raises(RunRefused, match="was begun with the ladder"):
        await _judged(staged(cases, url, a_ladder(tmp_path, NOTHING, certified=False)))
