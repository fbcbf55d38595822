"""The case of a recorded debate equals its input, with the fields that no juror sees."""

import asyncio
import hashlib
from typing import Any

import pytest

from jury_debate import RULES_OF_PROMPTS_1
from jury_events import Case, Image, PartBuffer, Verdict
from jury_replay import EVERYTHING, ReplayStatus, recorded_case, replay
from jury_store import MemoryEventStore
from support.debate_harness import a_case, a_panel
from support.runtime_harness import Run

KNOWN: dict[str, Any] = {
    "label": Verdict.UNSAFE_FAIL,
    "metadata": {"level": 3, "whole": 3.0, "known": True, "source": "三"},
    "tags": ("b", "a"),
    "cluster": "c",
    "agent_cost": 0.25,
}
PIXELS = b"\x89PNG\r\n\x1a\n"


@pytest.mark.parametrize("seen", [True, False])
def test_a_recorded_case_is_the_one_that_was_opened(seen: bool) -> None:
    image = Image(media_type="image/png", digest=hashlib.sha256(PIXELS).hexdigest(), content=PIXELS)
    case = a_case(**KNOWN, images=(image,))
    panel = a_panel("a", "b", "c")
    panel = panel.changed(seats=tuple(seat.changed(images=seen) for seat in panel.seats))
    pen = PartBuffer(lambda: bytes(16))
    opened = RULES_OF_PROMPTS_1.open_debate(case, panel, debate_id="d", run_id=None, secret=bytes(32), parts=pen)

    found = recorded_case(opened, pen.text)

    # Pictures that no juror is shown are not kept.
    assert (case if seen else case.changed(images=())) == found


def _known_case(case_id: str) -> Case:
    return a_case(case_id, **KNOWN)


def test_a_debate_of_whose_case_something_is_known_replays_equal() -> None:
    store = MemoryEventStore()
    asyncio.run(Run(store, case=_known_case).execute())

    (replayed,) = replay(store, EVERYTHING)

    assert (ReplayStatus.EQUAL, ()) == (replayed.status, replayed.differences)
