"""The front door of Python with its actors on Ray: the same calls, the same promises."""

import asyncio

import pytest

from jury_judge import Jury, RuntimeSettings
from jury_replay import verify


@pytest.mark.ray
async def test_cases_are_judged_with_callbacks_cancelled_and_resumed_on_ray(sqlite_url: str, ray_cluster: None) -> None:
    events: list[str] = []
    row = {"question": "Refund order 17.", "response": "Refunded."}
    async with Jury("independent", store=sqlite_url, runtime=RuntimeSettings(ray=True), environ={}) as jury:
        one, other = await asyncio.gather(
            jury.evaluate(row, on_event=lambda event: events.append(event["type"])), jury.evaluate(row, run_id="r")
        )
        left = asyncio.create_task(jury.evaluate(row, debate_id="left"))
        await anext(jury.events("left"))
        left.cancel()
        await asyncio.gather(left, return_exceptions=True)
        again = await jury.evaluate(row, debate_id="left")

        assert verify(jury.store).ok
    assert ["completed"] * 3 == [one.status, other.status, again.status]
    assert "evaluation_completed" == events[-1]
