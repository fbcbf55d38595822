"""Places in a ladder, changed with all hashes computed anew: verification compares them with the debates they name."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from jury_events import EventError
from jury_judge import judge_run
from jury_replay import verify
from jury_store import MemoryEventStore, open_store
from support.ladders import a_ladder, staged
from support.rechained import Log, Place, at, leaves, put, rechained, whole_log

OTHERS: dict[str, list[Any]] = {
    "ladder": ["d" * 64],
    "number": [1, 2, 3],
    "of": [3, 4],
    "before": [None, "r~c0", "r~c1", "r~c2", "r~c2~s2"],
    "audit": [True, False],
}


async def judged(cases: Path, url: str, folder: Path) -> Log:
    """Six cases of which the first stage accepts three, all of them audited."""
    await judge_run(staged(cases, url, a_ladder(folder, {"pass": 1.0}, audit=1.0)), lambda _line: None)
    with closing(open_store(url, write=False)) as store:
        return whole_log(store)


@pytest.mark.full
async def test_a_changed_place_is_named(cases: Path, url: str, tmp_path: Path) -> None:
    log = await judged(cases, url, tmp_path)
    same = verify(rechained(log, MemoryEventStore()), deep=True)
    changes, unnoticed = 0, []
    openings = [one for one in log.events if one.type == "debate_opened" and one.stream.partition("~c")[2][:1] in "012"]
    for stored in openings:
        body = json.loads(stored.body)
        places: list[Place] = [("stage", *one) for one in leaves(body["stage"])]
        for place in places:
            value = at(body, place)
            for to in OTHERS.get(str(place[-1]), []):
                if to == value:
                    continue
                try:
                    store = rechained(log, MemoryEventStore(), stored.stream, stored.event_id, put(place, to))
                except EventError:
                    continue  # the field cannot have this value
                changes += 1
                # What the first stage accepted is known from its own events.
                if not verify(store, deep=True).failures:
                    unnoticed.append((stored.stream, place, to))

    assert () == same.failures
    assert changes > 40
    assert [] == unnoticed


async def test_a_ladder_without_its_debates_before_is_named_unless_it_was_imported(
    cases: Path, url: str, tmp_path: Path
) -> None:
    log = await judged(cases, url, tmp_path)
    alone = log._replace(events=[one for one in log.events if one.stream.endswith("/r~c1~s2")])
    found = verify(rechained(alone, MemoryEventStore()), deep=True).failures

    assert ["the debate before, r~c1, is not stored"] == [one.what for one in found]
