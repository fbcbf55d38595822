"""A ladder that carries votes: what later stages are shown, recorded in their openings, done again and elsewhere."""

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from jury_events.debate_events import DebateOpened
from jury_judge import Records, judge_run
from jury_judge.errors import PanelFileError, RunRefused
from jury_judge.settings.selection import Selection
from jury_judge.stores.debates import opening_of, read_debate
from jury_providers.simulated.script import Script
from jury_replay.replay import replay
from jury_replay.selection import DebateSelection
from jury_store.debate_rows import ALL_STAGES
from jury_store.opening import open_store
from support.ladders import Accepts, a_certificate, a_ladder, staged

PASSES: Accepts = {"pass": 1.0}
NOTHING: Accepts = {}


async def _judged(planned: Any) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = []
    await judge_run(planned, lines.append)
    return lines


def _shown(url: str, debate_id: str) -> str:
    """The piece with the earlier votes; "" where there is none."""
    with closing(open_store(url, write=False)) as store:
        history = read_debate(store, debate_id)
        return "".join(
            history.texts[one.text.part].decode() for one in history.opened.pieces if one.name == "carried"
        )


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
    assert "simulated" not in shown, "nobody's model is named"
    with closing(open_store(url, write=False)) as store:
        replayed = [one.status for one in replay(store, DebateSelection(run_id="r"))]
    assert 15 == len(replayed)
    assert {"equal"} == set(replayed)


async def test_what_carries_votes_is_carried_elsewhere_replayed_forked_and_erased(
    cases: Path, url: str, tmp_path: Path
) -> None:
    await _judged(staged(cases, url, a_ladder(tmp_path, PASSES, carry="votes")))
    elsewhere = f"sqlite:///{tmp_path / 'elsewhere.db'}"
    async with Records(url) as records:
        await records.export_cassettes(Selection(everything=True), tmp_path / "out")
    await Records(elsewhere).import_cassettes([tmp_path / "out"])

    assert _shown(url, "r~c1~s2") == _shown(elsewhere, "r~c1~s2") != ""
    with closing(open_store(elsewhere, write=False)) as store:
        assert {"equal"} == {one.status for one in replay(store, DebateSelection(run_id="r"))}
